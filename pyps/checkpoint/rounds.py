"""Writing the rows of a table while keys move: in rounds, until each key was found once. docs/design.md says why."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from pyps._core import Node
from pyps.checkpoint import shards
from pyps.checkpoint.agreement import left_of, left_of_range, pack, require_time, unpack
from pyps.checkpoint.checks import Known, checks_of
from pyps.checkpoint.dropping import TableMeeting
from pyps.checkpoint.rows import Keys, Rows, row_type, sizes
from pyps.checkpoint.writing import SHARD_BYTES, ShardWriter

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class Found(NamedTuple):
    """How many keys there are; whether some may have several rows of a round: see `manifest.Table`."""

    keys: int
    has_repeats: bool


def write_rounds(
    writer: ShardWriter, node: Node, rows: Rows, meeting: TableMeeting, has_checks: bool, known: Known | None
) -> Found | None:
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
            begun = np.concatenate(list(rows.keys(begun=True))) if node.places > 1 else mine
            begun = np.concatenate([unpack(said, None) for said in meeting.gather(pack(begun, None))])
            left = left_of(begun, every)
        if node.num_keys is None:
            saved = np.union1d(saved, np.concatenate(every))
            there = _still_there(left, rows, meeting)
            has_repeats |= bool(np.isin(np.setdiff1d(left, there), saved).any())
            left = there
            if known and known.has_others(np.union1d(saved, left)):
                return None
        if len(left) == 0:
            break
        require_time(left, end)
    return Found(node.num_keys or len(saved), has_repeats)


def _still_there(keys: Keys, rows: Rows, meeting: TableMeeting) -> Keys:
    """Return the keys, the same on all nodes, that were not deleted meanwhile, as the first node finds them."""
    if len(keys) == 0:
        return keys
    there = keys[rows.contains(keys)] if meeting.is_first else keys[:0]
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
