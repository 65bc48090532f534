"""Reading a checkpoint into a server of any number of nodes."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pyps._core import read_optimizer
from pyps.checkpoint.agreement import pack, require_time, unpack
from pyps.checkpoint.conversion import convert, require_convertible, tensor_of
from pyps.checkpoint.drafts import drafts_of
from pyps.checkpoint.manifest import OWN_KEYS, Shard
from pyps.checkpoint.meeting import FAREWELL, Meeting
from pyps.checkpoint.rows import Keys, Rows, row_type, sizes
from pyps.checkpoint.shards import Group
from pyps.checkpoint.state import state_of
from pyps.checkpoint.stored import Stored
from pyps.checkpoint.tables import as_names, made, of_checkpoint, opened
from pyps.checkpoint.turns import Presence, Turn, turn_of
from pyps.dtypes import DTYPES, Dtype
from pyps.errors import CheckpointError, Error
from pyps.node import Node
from pyps.node import Table as NamedTable


def load(
    path: str | Path,
    node: Node,
    *,
    tables: Iterable[str] | None = None,
    keys: range | None = None,
    values_only: bool = False,
    timeout: float = 300.0,
) -> Path | str:
    """Give a server the values of a checkpoint, what its optimizer kept for them, and the optimizer's settings.

    So it does for the server's own keys and for each named table, of which those that are missing are made as they
    were. Tables that the checkpoint lacks stay as they are. The server may have another number of nodes and another
    dtype. One process of each node calls it, while no worker pushes. Everything is checked first: if the checkpoint is
    damaged or does not fit, nothing has changed. No code of the checkpoint runs.

    Parameters
    ----------
    path : path
        A checkpoint, or a directory with several, of which it takes the newest; a URL as well. With several nodes all
        of them need to write in the directory that has the checkpoint, where they meet.
    node : Node
        Of this process, or attached to. Into a named table goes the only table of the checkpoint, or that of its name.
    tables : list of str, optional
        The names of those to load, all if it is not given; ``""`` stands for the server's own keys.
    keys : range, optional
        Load only those of them that the table has, which must be a single one; all other keys stay as they are. The
        server may have another number of keys then.
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
    ValueError
        There are several tables, and `keys` are given.
    CheckpointError
        It is damaged, or has other keys, lengths or another optimizer, or lacks a table; or another node has failed.
    MemoryError
        There is no room for its keys (only where keys are any numbers; some may be there then).
    WaitTimeoutError, NodeLost
        Another node did not call it, or was lost.

    Examples
    --------
    >>> import pyps
    >>> with pyps.Server(1000, 10) as first, pyps.Server(1000, 10, dtype="float16") as second:
    ...     _ = first.table("users", dim=4)
    ...     _ = pyps.checkpoint.save("checkpoints", first)
    ...     load("checkpoints", second).name, second.table_names()
    ('checkpoint-00000001', ['users'])
    """
    stored = Stored(path)
    wanted = of_checkpoint(stored, node, as_names(tables))
    if keys is not None and len(wanted) > 1:
        raise ValueError(f"keys are those of one of {len(wanted)} tables: name it with tables=")
    turn = turn_of(node)
    is_host = turn.nodes > 1 and turn.is_first
    place = stored.folder.parent
    with (
        Rows(node) as rows,
        drafts_of(place).working() if is_host else contextlib.nullcontext("") as name,
        Meeting(place, name, timeout, Presence(turn, node, rows, timeout)) as meeting,
        contextlib.ExitStack() as on_failure,
    ):
        missing = _missing(wanted, node, meeting)
        for one in wanted:
            one.require_whole(turn.share)  # the nodes divide the shards
        parts = {
            one.table.name: _Part(one, opened(node, _name_in(node, one), timeout), turn, keys, values_only)
            for one in wanted
            if one.table.name not in missing
        }
        for part in parts.values():
            _check(part)
        meeting.gather()  # make and write nothing before every node has checked its part
        if missing:
            if turn.is_first:
                on_failure.callback(_drop, node, missing)
            for one in wanted:
                if one.table.name in missing:
                    table = made(node, one.table, stored.manifest.nodes, turn.nodes, timeout)
                    parts[one.table.name] = _Part(one, table, turn, keys, values_only)
                    _check(parts[one.table.name])
            meeting.gather()
            on_failure.pop_all()
        for one in wanted:
            _write(parts[one.table.name], meeting)
    return stored.path


def _missing(wanted: list[Stored], node: Node, meeting: Meeting) -> list[str]:
    """Return the names of the tables that node 0 lacks."""
    there = {OWN_KEYS, *node.table_names()}
    lacking = [one.table.name for one in wanted if _name_in(node, one) not in there]
    found: list[str] = json.loads(meeting.gather(json.dumps(lacking).encode())[0])
    return found


def _name_in(node: Node, stored: Stored) -> str:
    """Return the name of the table of a node into which one goes; a table is its own."""
    return OWN_KEYS if isinstance(node, NamedTable) else stored.table.name


def _drop(node: Node, names: list[str]) -> None:
    """Drop tables that were made in vain, as far as they are there."""
    for name in set(names) & set(node.table_names()):
        with contextlib.suppress(Error, RuntimeError):
            node.drop_table(name, timeout=FAREWELL)


@dataclass(frozen=True)
class _Part:
    """What is loaded of a table into a node: all, or the keys of a range; whole rows, or the values alone."""

    stored: Stored
    node: Node
    turn: Turn
    keys: range | None
    values_only: bool

    def groups(self, shard: Shard) -> Iterator[Group]:
        for group in self.stored.groups(shard):
            yield group if self.keys is None else group.only(_are_in(group.keys, self.keys))


def _are_in(keys: Keys, wanted: range) -> NDArray[np.bool_]:
    if not wanted:
        return np.zeros(len(keys), np.bool_)
    low, high = sorted((wanted[0], wanted[-1]))
    are_in: NDArray[np.bool_] = (keys >= low) & (keys <= high) & ((keys - low) % abs(wanted.step) == 0)
    return are_in


def _check(part: _Part) -> None:
    """Raise CheckpointError unless a table fits the server; nodes divide its shards."""
    stored, node, table = part.stored, part.node, part.stored.table
    if table.num_keys != node.num_keys and (part.keys is None or None in (table.num_keys, node.num_keys)):
        here, there = (n or "any numbers as" for n in (node.num_keys, table.num_keys))
        raise CheckpointError(f"{stored} has {there} keys, the server has {here} keys")
    if node.value_length and not set(table.value_lengths) <= {node.value_length}:
        raise CheckpointError(
            f"{stored} has values of lengths {list(table.value_lengths)}, the server's have {node.value_length}"
        )
    if not part.values_only:
        _check_optimizer(stored, node.optimizer_text())
    source = DTYPES[table.dtype]
    require_convertible(source, node.dtype)
    for shard in table.shards[part.turn.share]:
        for group in part.groups(shard):
            _check_lengths(stored, node, group)
            _check_numbers(group, source, node.dtype, part.values_only)


def _check_optimizer(stored: Stored, server: str) -> None:
    theirs = stored.table.optimizer
    names = [text.partition(":")[0] or "none" for text in (theirs, server)]
    if names[0] != names[1]:
        raise CheckpointError(
            f"{stored} has optimizer {names[0]}, the server has {names[1]}; values_only=True takes the values"
        )
    try:
        if theirs:
            read_optimizer(theirs)
    except ValueError as error:
        raise CheckpointError(f"{stored} is damaged: its optimizer is {theirs}, but {error}") from None
    if state_of(theirs) != state_of(server):
        kept = [" and ".join(part.name for part in state_of(text)) or "nothing" for text in (theirs, server)]
        raise CheckpointError(
            f"{stored} has an optimizer that keeps {kept[0]}, the server's keeps {kept[1]}: their settings are "
            f"{theirs} and {server}; values_only=True takes the values"
        )


def _check_lengths(stored: Stored, node: Node, group: Group) -> None:
    try:
        lengths, _ = sizes(node, group.keys)
    except ValueError as error:
        raise CheckpointError(f"{stored} has keys that the server cannot have: {error}") from None
    wrong = np.flatnonzero(lengths != group.length)
    if len(wrong):
        raise CheckpointError(
            f"{stored} has a value of length {group.length} for key {group.keys[wrong[0]]}, the server's "
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


def _write(part: _Part, meeting: Meeting) -> None:
    """Give a table's keys their rows, and its optimizer the settings."""
    node, table, timeout = part.node, part.stored.table, meeting.timeout
    if table.optimizer and not part.values_only:
        node.tune(table.optimizer.partition(":")[2])
    with Rows(node) as rows:
        if node.num_keys is None:
            _make_rows(part, rows)
            meeting.gather()
        _write_rows(part, rows, meeting)
        rows.wait_sync(timeout)  # replicas have the new values
        meeting.gather()


def _make_rows(part: _Part, rows: Rows) -> None:
    """Let keys exist that may be any numbers; nodes divide them."""
    node = part.node
    for group in _groups(part, part.turn.share):
        values = group.fields["values"]
        is_numpys = node.dtype.name != "bfloat16"
        rows.set(group.keys, np.ascontiguousarray(values) if is_numpys else tensor_of(values, node.dtype))


def _groups(part: _Part, share: slice) -> Iterator[Group]:
    """Yield the groups of some shards, with values of the server's dtype."""
    table, target = part.stored.table, part.node.dtype
    for shard in table.shards[share]:
        for group in part.groups(shard):
            for piece in group.pieces():
                values = convert(piece.fields["values"], DTYPES[table.dtype], target)
                yield Group(piece.length, piece.keys, {**piece.fields, "values": values})


def _write_rows(part: _Part, rows: Rows, meeting: Meeting) -> None:
    """Each node writes the rows of the keys that live on it, until every key was written."""
    node = part.node
    left: Keys | None = None  # all keys
    end = time.monotonic() + meeting.timeout
    while left is None or len(left):
        done = [np.empty(0, np.int64)]
        seen = [np.empty(0, np.int64)]
        for whole in _groups(part, slice(None)):
            group = whole if left is None else whole.only(np.isin(whole.keys, left))
            mine = group.only(np.frombuffer(rows.read_rows(group.keys), np.bool_))
            written = np.frombuffer(rows.write_rows(mine.keys, _as_rows(mine, part)), np.bool_)
            done.append(mine.keys[written])
            seen.append(group.keys)
        # What has gone again, as its room was needed, is left out.
        if left is not None and node.num_keys is None:
            others = np.setdiff1d(np.concatenate(seen), np.concatenate(done))
            done.append(others[~rows.contains(others)])
        every = [
            unpack(said, node.num_keys) for said in meeting.gather(pack(np.concatenate(done), node.num_keys))
        ]
        wanted = np.concatenate(seen)
        left = wanted[~np.isin(wanted, np.concatenate(every))]
        require_time(left, end)


def _as_rows(group: Group, part: _Part) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    kind = row_type(group.length, part.node.dtype, part.node.optimizer_text())
    found = np.zeros(len(group.keys), kind)
    for name in kind.names or ():
        if name == "values" or not part.values_only:
            found[name] = group.fields[name]
    return found.view(np.uint8)
