"""All models and their versions: they are loaded, unloaded, and replaced when their files change.

A changed file is loaded while the old version still serves, and replaces it when it is ready. If it cannot be loaded,
the old version continues. The old version answers the requests it has before it ends.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.served import Served
from bridge.serve.engine.settings import ModelSettings
from bridge.serve.engine.sources import Source, stamp

logger = logging.getLogger(__name__)

Stamp = tuple[int, ...] | None


@dataclass
class Entry:
    """A model: the versions that are served, and the error of the last attempt to load one, if it failed."""

    source: Source
    wanted: bool = True  # whether it is to be served
    versions: dict[str, Served] = field(default_factory=dict)
    stamps: dict[str, Stamp] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def latest(self) -> Served | None:
        """The version with the highest number."""
        return self.versions[max(self.versions, key=int)] if self.versions else None


class Repository:
    """Models by name.

    Parameters
    ----------
    sources : mapping of str to Source
        Where each model's files are.
    settings : ModelSettings
        How models are served.
    """

    def __init__(self, sources: Mapping[str, Source], settings: ModelSettings) -> None:
        self.settings = settings
        self._entries = {name: Entry(source) for name, source in sources.items()}
        self._turn = asyncio.Lock()  # one change at a time
        self._loading: Served | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterator[Served]:
        for entry in self._entries.values():
            yield from entry.versions.values()

    @property
    def ready(self) -> bool:
        """Whether every model that is to be served is loaded."""
        return all(entry.versions for entry in self._entries.values() if entry.wanted)

    def find(self, name: str, version: str | None = None) -> Served:
        """Return a version of a model, by default the latest.

        Raises
        ------
        Refused
            There is none.
        """
        entry = self._entry(name)
        found = entry.latest if not version else entry.versions.get(version)
        if found is None:
            there = ", ".join(entry.versions) or "none"
            what = f"version {version}" if version else "versions"
            raise Refused(Reason.UNKNOWN, f"model {name!r} has no {what} that is served; there is {there}")
        return found

    def versions(self, name: str) -> list[str]:
        """Return the versions of a model that are served."""
        return list(self._entry(name).versions)

    def index(self) -> list[dict[str, str]]:
        """Return all models with their states, in the form of Triton's index."""
        rows = []
        for name, entry in self._entries.items():
            states = dict.fromkeys(entry.versions, ("READY", ""))
            for version, why in entry.failures.items():
                state, _ = states.get(version, ("UNAVAILABLE", ""))
                states[version] = (state, why)
            if not states:
                states = {"": ("UNAVAILABLE", "" if entry.wanted else "unloaded")}
            rows += [
                {"name": name, "version": version, "state": state, "reason": why}
                for version, (state, why) in states.items()
            ]
        return rows

    async def start(self) -> None:
        """Load all models.

        Raises
        ------
        Exception
            The error of the first model that could not be loaded; then no process is left.
        """
        async with self._turn:
            for entry in self._entries.values():
                await self._refresh(entry)
                if not entry.versions:
                    why = next(iter(entry.failures.values()), f"{entry.source.path} holds no version")
                    self.end()
                    raise ValueError(f"{entry.source.name} cannot be served: {why}")

    async def load(self, name: str, parameters: Iterable[str] = ()) -> None:
        """Load a model, or load it again, from its present files.

        `parameters` are those of Triton's clients, such as another configuration; none is supported.

        Raises
        ------
        Refused
            The model is unknown or cannot be loaded, or there are parameters. What was served is still served.
        """
        for one in parameters:
            raise Refused(
                Reason.UNSUPPORTED,
                f"a model is loaded from its files as they are: no parameter {one!r} is taken",
            )
        async with self._turn:
            entry = self._entry(name)
            entry.wanted = True
            entry.stamps.clear()
            await self._refresh(entry)
            if entry.failures or not entry.versions:
                why = "; ".join(entry.failures.values()) or f"{entry.source.path} holds no version"
                raise Refused(Reason.FAILED, why)

    async def unload(self, name: str) -> None:
        """Stop serving a model, after it has answered its requests."""
        async with self._turn:
            entry = self._entry(name)
            entry.wanted = False
            for version in list(entry.versions):
                self._drop(entry, version)
            entry.failures.clear()
            entry.stamps.clear()

    async def refresh(self) -> None:
        """Load files that have changed, and replace processes that have ended."""
        async with self._turn:
            for entry in self._entries.values():
                if entry.wanted:
                    await self._refresh(entry)
            for served in self:
                served.revive()

    async def leave(self) -> None:
        """Answer all waiting requests, then end all processes."""
        async with self._turn:
            for entry in self._entries.values():
                for version in list(entry.versions):
                    self._drop(entry, version)
            while self._leaving:
                await asyncio.wait(self._leaving)

    def end(self) -> None:
        """End all processes now."""
        for task in self._leaving:
            task.cancel()
        for served in self:
            served.end()
        if self._loading is not None:  # so that its start fails
            self._loading.end()

    def _entry(self, name: str) -> Entry:
        try:
            return self._entries[name]
        except KeyError:
            there = ", ".join(self._entries)
            raise Refused(Reason.UNKNOWN, f"there is no model {name!r}; there is {there}") from None

    async def _refresh(self, entry: Entry) -> None:
        """Serve the versions whose files exist now."""
        try:
            files = entry.source.versions()
        except OSError as error:
            logger.warning("%s: %s", entry.source.name, error)
            return
        for version in [version for version in entry.versions if version not in files]:
            self._drop(entry, version)
        for version in [version for version in entry.failures if version not in files]:
            del entry.failures[version]
            entry.stamps.pop(version, None)
        for version, file in files.items():
            now = stamp(file)
            if version not in entry.stamps or (now is not None and now != entry.stamps[version]):
                await self._replace(entry, version, file, now)

    async def _replace(self, entry: Entry, version: str, file: Path, now: Stamp) -> None:
        """Load a file, and let it replace the process of this version."""
        fresh = Served(entry.source.name, version, file, self.settings)
        self._loading = fresh
        try:
            await fresh.start()
        except Exception as error:
            entry.stamps[version] = now  # a file that cannot be loaded is tried again when it changes
            entry.failures[version] = str(error) or type(error).__name__
            kept = "the one before is still served" if version in entry.versions else "it is not served"
            logger.error("%s cannot be loaded, %s: %s", fresh, kept, error)
            return
        finally:
            self._loading = None
        entry.failures.pop(version, None)
        old = entry.versions.get(version)
        if old is not None:
            fresh.statistics = old.statistics
            self._drop(entry, version)
        entry.versions[version] = fresh
        entry.stamps[version] = now
        logger.info("%s is served from %s by %d processes", fresh, file, self.settings.workers)

    def _drop(self, entry: Entry, version: str) -> None:
        served = entry.versions.pop(version)
        entry.stamps.pop(version, None)
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(served.leave())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


def described(served: Served, versions: list[str]) -> dict[str, Any]:
    """Return a model's metadata for the Open Inference Protocol, with tensors as specs."""
    told = served.description
    return {
        "name": served.name,
        "versions": versions,
        "platform": f"moontide_{told.platform}",
        "inputs": told.inputs,
        "outputs": told.outputs,
    }
