"""Writing a checkpoint while training runs. docs/design.md says what is in it, and why."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from pyps._core import Node
from pyps.checkpoint import shards
from pyps.checkpoint.agreement import left_of, left_of_range, pack, require_time, unpack
from pyps.checkpoint.base import base_for, open_base, shards_below
from pyps.checkpoint.checks import Known, checks_of
from pyps.checkpoint.drafts import drafts_of, prune
from pyps.checkpoint.folders import Folder, open_folder
from pyps.checkpoint.manifest import Manifest, Shard, Table, shards_as_json, shards_from_json
from pyps.checkpoint.meeting import Meeting
from pyps.checkpoint.places import MANIFEST
from pyps.checkpoint.rows import Keys, Rows, row_type, sizes
from pyps.checkpoint.writing import SHARD_BYTES, ShardWriter
from pyps.errors import CheckpointError

# What is added to the niceness of threads in the background, so that training goes first.
NICENESS = 10
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class Options(TypedDict, total=False):
    """What `save` can be told."""

    keep: int | None
    full_every: int
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
    full_every: int = 1,
    background: bool = False,
    timeout: float = 300.0,
) -> object:
    """Write a checkpoint while training goes on: ``DIRECTORY/checkpoint-00000001``, then 2 and so on.

    One process of each node calls it, with a directory that all of them see. In the checkpoint is every push that had
    been acknowledged on any node before the last of these calls began, and none that began after the first of them
    has returned. Each value is whole, with what the optimizer keeps for it. Only its callers wait for it. If it fails
    or its processes are killed, earlier checkpoints stay as they were.

    Parameters
    ----------
    directory : path
        Made if it is not there. Also a URL of a store that fsspec reaches, such as ``s3://bucket/run``.
    node : Node
        Of this process, or attached to.
    keep : int, optional
        Remove all but the newest ones afterwards, and those that they are built upon. Node 0's counts.
    full_every : int
        Of so many checkpoints one has all rows; the others have those that have changed since the newest one in the
        directory, which they are built upon. That must be of the same kind of server, saved with this number above 1,
        too; otherwise all rows are written. It costs 8 bytes more for each row. Node 0's counts.
    background : bool
        Return at once; it is written by threads of lower priority, so that training is slowed less.
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
    if full_every < 1:
        raise ValueError(f"full_every is {full_every}; it must be at least 1")
    work = partial(_save, directory, node, keep, full_every, timeout)
    if not background:
        return work()
    pool = ThreadPoolExecutor(
        1, "checkpoint", os.nice, (NICENESS,)
    )  # a thread hands it on to those that it starts
    try:
        return pool.submit(work)
    finally:
        pool.shutdown(wait=False)


def _save(path: str | Path, node: Node, keep: int | None, full_every: int, timeout: float) -> Path | str:
    directory = open_folder(path)
    directory.make()
    if node.rank != 0:
        return _take_part(directory, node, "", keep, full_every, timeout)
    with drafts_of(directory).working() as name:
        return _take_part(directory, node, name, keep, full_every, timeout)


def _take_part(
    directory: Folder, node: Node, name: str, keep: int | None, full_every: int, timeout: float
) -> Path | str:
    with (
        Rows(node) as rows,
        Meeting(
            directory, node.rank, node.num_nodes, name, timeout, lambda: rows.wait_sync(timeout)
        ) as meeting,
    ):
        plan = _plan(directory, node, name, full_every) if node.rank == 0 else {}
        plan = json.loads(meeting.gather(json.dumps(plan).encode())[0])  # all have called
        rows.wait_sync(timeout)  # what was pushed to replicas here becomes part of the owners' values
        place = directory.folder(plan["place"])
        base, known = open_base(directory, plan["base"])
        if not all(meeting.gather(b"known" if known else b"")):
            base = known = None
        with ShardWriter(place, node.rank, node.dtype.name) as writer:
            found = _write_rounds(writer, node, rows, meeting, plan["has_checks"], known)
            if found is None:
                base = None
                writer.discard()
                found = _write_rounds(writer, node, rows, meeting, plan["has_checks"], None) or _Found(
                    0, False
                )
        every = [shards_from_json(said) for said in meeting.gather(shards_as_json(writer.written))]
        saved = ""
        if node.rank == 0:
            if base and MANIFEST not in base.folder.names():
                raise CheckpointError(f"{base.path}, which the new one is built upon, was removed meanwhile")
            written = itertools.chain.from_iterable(every)
            table = _table(node, found, [*(shards_below(base) if base else ()), *written], plan["has_checks"])
            when = datetime.now(UTC).isoformat(timespec="seconds")
            manifest = Manifest((table,), 0, when, node.num_nodes, base.manifest.earlier + 1 if base else 0)
            saved = drafts_of(directory).complete(name, place, manifest).name
            if keep is not None:
                prune(directory, keep)
        return directory.folder(meeting.gather(saved.encode())[0].decode()).path


def _plan(directory: Folder, node: Node, name: str, full_every: int) -> dict[str, Any]:
    """Return what all nodes have to know: where to write, and the name of the checkpoint that this is built upon."""
    base = base_for(directory, node, full_every)
    return {"base": base, "place": drafts_of(directory).begin(name).name, "has_checks": full_every > 1}


class _Found(NamedTuple):
    """How many keys there are; whether some may have several rows of a round: see `manifest.Table`."""

    keys: int
    has_repeats: bool


def _write_rounds(
    writer: ShardWriter, node: Node, rows: Rows, meeting: Meeting, has_checks: bool, known: Known | None
) -> _Found | None:
    """Write the rows of this node, or those that have changed; return what all nodes have found.

    None, for all nodes, if a key is known that is not there: it was deleted, or the checkpoint is of another server.
    """
    room = np.empty(SHARD_BYTES, np.uint8)  # each shard in turn: new memory takes longer than copying
    left: Keys | None = None  # all keys
    saved = np.empty(0, np.int64)  # by any node, where keys may be any numbers
    has_repeats = False
    end = time.monotonic() + meeting.timeout
    for round_ in itertools.count(1):
        done = [np.empty(0, np.int64)]
        for keys in batches(node, rows.keys() if left is None else [left]):
            groups = _read(node, rows, keys, room, has_checks)
            done += [group.keys for group in groups]
            if known and left is None:
                writer.collect(_changed(groups, known), round_)
            else:
                writer.write(groups, round_)
        writer.write_collected(round_)
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
            saved = np.union1d(saved, np.concatenate(every))
            there = _still_there(left, node, rows, meeting)
            has_repeats |= bool(np.isin(np.setdiff1d(left, there), saved).any())
            left = there
            if known and known.has_others(np.union1d(saved, left)):
                return None
        if len(left) == 0:
            break
        require_time(left, end)
    return _Found(node.num_keys or len(saved), has_repeats)


def _still_there(keys: Keys, node: Node, rows: Rows, meeting: Meeting) -> Keys:
    """Return the keys, the same on all nodes, that were not deleted meanwhile, as the first node finds them."""
    if len(keys) == 0:
        return keys
    there = keys[rows.contains(keys)] if node.rank == 0 else keys[:0]
    return unpack(meeting.gather(pack(there, None))[0], None)


def _changed(groups: Iterable[shards.Group], known: Known) -> list[shards.Group]:
    """Return copies of the rows that are not as they are known."""
    found = []
    for group in groups:
        is_changed = known.are_changed(group.keys, np.asarray(group.checks))
        if is_changed.any():
            found.append(group.only(is_changed))
    return found


def batches(node: Node, found: Iterable[Keys]) -> Iterator[Keys]:
    """Divide keys into batches whose rows have about `SHARD_BYTES`."""
    for keys in found:
        _, nbytes = sizes(node, keys)
        shard = (np.cumsum(nbytes) - 1) // SHARD_BYTES
        yield from (part for part in np.split(keys, np.flatnonzero(np.diff(shard)) + 1) if len(part))


def _read(node: Node, rows: Rows, keys: Keys, room: Bytes, has_checks: bool) -> list[shards.Group]:
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
            checks = checks_of(found) if has_checks else None
            groups.append(shards.Group(int(length), keys[first:last][is_here], fields, checks))
        first, begin = last, end
    return groups


def _table(node: Node, found: _Found, every: Iterable[Shard], has_checks: bool) -> Table:
    files = sorted(every, key=lambda shard: (shard.age, shard.file))
    lengths = {length for shard in files for length in shard.lengths}
    return Table(
        name="",
        num_keys=node.num_keys,
        dtype=node.dtype.name,
        value_lengths=tuple(sorted(lengths | ({node.value_length} if node.value_length else set()))),
        optimizer=node.optimizer_text(),
        keys=found.keys,
        shards=tuple(files),
        has_checks=has_checks,
        has_repeats=found.has_repeats,
    )
