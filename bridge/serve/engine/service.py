"""The service that all protocols call: inference on tensors, calls of functions, and the state of models."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

from prometheus_client import CollectorRegistry

from bridge.serve.engine import tensors
from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.repository import Repository
from bridge.serve.engine.served import Served
from bridge.serve.engine.settings import ModelSettings
from bridge.serve.engine.sources import Source, repository
from bridge.serve.engine.statistics import Collected, exposition

logger = logging.getLogger(__name__)


def patience(timeout: object) -> float | None:
    """Return a request's parameter `timeout` in seconds. In Triton's form it is microseconds; 0 is no limit (None).

    Raises
    ------
    Refused
        It is not a number of microseconds.
    """
    if timeout is None:
        return None
    if type(timeout) is not int or timeout < 0:
        raise Refused(
            Reason.INVALID, f"parameter 'timeout' is {timeout!r}: expected microseconds, 0 or above"
        )
    return timeout / 1e6 or None


class Service:
    """A set of models that are served.

    Parameters
    ----------
    paths : iterable of path
        Files, directories of numbered versions, and directories of both; see `bridge.serve.engine.sources`.
    settings : ModelSettings, optional
        How the models are served.
    name : str, optional
        The model's name, if there is only one model.
    watch : float
        Seconds between checks whether files have changed; 0: no checks.

    Examples
    --------
    >>> async def main():
    ...     async with Service(["model.t7"], ModelSettings(workers=2)) as service:
    ...         return await service.infer("model", {"input": np.zeros((5, 4))})
    >>> version, outputs = asyncio.run(main())
    >>> version, outputs["output"].shape
    ('1', (5, 3))
    """

    def __init__(
        self,
        paths: Iterable[str | PathLike[str]],
        settings: ModelSettings | None = None,
        *,
        name: str | None = None,
        watch: float = 1.0,
    ) -> None:
        found = repository(Path(path) for path in paths)
        if name is not None:
            if len(found) != 1:
                raise ValueError(f"name={name!r} is for one model; there are {', '.join(found) or 'none'}")
            found = {name: Source(name, next(iter(found.values())).path)}
        if not found:
            raise ValueError("there is no model to serve")
        self.repository = Repository(found, settings or ModelSettings())
        self._watch = watch
        self._watching: asyncio.Task[None] | None = None
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(Collected(self._observed))
        self.leaving = False

    @property
    def ready(self) -> bool:
        """Whether all models are loaded and requests are accepted."""
        return not self.leaving and self.repository.ready

    async def start(self) -> None:
        """Load all models.

        Raises
        ------
        ValueError
            A model cannot be loaded; the message says why.
        """
        await self.repository.start()
        if self._watch:
            self._watching = asyncio.get_running_loop().create_task(self._look())

    async def stop(self, grace: float = 30.0) -> None:
        """Answer the present requests, for at most `grace` seconds, then end all processes."""
        self.leaving = True
        if self._watching is not None and not self._watching.done():
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
        try:
            async with asyncio.timeout(grace):
                await self.repository.leave()
        except TimeoutError:
            logger.warning("requests were still at work after %g s: their processes are ended", grace)
        finally:
            self.repository.end()

    async def __aenter__(self) -> Service:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def infer(
        self,
        model: str,
        inputs: Mapping[str, tensors.Tensor],
        version: str | None = None,
        timeout: float | None = None,
    ) -> tuple[str, dict[str, tensors.Tensor]]:
        """Compute a model's outputs. Returns the version that computed them, and the outputs by name.

        Parameters
        ----------
        model, version : str
            The model, and its version; by default the latest.
        inputs : mapping of str to array or list
            Tensors by name: arrays, or texts in nested lists.
        timeout : float, optional
            Seconds to wait, if less than the settings' timeout.

        Raises
        ------
        Refused
            There is no answer, for the reason given.
        """
        self._admit()
        served = self.repository.find(model, version)
        given = tensors.arguments(model, served.description, inputs)
        result = await served.submit(None, given, timeout)
        return served.version, tensors.outputs(result, served.description.outputs)

    async def call(
        self, function: str, arguments: Sequence[Any], model: str | None = None, version: str | None = None
    ) -> Any:
        """Call a function and return its result. Values are those of `ModelProcess.call`.

        Raises
        ------
        Refused
            There is no answer, there is no such function, or several models have one.
        """
        return await self.find_function(function, model, version).submit(function, arguments)

    def find_function(self, function: str, model: str | None = None, version: str | None = None) -> Served:
        """Return the model that has a function; with `model`, check that this model has it.

        Raises
        ------
        Refused
            There is none, or several models have one.
        """
        self._admit()
        if model is None:
            return self._with(function)
        served = self.repository.find(model, version)
        if function not in served.description.parameters:
            there = ", ".join(served.description.parameters)
            raise Refused(Reason.UNKNOWN, f"model {model!r} has no function {function!r}; it has {there}")
        return served

    def metrics(self) -> bytes:
        """Return all counters in Prometheus' text format."""
        return exposition(self._registry)

    def _admit(self) -> None:
        if self.leaving:
            raise Refused(Reason.LOST, "the server is ending")

    def _with(self, function: str) -> Served:
        """Return the model that has a function."""
        latest = {served.name: served for served in self.repository}
        found = {name: one for name, one in latest.items() if function in one.description.parameters}
        if len(found) == 1:
            return self.repository.find(next(iter(found)))
        if found:
            ways = ", ".join(f"/call/{name}/{function}" for name in found)
            raise Refused(Reason.AMBIGUOUS, f"several models have a function {function!r}: {ways}")
        there = ", ".join(f"{name}: {', '.join(one.description.parameters)}" for name, one in latest.items())
        raise Refused(Reason.UNKNOWN, f"there is no function {function!r}; there is {there}")

    def _observed(self) -> Iterable[tuple[str, str, Any, int, int]]:
        for one in self.repository:
            yield one.name, one.version, one.statistics, one.waiting, len(one.pids)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self._watch)
            try:
                await self.repository.refresh()
            except Exception:
                logger.exception("looking for changed files failed; next look in %g s", self._watch)
