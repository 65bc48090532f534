"""Folders of stores that fsspec reaches: s3://, gs://, ftp://, memory:// and others.

Some have no folders, only names of files with slashes, and none has all that a file system promises. So nothing here
needs a rename of folders or a lock.
"""

# ruff: noqa: D102 (the protocols describe the methods)
from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO, Self, cast

import numpy as np
from numpy.typing import NDArray

from pyps.errors import CheckpointError

BLOCK = 16 << 20  # bytes of a request


class RemoteFolder:
    """A folder of a file system of fsspec, used by one thread at a time.

    Parameters
    ----------
    url : str
        Without a slash at the end.
    system : fsspec.AbstractFileSystem
    inside : str
        The folder's path in that file system.
    """

    pause = 0.5

    def __init__(self, url: str, system: Any, inside: str) -> None:
        self.path, self._system, self._inside = url, system, inside

    @classmethod
    def open(cls, url: str) -> Self:
        """Connect to the store of a URL; CheckpointError if no installed package reaches it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise CheckpointError(f"{url} needs fsspec: pip install 'moontide[remote]'") from None
        try:
            system, inside = url_to_fs(url.rstrip("/"))
        except (ImportError, ValueError) as error:
            raise CheckpointError(f"{url} cannot be reached: {error}") from None
        return cls(url.rstrip("/"), system, inside.rstrip("/"))

    def __str__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> RemoteFolder:
        return RemoteFolder(self.path.rpartition("/")[0], self._system, self._inside.rpartition("/")[0])

    def folder(self, name: str) -> RemoteFolder:
        return RemoteFolder(f"{self.path}/{name}", self._system, f"{self._inside}/{name}")

    def make(self) -> None:
        try:
            self._ask("makedirs", "", exist_ok=True)
        except OSError:  # another node has made it meanwhile
            self._system.invalidate_cache()
            if not self._ask("isdir", ""):
                raise

    def names(self) -> set[str]:
        self._system.invalidate_cache()
        with suppress(FileNotFoundError, NotADirectoryError):
            found = self._ask("ls", "", detail=False)
            return {path.rstrip("/").rpartition("/")[2] for path in found} - {""}
        return set()

    def size(self, name: str) -> int:
        self._system.invalidate_cache()
        return int(self._ask("size", name))

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        self._system.invalidate_cache()
        return bytes(self._ask("cat_file", name, begin or None, end))

    def pieces(self, name: str) -> Iterator[memoryview]:
        for begin in range(0, self.size(name), BLOCK):
            yield memoryview(self.read(name, begin, begin + BLOCK))

    def array(self, name: str, dtype: Any, begin: int, count: int) -> NDArray[Any]:
        content = self.read(name, begin, begin + count * np.dtype(dtype).itemsize)
        return np.frombuffer(bytearray(content), dtype)

    def write(self, name: str, content: bytes) -> None:
        self._ask("pipe_file", f".{name}", content)
        self._ask("mv", f".{name}", f"{self._inside}/{name}")

    def create(self, name: str) -> BinaryIO:
        return cast(BinaryIO, self._ask("open", name, "wb", block_size=BLOCK))

    def sync(self, name: str = "") -> None:
        """Do nothing: a file is there when it has been closed."""

    def remove(self, name: str) -> None:
        if name in self.names():
            self._ask("rm_file", name)

    def clear(self) -> None:
        with suppress(OSError):
            self._ask("rm", "", recursive=True)

    def _ask(self, method: str, name: str, *arguments: object, **options: object) -> Any:
        """Call a method of fsspec; all that goes wrong is an OSError, as for local files."""
        path = f"{self._inside}/{name}" if name else self._inside
        try:
            return getattr(self._system, method)(path, *arguments, **options)
        except OSError:
            raise
        except Exception as error:
            raise OSError(f"{self.path}/{name}: {type(error).__name__}: {error}") from error
