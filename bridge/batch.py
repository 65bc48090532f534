"""A file's model as a function of batches that can be sent to other processes.

For engines that move functions between processes, such as Spark, Ray and Dask. A `BatchModel` is a few strings, so it
can be pickled. A process that calls it loads the model once and keeps it.
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

KEPT = 8  # models that one process keeps loaded, enough for a few jobs


class BatchError(RuntimeError):
    """A model could not be loaded, or failed on a batch; the message names the file, the function and the input."""


@dataclass(frozen=True)
class BatchModel:
    """A file's model as a function of batches.

    Parameters
    ----------
    file : str
        A .t7, .lua, .pt2 or .onnx file, as for `bridge.models.load`; errors name it.
    function, key : str, optional
        The function or method, and the place in the file's tables.
    fetch : callable, optional
        Returns the file's path in the process that calls the model; by default the path is `file` in all processes.

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
            An array for each input, with the rows along the first dimension. Texts are a list, or an array of objects.

        Returns
        -------
        array, list, tuple or dict
            The model's result; its arrays are copies, which no later call changes.
        """
        loaded = self.load()
        given = [one.tolist() if _holds_objects(one) else one for one in inputs]
        try:
            called = loaded.chosen()
            # a network takes several inputs as one table
            together = len(given) > 1 and loaded.platform == "torch7" and self.function is None
            return called(given) if together else called(*given)
        except Exception as error:
            shapes = ", ".join(f"{one.dtype}{list(one.shape)}" for one in map(np.asarray, inputs))
            raise BatchError(f"{self} failed on a batch of {shapes}: {error}") from error

    def load(self) -> models.Model:
        """Return the model, which this process loads the first time."""
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
    """Whether these are texts, as pandas and pyarrow pass them."""
    return isinstance(values, np.ndarray) and values.dtype.kind in "OU"


# The models that this process has loaded. Engines unpickle a new BatchModel for every task, so the models are kept here
# and not in an object. The process id is part of the key because a forked child must make Lua states of its own. A
# model that is dropped from the cache is closed when its last user ends.
_loading = threading.Lock()  # two threads that need one model load it once


@lru_cache(maxsize=KEPT)
def _loaded(
    _process: int, path: Path, _stamp: tuple[int, int], function: str | None, key: str | None
) -> models.Model:
    """Load a model into a state of its own, whose `require` also looks in the file's directory.

    Threads of the process wait for the state without a limit. SIGPROF is left to the engine.
    """
    lua = Lua(copy=True, busy_timeout=threading.TIMEOUT_MAX, interruptible=False, path=[path.parent])
    try:
        model = models.load(lua, path, function=function, key=key)
        model.chosen()
    except BaseException:
        lua.close()
        raise
    return model
