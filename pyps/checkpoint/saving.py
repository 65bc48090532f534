"""Writing a checkpoint while training runs. docs/design.md says what is in it, and why."""

from __future__ import annotations

import itertools
import json
import logging
import os
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict, Unpack, overload

from pyps.checkpoint.base import base_for, fits, open_base, shards_below
from pyps.checkpoint.drafts import drafts_of, prune
from pyps.checkpoint.dropping import Dropped, TableMeeting
from pyps.checkpoint.folders import Folder, open_folder
from pyps.checkpoint.manifest import OWN_KEYS, Manifest, Shard, Table, shards_as_json, shards_from_json
from pyps.checkpoint.meeting import Meeting
from pyps.checkpoint.places import MANIFEST
from pyps.checkpoint.rounds import Found, write_rounds
from pyps.checkpoint.rows import Rows
from pyps.checkpoint.stored import Stored
from pyps.checkpoint.tables import as_names, of_server, opened, said_by
from pyps.checkpoint.turns import Presence, Turn, turn_of
from pyps.checkpoint.writing import ShardWriter
from pyps.errors import CheckpointError, ClosedError
from pyps.node import Node
from pyps.node import Table as NamedTable

# What is added to the niceness of threads in the background, so that training goes first.
NICENESS = 10
STANDSTILL = 10.0  # seconds after which a node that takes over no more keys of lost ones has no room for them
logger = logging.getLogger(__name__)


class Options(TypedDict, total=False):
    """What `save` can be told."""

    tables: Iterable[str] | None
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
    tables: Iterable[str] | None = None,
    keep: int | None = None,
    full_every: int = 1,
    background: bool = False,
    timeout: float = 300.0,
) -> object:
    """Write a checkpoint while training goes on: ``DIRECTORY/checkpoint-00000001``, then 2 and so on.

    It has the server's own keys and all its named tables, or those that `tables` names.

    One process of each node calls it, with a directory that all of them see. In the checkpoint is every push that had
    been acknowledged on any node before the last of these calls began, and none that began after the first of them
    has returned. Each value is whole, with what the optimizer keeps for it. Only its callers wait for it. If it fails
    or its processes are killed, earlier checkpoints stay as they were. A table that is dropped meanwhile is left out.

    Parameters
    ----------
    directory : path
        Made if it is not there. Also a URL of a store that fsspec reaches, such as ``s3://bucket/run``.
    node : Node
        Of this process, or attached to; also a named table alone.
    tables : list of str, optional
        Names of tables; ``""`` stands for the server's own keys. All that there are when the last node calls it, if it
        is not given. Node 0's counts.
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
    ValueError
        The server has no such table.
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
    ...     _ = server.table("users", dim=4)
    ...     save("checkpoints", server, keep=3).name
    'checkpoint-00000001'
    """
    if keep is not None and keep < 1:
        raise ValueError(f"keep is {keep}; it must be at least 1")
    if full_every < 1:
        raise ValueError(f"full_every is {full_every}; it must be at least 1")
    work = partial(_save, directory, node, _Order(as_names(tables), keep, full_every, timeout))
    if not background:
        return work()
    pool = ThreadPoolExecutor(
        1, "checkpoint", os.nice, (NICENESS,)
    )  # a thread hands it on to those that it starts
    try:
        return pool.submit(work)
    finally:
        pool.shutdown(wait=False)


class _Order(NamedTuple):
    """What a call of `save` asks for."""

    tables: list[str] | None
    keep: int | None
    full_every: int
    timeout: float


class _Plan(TypedDict):
    """What node 0 has decided: where to write, upon which checkpoint ("": none), and which tables are in that."""

    place: str
    base: str
    has_checks: bool
    tables: dict[str, bool]


class _Written(NamedTuple):
    """What was written of a table, and the table of an earlier checkpoint that it is built upon."""

    table: Table
    base: Stored | None


def _save(path: str | Path, node: Node, order: _Order) -> Path | str:
    directory = open_folder(path)
    directory.make()
    turn = turn_of(node)
    if not turn.is_first:
        return _take_part(directory, node, turn, "", order)
    with drafts_of(directory).working() as name:
        return _take_part(directory, node, turn, name, order)


def _take_part(directory: Folder, node: Node, turn: Turn, name: str, order: _Order) -> Path | str:
    timeout = order.timeout
    with (
        Rows(node) as rows,
        Meeting(directory, name, timeout, Presence(turn, node, rows, timeout)) as meeting,
    ):
        every = meeting.gather(said_by(node))  # all have called
        decided = _plan(directory, node, name, order, every) if turn.is_first else None
        plan: _Plan = json.loads(meeting.gather(json.dumps(decided).encode())[0])
        found = [_save_table(directory, node, table, plan, meeting) for table in plan["tables"]]
        saved = ""
        if turn.is_first:
            saved = _complete(directory, turn.nodes, name, plan, [one for one in found if one is not None])
            if order.keep is not None:
                prune(directory, order.keep)
        return directory.folder(meeting.gather(saved.encode())[0].decode()).path


def _plan(directory: Folder, node: Node, name: str, order: _Order, every: list[bytes]) -> _Plan:
    base, manifest = base_for(directory, order.full_every) or ("", None)
    tables = {}
    for table in of_server(every, order.tables):
        before = manifest.find(table) if manifest else None
        try:
            tables[table] = before is not None and fits(before, opened(node, table, order.timeout))
        except ClosedError:  # dropped meanwhile, as others may be before their turn
            if not node.is_open:
                raise
    return {
        "place": drafts_of(directory).begin(name).name,
        "base": base if any(tables.values()) else "",
        "has_checks": order.full_every > 1,
        "tables": tables,
    }


def _save_table(directory: Folder, node: Node, name: str, plan: _Plan, meeting: Meeting) -> _Written | None:
    """Write this node's shards of a table; None, on all nodes, if it was dropped meanwhile."""
    about_it = TableMeeting(meeting)
    try:
        return _write_table(directory, node, name, plan, about_it)
    except Dropped:
        pass
    except ClosedError:
        if name == OWN_KEYS or not node.is_open:
            raise
        about_it.say_dropped()
    logger.info("table %r was dropped while a checkpoint was written, which does not have it", name)
    return None


def _write_table(directory: Folder, node: Node, name: str, plan: _Plan, meeting: TableMeeting) -> _Written:
    table = opened(node, name, meeting.timeout)
    place, has_checks = directory.folder(plan["place"]), plan["has_checks"]
    with Rows(table) as rows, ShardWriter(place, name, node.rank, table.dtype.name) as writer:
        rows.wait_sync(meeting.timeout)  # what was pushed to replicas here becomes part of the owners' values
        base, known = open_base(directory, plan["base"], name) if plan["tables"][name] else (None, None)
        if not all(meeting.gather(b"known" if known else b"")):
            base = known = None
        _wait_for_lost_keys(table, meeting.timeout)
        found = write_rounds(writer, table, rows, meeting, has_checks, known)
        if found is None:
            base = None
            writer.discard()
            found = write_rounds(writer, table, rows, meeting, has_checks, None) or Found(0, False)
    try:
        every = [shards_from_json(said) for said in meeting.gather(shards_as_json(writer.written))]
    except Dropped:
        writer.discard()
        raise
    shards = [*(shards_below(base) if base else ()), *itertools.chain.from_iterable(every)]
    return _Written(_described(table, name, found, shards, has_checks), base)


def _wait_for_lost_keys(table: Node, timeout: float) -> None:
    """Wait until the keys of lost nodes that are to live here do so; of all of them this node has heard."""
    end, last = 0.0, -1
    while count := table.stats()["keys_to_take_over"]:
        now = time.monotonic()
        if count != last:
            end, last = now + min(timeout, STANDSTILL), count
        elif now > end:
            raise CheckpointError(
                f"node {table.rank} takes over no more of {count} keys of lost nodes, which the checkpoint would lack: "
                "it has no room for them (delete others or raise capacity), or a worker stopped while it wrote"
            )
        time.sleep(0.01)


def _described(table: Node, name: str, found: Found, shards: list[Shard], has_checks: bool) -> Table:
    files = sorted(shards, key=lambda shard: (shard.age, shard.file))
    lengths = {length for shard in files for length in shard.lengths}
    return Table(
        name=name,
        num_keys=table.num_keys,
        dtype=table.dtype.name,
        value_lengths=tuple(sorted(lengths | ({table.value_length} if table.value_length else set()))),
        optimizer=table.optimizer_text(),
        keys=found.keys,
        shards=tuple(files),
        has_checks=has_checks,
        has_repeats=found.has_repeats,
        options=table.options if isinstance(table, NamedTable) and name else "",
    )


def _complete(directory: Folder, nodes: int, name: str, plan: _Plan, written: list[_Written]) -> str:
    """Make a checkpoint of what all nodes have written; return its name."""
    if not written:
        raise CheckpointError("all tables that were to be saved were dropped meanwhile")
    bases = [one.base for one in written if one.base is not None]
    if bases and MANIFEST not in bases[0].folder.names():
        raise CheckpointError(f"{bases[0].path}, which the new one is built upon, was removed meanwhile")
    manifest = Manifest(
        tables=tuple(one.table for one in written),
        number=0,
        saved=datetime.now(UTC).isoformat(timespec="seconds"),
        nodes=nodes,
        earlier=bases[0].manifest.earlier + 1 if bases else 0,
    )
    return drafts_of(directory).complete(name, directory.folder(plan["place"]), manifest).name
