"""Writing a checkpoint while training runs. docs/design.md says what is in it, and why."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from pyps._core import Node
from pyps.checkpoint import shards
from pyps.checkpoint.agreement import left_of, left_of_range, pack, require_time, unpack
from pyps.checkpoint.drafts import drafts_of, prune
from pyps.checkpoint.folders import Folder, open_folder
from pyps.checkpoint.manifest import Manifest, Shard, Table, shards_as_json, shards_from_json
from pyps.checkpoint.meeting import Meeting
from pyps.checkpoint.rows import Keys, Rows, row_type, sizes

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
SHARD_BYTES = 64 << 20  # of the rows in a shard


class Options(TypedDict, total=False):
    """What `save` can be told."""

    keep: int | None
    timeout: float


@overload
def save(
    directory: Path, node: Node, *, background: Literal[False] = False, **options: Unpack[Options]
) -> Path: ...
@overload
def save(
    directory: str, node: Node, *, background: Literal[False] = False, **options: Unpack[Options]
) -> Path | str: ...
@overload
def save(
    directory: Path, node: Node, *, background: Literal[True], **options: Unpack[Options]
) -> Future[Path]: ...
@overload
def save(
    directory: str, node: Node, *, background: Literal[True], **options: Unpack[Options]
) -> Future[Path | str]: ...
def save(
    directory: str | Path,
    node: Node,
    *,
    keep: int | None = None,
    background: bool = False,
    timeout: float = 300.0,
) -> object:
    """Write a checkpoint while training goes on: ``DIRECTORY/checkpoint-00000001``, then 2 and so on.

    One process of each node calls it, with a directory that all of them see. In the checkpoint is every push that had
    been acknowledged on any node before the last of these calls began, and none that began after the first of them
    has returned. Each value is whole, with what the optimizer keeps for it. Nobody waits for it but its callers. If
    it fails or its processes are killed, earlier checkpoints stay as they were.

    Parameters
    ----------
    directory : path
        Made if it is not there. Also a URL of a store that fsspec reaches, such as ``s3://bucket/run``.
    node : Node
        Of this process, or attached to.
    keep : int, optional
        Remove all but the newest ones afterwards. Node 0's counts.
    background : bool
        Return at once.
    timeout : float
        Seconds to wait for the other nodes in each step.

    Returns
    -------
    Path or str, or concurrent.futures.Future of it
        The checkpoint's directory; its URL as str. ``result()`` of a future waits for it, and raises what went wrong.

    Raises
    ------
    CheckpointError
        Another node has failed; the message says how.
    OSError
        It cannot be written, for example because the disk is full.
    WaitTimeoutError, NodeLost
        Another node did not call it, or was lost.

    Examples
    --------
    >>> import pyps
    >>> with pyps.Server(1000, 10) as server:
    ...     save("checkpoints", server, keep=3).name
    'checkpoint-00000001'
    """
    if keep is not None and keep < 1:
        raise ValueError(f"keep is {keep}; it must be at least 1")
    work = partial(_save, directory, node, keep, timeout)
    if not background:
        return work()
    pool = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
    try:
        return pool.submit(work)
    finally:
        pool.shutdown(wait=False)


def _save(path: str | Path, node: Node, keep: int | None, timeout: float) -> Path | str:
    directory = open_folder(path)
    directory.make()
    if node.rank != 0:
        return _take_part(directory, node, "", keep, timeout)
    with drafts_of(directory).working() as name:
        return _take_part(directory, node, name, keep, timeout)


def _take_part(directory: Folder, node: Node, name: str, keep: int | None, timeout: float) -> Path | str:
    with (
        Rows(node) as rows,
        Meeting(
            directory, node.rank, node.num_nodes, name, timeout, lambda: rows.wait_sync(timeout)
        ) as meeting,
    ):
        begun = drafts_of(directory).begin(name).name if node.rank == 0 else ""
        place = directory.folder(meeting.gather(begun.encode())[0].decode())  # all have called
        rows.wait_sync(timeout)  # what was pushed to replicas here becomes part of the owners' values
        meeting.gather()
        written, keys = _write_rows(place, node, rows, meeting)
        every = [shards_from_json(said) for said in meeting.gather(shards_as_json(written))]
        saved = ""
        if node.rank == 0:
            table = _table(node, keys, itertools.chain.from_iterable(every))
            when = datetime.now(UTC).isoformat(timespec="seconds")
            manifest = Manifest((table,), 0, when, node.num_nodes)
            saved = drafts_of(directory).complete(name, place, manifest).name
            if keep is not None:
                prune(directory, keep)
        return directory.folder(meeting.gather(saved.encode())[0].decode()).path


def _write_rows(place: Folder, node: Node, rows: Rows, meeting: Meeting) -> tuple[list[Shard], int]:
    """Write the rows of this node; return its shards, and how many keys all nodes have written."""
    with ThreadPoolExecutor(1, thread_name_prefix="checkpoint") as flusher:  # while the next shard is read
        flushed: list[Future[None]] = []
        written, keys = _write_rounds(
            place, node, rows, meeting, lambda file: flushed.append(flusher.submit(place.sync, file))
        )
        for one in flushed:
            one.result()
    return written, keys


def _write_rounds(
    place: Folder, node: Node, rows: Rows, meeting: Meeting, flush: Callable[[str], object]
) -> tuple[list[Shard], int]:
    written: list[Shard] = []
    room = np.empty(SHARD_BYTES, np.uint8)  # each shard in turn: new memory takes longer than copying
    left: Keys | None = None  # all keys
    end = time.monotonic() + meeting.timeout
    for round_ in itertools.count(1):
        done = [np.empty(0, np.int64)]
        for keys in batches(node, rows.keys() if left is None else [left]):
            groups = _read(node, rows, keys, room)
            done += [group.keys for group in groups]
            if groups:
                file = f"node-{node.rank}-{len(written):05}.safetensors"
                written.append(shards.write(place, file, node.dtype.name, groups, round_))
                flush(file)
        mine = np.concatenate(done)
        every = [unpack(said, node.num_keys) for said in meeting.gather(pack(mine, node.num_keys))]
        if left is not None:
            left = left_of(left, every)
        elif node.num_keys is not None:
            left = left_of_range(node.num_keys, every)
            total = node.num_keys
        else:
            begun = np.concatenate(list(rows.keys(begun=True))) if node.num_nodes > 1 else mine
            begun = np.concatenate([unpack(said, None) for said in meeting.gather(pack(begun, None))])
            left = left_of(begun, every)
            total = len(np.union1d(np.concatenate(every), left))
        if len(left) == 0:
            break
        require_time(left, end)
    return written, total


def batches(node: Node, found: Iterable[Keys]) -> Iterator[Keys]:
    """Divide keys into batches whose rows have about `SHARD_BYTES`."""
    for keys in found:
        _, nbytes = sizes(node, keys)
        shard = (np.cumsum(nbytes) - 1) // SHARD_BYTES
        yield from (part for part in np.split(keys, np.flatnonzero(np.diff(shard)) + 1) if len(part))


def _read(node: Node, rows: Rows, keys: Keys, room: Bytes) -> list[shards.Group]:
    """Read the rows of the keys that live here, by the lengths of their values; into `room`, if they fit."""
    lengths, nbytes = sizes(node, keys)
    if len(keys) and lengths.min() != lengths.max():
        order = np.argsort(lengths, kind="stable")
        keys, lengths, nbytes = keys[order], lengths[order], nbytes[order]
    total = int(nbytes.sum())
    buffer = room[:total] if total <= len(room) else np.empty(total, np.uint8)
    here = np.frombuffer(rows.read_rows(keys, buffer), np.bool_)
    groups, first, begin = [], 0, 0
    for length, count in zip(*np.unique(lengths, return_counts=True), strict=True):
        kind = row_type(int(length), node.dtype, node.optimizer_text())
        end, last = begin + int(count) * kind.itemsize, first + int(count)
        found, is_here = buffer[begin:end].view(kind), here[first:last]
        found = found if is_here.all() else found[is_here]
        if len(found):
            fields = {name: found[name] for name in kind.names or ()}
            groups.append(shards.Group(int(length), keys[first:last][is_here], fields))
        first, begin = last, end
    return groups


def _table(node: Node, keys: int, every: Iterable[Shard]) -> Table:
    files = sorted(every, key=lambda shard: (shard.round, shard.file))
    lengths = {length for shard in files for length in shard.lengths}
    return Table(
        name="",
        num_keys=node.num_keys,
        dtype=node.dtype.name,
        value_lengths=tuple(sorted(lengths | ({node.value_length} if node.value_length else set()))),
        optimizer=node.optimizer_text(),
        keys=keys,
        shards=tuple(files),
    )
