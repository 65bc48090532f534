"""Reading a checkpoint into a server of any number of nodes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pyps._core import Node, read_optimizer
from pyps.checkpoint.agreement import pack, require_time, unpack
from pyps.checkpoint.conversion import convert, require_convertible, tensor_of
from pyps.checkpoint.drafts import drafts_of
from pyps.checkpoint.manifest import Shard
from pyps.checkpoint.meeting import Meeting
from pyps.checkpoint.rows import Keys, Rows, row_type, sizes
from pyps.checkpoint.shards import Group
from pyps.checkpoint.state import state_of
from pyps.checkpoint.stored import Stored
from pyps.dtypes import DTYPES, Dtype
from pyps.errors import CheckpointError


def load(
    path: str | Path,
    node: Node,
    *,
    keys: range | None = None,
    values_only: bool = False,
    timeout: float = 300.0,
) -> Path | str:
    """Give a server the values of a checkpoint, what its optimizer kept for them, and the optimizer's settings.

    The server may have another number of nodes and another dtype. One process of each node calls it, while no worker
    pushes. Everything is checked first: if the checkpoint is damaged or does not fit, nothing has changed. No code of
    the checkpoint runs.

    Parameters
    ----------
    path : path
        A checkpoint, or a directory with several, of which it takes the newest; a URL as well. With several nodes all
        of them need to write in the directory that has the checkpoint, where they meet.
    node : Node
        Of this process, or attached to.
    keys : range, optional
        Load only those of them that the checkpoint has; all other keys stay as they are. The server may have another
        number of keys then.
    values_only : bool
        Take the values alone, as `set` does: the optimizer, which may be another one or none, begins anew.
    timeout : float
        Seconds to wait for the other nodes in each step.

    Returns
    -------
    Path or str
        The checkpoint that was loaded; a URL as str.

    Raises
    ------
    CheckpointError
        It is damaged, or has other keys, lengths or another optimizer; or another node has failed.
    MemoryError
        There is no room for its keys (only where keys are any numbers; some may be there then).
    WaitTimeoutError, NodeLost
        Another node did not call it, or was lost.

    Examples
    --------
    >>> import pyps
    >>> with pyps.Server(1000, 10) as first, pyps.Server(1000, 10, dtype="float16") as second:
    ...     _ = pyps.checkpoint.save("checkpoints", first)
    ...     load("checkpoints", second).name
    'checkpoint-00000001'
    """
    stored = Stored(path)
    is_host = node.num_nodes > 1 and node.rank == 0
    place = stored.folder.parent
    with (
        Rows(node) as rows,
        drafts_of(place).working() if is_host else contextlib.nullcontext("") as name,
        Meeting(place, node.rank, node.num_nodes, name, timeout, lambda: rows.wait_sync(timeout)) as meeting,
    ):
        part = _Part(stored, node, keys)
        _check(part, values_only)
        meeting.gather()  # write nothing before every node has checked its part
        if stored.table.optimizer and not values_only:
            node.tune(stored.table.optimizer.partition(":")[2])
        if node.num_keys is None:
            _make_rows(part, rows)
            meeting.gather()
        _write_rows(part, rows, meeting, values_only)
        rows.wait_sync(timeout)  # replicas have the new values
        meeting.gather()
    return stored.path


@dataclass(frozen=True)
class _Part:
    """What is loaded of a checkpoint into a node: all, or the keys of a range."""

    stored: Stored
    node: Node
    keys: range | None

    def groups(self, shard: Shard) -> Iterator[Group]:
        for group in self.stored.groups(shard):
            yield group if self.keys is None else group.only(_are_in(group.keys, self.keys))


def _are_in(keys: Keys, wanted: range) -> NDArray[np.bool_]:
    if not wanted:
        return np.zeros(len(keys), np.bool_)
    low, high = sorted((wanted[0], wanted[-1]))
    are_in: NDArray[np.bool_] = (keys >= low) & (keys <= high) & ((keys - low) % abs(wanted.step) == 0)
    return are_in


def _check(part: _Part, values_only: bool) -> None:
    """Raise CheckpointError unless the checkpoint is whole and fits the server; nodes divide its shards."""
    stored, node, table = part.stored, part.node, part.stored.table
    if len(stored.manifest.tables) != 1:
        raise CheckpointError(f"{stored.path} has {len(stored.manifest.tables)} tables, a server has one")
    if table.num_keys != node.num_keys and (part.keys is None or None in (table.num_keys, node.num_keys)):
        here, there = (n or "any numbers as" for n in (node.num_keys, table.num_keys))
        raise CheckpointError(f"{stored.path} has {there} keys, the server has {here} keys")
    if node.value_length and not set(table.value_lengths) <= {node.value_length}:
        raise CheckpointError(
            f"{stored.path} has values of lengths {list(table.value_lengths)}, the server's have {node.value_length}"
        )
    if not values_only:
        _check_optimizer(stored, node.optimizer_text())
    source = DTYPES[table.dtype]
    require_convertible(source, node.dtype)
    for number, shard in enumerate(table.shards):
        if number % node.num_nodes == node.rank:
            stored.verify(shard)
            for group in part.groups(shard):
                _check_lengths(stored, node, group)
                _check_numbers(group, source, node.dtype, values_only)
    stored.require_complete()


def _check_optimizer(stored: Stored, server: str) -> None:
    theirs = stored.table.optimizer
    names = [text.partition(":")[0] or "none" for text in (theirs, server)]
    if names[0] != names[1]:
        raise CheckpointError(
            f"{stored.path} has optimizer {names[0]}, the server has {names[1]}; values_only=True takes the values"
        )
    try:
        if theirs:
            read_optimizer(theirs)
    except ValueError as error:
        raise CheckpointError(f"{stored.path} is damaged: its optimizer is {theirs}, but {error}") from None
    if state_of(theirs) != state_of(server):
        kept = [" and ".join(part.name for part in state_of(text)) or "nothing" for text in (theirs, server)]
        raise CheckpointError(
            f"{stored.path} has an optimizer that keeps {kept[0]}, the server's keeps {kept[1]}: their settings are "
            f"{theirs} and {server}; values_only=True takes the values"
        )


def _check_lengths(stored: Stored, node: Node, group: Group) -> None:
    try:
        lengths, _ = sizes(node, group.keys)
    except ValueError as error:
        raise CheckpointError(f"{stored.path} has keys that the server cannot have: {error}") from None
    wrong = np.flatnonzero(lengths != group.length)
    if len(wrong):
        raise CheckpointError(
            f"{stored.path} has a value of length {group.length} for key {group.keys[wrong[0]]}, the server's "
            f"length is {lengths[wrong[0]]}"
        )


def _check_numbers(group: Group, source: Dtype, target: Dtype, values_only: bool) -> None:
    """Raise CheckpointError if a number is too large for the server's dtype, or for what its optimizer keeps."""
    kept = DTYPES["float64" if target.name == "float64" else "float32"]
    for name, array in group.fields.items():
        if name == "values":
            convert(array, source, target)
        elif array.dtype.kind == "f" and not values_only:
            convert(array, DTYPES[array.dtype.name], kept)


def _make_rows(part: _Part, rows: Rows) -> None:
    """Let keys exist that may be any numbers; nodes divide them."""
    node = part.node
    for group in _groups(part, node.rank, node.num_nodes):
        values = group.fields["values"]
        is_numpys = node.dtype.name != "bfloat16"
        rows.set(group.keys, np.ascontiguousarray(values) if is_numpys else tensor_of(values, node.dtype))


def _groups(part: _Part, first: int = 0, step: int = 1) -> Iterator[Group]:
    """Yield the groups of every step-th shard, with values of the server's dtype."""
    table, target = part.stored.table, part.node.dtype
    for shard in table.shards[first::step]:
        for group in part.groups(shard):
            for piece in group.pieces():
                values = convert(piece.fields["values"], DTYPES[table.dtype], target)
                yield Group(piece.length, piece.keys, {**piece.fields, "values": values})


def _write_rows(part: _Part, rows: Rows, meeting: Meeting, values_only: bool) -> None:
    """Each node writes the rows of the keys that live on it, until every key was written."""
    node = part.node
    left: Keys | None = None  # all keys
    end = time.monotonic() + meeting.timeout
    while left is None or len(left):
        done = [np.empty(0, np.int64)]
        seen = [np.empty(0, np.int64)]
        for whole in _groups(part):
            group = whole if left is None else whole.only(np.isin(whole.keys, left))
            mine = group.only(np.frombuffer(rows.read_rows(group.keys), np.bool_))
            written = np.frombuffer(rows.write_rows(mine.keys, _as_rows(mine, node, values_only)), np.bool_)
            done.append(mine.keys[written])
            seen.append(group.keys)
        every = [
            unpack(said, node.num_keys) for said in meeting.gather(pack(np.concatenate(done), node.num_keys))
        ]
        wanted = np.concatenate(seen)
        left = wanted[~np.isin(wanted, np.concatenate(every))]
        require_time(left, end)


def _as_rows(group: Group, node: Node, values_only: bool) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    kind = row_type(group.length, node.dtype, node.optimizer_text())
    found = np.zeros(len(group.keys), kind)
    for name in kind.names or ():
        if name == "values" or not values_only:
            found[name] = group.fields[name]
    return found.view(np.uint8)
