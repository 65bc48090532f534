"""Writing a checkpoint while training runs. docs/design.md says what is in it, and why."""

from __future__ import annotations

import errno
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np

from pyps._core import Node
from pyps.checkpoint import places, shards
from pyps.checkpoint.agreement import left_of, left_of_range, pack, require_time, unpack
from pyps.checkpoint.manifest import Manifest, Shard, Table, shards_as_json, shards_from_json
from pyps.checkpoint.meeting import Meeting
from pyps.checkpoint.rows import Keys, Rows, row_type, sizes

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
SHARD_BYTES = 64 << 20  # of the rows in a shard


@overload
def save(
    directory: str | Path,
    node: Node,
    *,
    keep: int | None = None,
    background: Literal[False] = False,
    timeout: float = 300.0,
) -> Path: ...
@overload
def save(
    directory: str | Path,
    node: Node,
    *,
    keep: int | None = None,
    background: Literal[True],
    timeout: float = 300.0,
) -> Future[Path]: ...
def save(
    directory: str | Path,
    node: Node,
    *,
    keep: int | None = None,
    background: bool = False,
    timeout: float = 300.0,
) -> Path | Future[Path]:
    """Write a checkpoint while training goes on: ``DIRECTORY/checkpoint-00000001``, then 2 and so on.

    One process of each node calls it, with a directory that all of them see. In the checkpoint is every push that had
    been acknowledged on any node before the last of these calls began, and none that began after the first of them
    has returned. Each value is whole, with what the optimizer keeps for it. Nobody waits for it but its callers. If
    it fails or its processes are killed, earlier checkpoints stay as they were.

    Parameters
    ----------
    directory : path
        Made if it is not there.
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
    Path or concurrent.futures.Future of Path
        The checkpoint's directory. ``result()`` of a future waits for it, and raises what went wrong.

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
    if not background:
        return _save(Path(directory), node, keep, timeout)
    pool = ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
    try:
        return pool.submit(_save, Path(directory), node, keep, timeout)
    finally:
        pool.shutdown(wait=False)


def _save(directory: Path, node: Node, keep: int | None, timeout: float) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    if node.rank != 0:
        return _take_part(directory, node, "", keep, timeout)
    with places.working(directory) as name:
        (directory / f".saving-{name}").mkdir()
        return _take_part(directory, node, name, keep, timeout)


def _take_part(directory: Path, node: Node, name: str, keep: int | None, timeout: float) -> Path:
    with (
        Rows(node) as rows,
        Meeting(
            directory, node.rank, node.num_nodes, name, timeout, lambda: rows.wait_sync(timeout)
        ) as meeting,
    ):
        meeting.gather()  # all have called
        rows.wait_sync(timeout)  # what was pushed to replicas here becomes part of the owners' values
        meeting.gather()
        place = directory / f".saving-{meeting.name}"
        written, keys = _write_rows(place, node, rows, meeting)
        every = [shards_from_json(said) for said in meeting.gather(shards_as_json(written))]
        saved = b""
        if node.rank == 0:
            table = _table(node, keys, itertools.chain.from_iterable(every))
            saved = str(_complete(directory, place, table, node.num_nodes)).encode()
            if keep is not None:
                places.prune(directory, keep)
        return directory / Path(meeting.gather(saved)[0].decode()).name


def _write_rows(place: Path, node: Node, rows: Rows, meeting: Meeting) -> tuple[list[Shard], int]:
    """Write the rows of this node; return its shards, and how many keys all nodes have written."""
    with ThreadPoolExecutor(1, thread_name_prefix="checkpoint") as flusher:  # while the next shard is read
        flushed: list[Future[None]] = []
        written, keys = _write_rounds(
            place, node, rows, meeting, lambda file: flushed.append(flusher.submit(places.sync, place / file))
        )
        for one in flushed:
            one.result()
    return written, keys


def _write_rounds(
    place: Path, node: Node, rows: Rows, meeting: Meeting, flush: Callable[[str], object]
) -> tuple[list[Shard], int]:
    written: list[Shard] = []
    room = np.empty(SHARD_BYTES, np.uint8)  # each shard in turn: new memory takes longer than copying
    left: Keys | None = None  # all keys
    known = np.empty(0, np.int64)  # that were written, where keys may be any numbers
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
        else:
            begun = np.concatenate(list(rows.keys(begun=True))) if node.num_nodes > 1 else mine
            begun = np.concatenate([unpack(said, None) for said in meeting.gather(pack(begun, None))])
            left = left_of(begun, every)
        if node.num_keys is None:
            known = np.union1d(known, np.concatenate(every))
            left = _still_there(left, node, rows, meeting)
        if len(left) == 0:
            break
        require_time(left, end)
    return written, node.num_keys or len(known)


def _still_there(keys: Keys, node: Node, rows: Rows, meeting: Meeting) -> Keys:
    """Return the keys, the same on all nodes, that nobody has deleted meanwhile, as the first node finds them."""
    if len(keys) == 0:
        return keys
    there = keys[rows.contains(keys)] if node.rank == 0 else keys[:0]
    return unpack(meeting.gather(pack(there, None))[0], None)


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


def _complete(directory: Path, place: Path, table: Table, nodes: int) -> Path:
    """Write the manifest, and give the checkpoint its name and so its existence."""
    known = places.numbers(directory)
    while True:
        number = (known[-1] if known else 0) + 1
        saved = datetime.now(UTC).isoformat(timespec="seconds")
        Manifest((table,), number, saved, nodes).write(place)
        places.sync(place)
        final = places.numbered(directory, number)
        try:
            place.rename(final)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            known = places.numbers(directory)  # another one was completed meanwhile
            continue
        places.sync(directory)
        return final
