"""Writing a node's shards: of about 64 MiB, flushed to the disk while the next one is read."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType
from typing import Self

from pyps.checkpoint import shards
from pyps.checkpoint.folders import Folder
from pyps.checkpoint.manifest import Shard
from pyps.checkpoint.shards import Group

SHARD_BYTES = 64 << 20  # of the rows in a shard


class ShardWriter:
    """The shards of a table that a node writes, as a context manager.

    At its end all are flushed. After an error they are gone.

    Parameters
    ----------
    place : Folder
    table : str
        Its name; empty for a server's own keys.
    rank : int
        The node's.
    dtype : str
        Of the values.

    Attributes
    ----------
    written : list of Shard
    """

    def __init__(self, place: Folder, table: str, rank: int, dtype: str) -> None:
        self.written: list[Shard] = []
        self._place, self._dtype = place, dtype
        self._prefix = f"table-{table}-node-{rank}" if table else f"node-{rank}"
        self._flusher = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._flushed: list[Future[None]] = []
        self._waiting: list[Group] = []
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def write(self, groups: Sequence[Group], round_: int) -> None:
        """Write a shard; one group for each length. Nothing, if there is none."""
        if groups:
            file = f"{self._prefix}-{len(self._flushed):05}.safetensors"
            self.written.append(shards.write(self._place, file, self._dtype, groups, round_))
            self._flushed.append(self._flusher.submit(self._place.sync, file))

    def collect(self, groups: Sequence[Group], round_: int) -> None:
        """Keep groups, whose arrays must stay as they are, until there are enough for a shard."""
        self._waiting += groups
        self._bytes += sum(array.nbytes for group in groups for array in group.fields.values())
        if self._bytes >= SHARD_BYTES:
            self.write_collected(round_)

    def write_collected(self, round_: int) -> None:
        """Write what is kept."""
        lengths = sorted({group.length for group in self._waiting})
        self.write(
            [
                shards.joined([group for group in self._waiting if group.length == length])
                for length in lengths
            ],
            round_,
        )
        self._waiting, self._bytes = [], 0

    def discard(self) -> None:
        """Remove all that was written."""
        wait(self._flushed)
        for shard in self.written:
            self._place.remove(shard.file)
        self.written, self._waiting, self._bytes = [], [], 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flusher.shutdown()
        if error is not None:
            with suppress(OSError):  # the whole draft goes then
                self.discard()
            return
        for one in self._flushed:
            one.result()
