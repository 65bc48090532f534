"""A file's model on batches of rows, in whatever process they turn up: the model is sent as a name, not as a state.

For engines that move functions between processes (Spark, Ray, Dask): a `BatchModel` is a few strings, so it pickles;
the process that calls it loads the model once and keeps it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bridge import models
from bridge.lua import Lua

KEPT = 8  # models that one process keeps loaded: the files and functions of a few jobs


class BatchError(RuntimeError):
    """A model could not be loaded, or failed on a batch; the message names the file, the function and the input."""


@dataclass(frozen=True)
class BatchModel:
    """A file's model as a function of batches.

    Parameters
    ----------
    file : str
        A .t7, .lua, .pt2 or .onnx file, as for `bridge.models.load`; its name is what errors say.
    function, key : str, optional
        Which function or method, and where in the file's tables.
    fetch : callable, optional
        Returns the path that the file has in the process that calls; by default it is `file` everywhere.

    Raises
    ------
    BatchError
        From a call: the model could not be loaded, or it raised an error.
    """

    file: str
    function: str | None = None
    key: str | None = None
    fetch: Callable[[], str] | None = None

    def __call__(self, *inputs: Any) -> Any:
        """Call the model.

        Parameters
        ----------
        *inputs : array or list
            One for each input, the rows along the first dimension. Texts are a list, or an array of objects.

        Returns
        -------
        array, list, tuple or dict
            What the model returned; arrays have memory of their own, which no later call fills anew.
        """
        loaded = self.load()
        given = [one.tolist() if _holds_objects(one) else one for one in inputs]
        try:
            called = loaded.chosen()
            # several inputs of a network are one table, whatever its first layers tell
            together = len(given) > 1 and loaded.platform == "torch7" and self.function is None
            return called(given) if together else called(*given)
        except Exception as error:
            shapes = ", ".join(f"{one.dtype}{list(one.shape)}" for one in map(np.asarray, inputs))
            raise BatchError(f"{self} failed on a batch of {shapes}: {error}") from error

    def load(self) -> models.Model:
        """Return the model as this process has it, loaded if this is the first time."""
        try:
            path = Path(self.fetch() if self.fetch else self.file).absolute()
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            with _loading:
                return _loaded(os.getpid(), path, stamp, self.function, self.key)
        except Exception as error:
            raise BatchError(f"{self} cannot be loaded: {error}") from error

    def __str__(self) -> str:
        which = (
            [self.function or "the model", f"at {self.key}"] if self.key else [self.function or "the model"]
        )
        return f"{' '.join(which)} of {self.file}"


def _holds_objects(values: Any) -> bool:
    """Whether these are texts, as pandas and pyarrow hand them over."""
    return isinstance(values, np.ndarray) and values.dtype.kind in "OU"


# What this process has loaded. It is kept by the process and not by an object, since engines unpickle their functions
# anew for each task: only the process outlives them. Its number is in the key because a forked child has threads, and
# so Lua states, of its own. What is dropped ends when its last user does.
_loading = threading.Lock()  # two threads that need one model load it once


@lru_cache(maxsize=KEPT)
def _loaded(
    _process: int, path: Path, _stamp: tuple[int, int], function: str | None, key: str | None
) -> models.Model:
    """Load a model into a state of its own, which finds what the file requires beside it.

    Threads of the process take turns on it for as long as it takes; SIGPROF stays the engine's.
    """
    lua = Lua(copy=True, busy_timeout=threading.TIMEOUT_MAX, interruptible=False, path=[path.parent])
    try:
        model = models.load(lua, path, function=function, key=key)
        model.chosen()
    except BaseException:
        lua.close()
        raise
    return model
