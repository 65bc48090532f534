"""Finding models and their versions in files and directories.

A file is a model with the single version 1; its name is the file's without the suffix. A directory whose entries are
numbers is also a model: each number is a version, a directory with one file. Any other directory contains models of
both forms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bridge.models import ENDINGS


@dataclass(frozen=True)
class Source:
    """A model on disk: its name, and its file or the directory of its versions."""

    name: str
    path: Path

    def versions(self) -> dict[str, Path]:
        """Return the present files by version, the oldest first."""
        if not self.path.is_dir():
            return {"1": self.path}
        numbers = sorted(
            (entry for entry in self.path.iterdir() if is_version(entry)), key=lambda e: int(e.name)
        )
        found = ((number.name, model_files(number)) for number in numbers)
        return {version: files[0] for version, files in found if len(files) == 1}


def is_version(path: Path) -> bool:
    """Whether a path is the directory of a version."""
    return path.name.isdecimal() and path.is_dir()


def model_files(directory: Path) -> list[Path]:
    """Return the files of a directory that are models."""
    return sorted(entry for entry in directory.iterdir() if entry.suffix in ENDINGS and entry.is_file())


def sources(path: Path) -> list[Source]:
    """Return the models at a path.

    Raises
    ------
    FileNotFoundError
        The path does not exist.
    """
    if path.is_file():
        return [Source(path.stem, path)]
    if not path.is_dir():
        raise FileNotFoundError(f"there is no file or directory {path}")
    entries = sorted(path.iterdir())
    if any(is_version(entry) for entry in entries):
        return [Source(path.name, path)]
    directories = (entry for entry in entries if entry.is_dir())
    return [
        *(Source(file.stem, file) for file in model_files(path)),
        *(Source(one.name, one) for one in directories if any(is_version(entry) for entry in one.iterdir())),
    ]


def repository(paths: Iterable[Path]) -> dict[str, Source]:
    """Return the models of several paths by name.

    Raises
    ------
    FileNotFoundError
        A path does not exist.
    ValueError
        Two models have the same name.
    """
    found: dict[str, Source] = {}
    for path in paths:
        for source in sources(path):
            if source.name in found:
                raise ValueError(
                    f"two models are called {source.name}: {found[source.name].path} and {source.path}"
                )
            found[source.name] = source
    return found


def stamp(path: Path) -> tuple[int, ...] | None:
    """Return a value that changes when the file does; None if there is no file."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_ino, told.st_size, told.st_mtime_ns
