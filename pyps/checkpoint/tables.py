"""Which tables are saved and loaded: those of a server, of a checkpoint, and what one that is missing is made with.

In a checkpoint a server's own keys are the table without a name.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from pyps.checkpoint.manifest import OWN_KEYS, Table
from pyps.checkpoint.stored import Stored
from pyps.contents import options_in
from pyps.errors import CheckpointError, ClosedError, WaitTimeoutError
from pyps.node import Node
from pyps.node import Table as NamedTable

LOOK_EVERY = 1.0  # seconds
# Options of `Node.table` that are numbers.
NUMBERS = {"num_keys": int, "capacity": int, "memory_limit": int, "admission": int, "max_age": float}


def as_names(tables: Iterable[str] | None) -> list[str] | None:
    """Return names of tables in order, each once; None if all are wanted.

    Raises
    ------
    TypeError, ValueError
        These are no names, or there is none.
    """
    if tables is None:
        return None
    names = [tables] if isinstance(tables, str) else list(tables)
    if isinstance(tables, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"tables must be a list of names, like ['users'], not {tables!r}")
    if not names:
        raise ValueError("tables has no name; '' stands for the server's own keys, and None for all")
    return sorted(set(names))


def shown(names: Iterable[str]) -> str:
    """Return names of tables for a message."""
    return ", ".join(repr(name) if name else "'' (its own keys)" for name in names)


def of_server(every: list[bytes], wanted: list[str] | None) -> list[str]:
    """Return what is to be saved of the tables that all nodes have said; ValueError if one is missing."""
    there = [OWN_KEYS, *sorted({name for said in every for name in said.decode().split()})]
    if missing := sorted(set(wanted or ()) - set(there)):
        raise ValueError(f"there is no table {shown(missing)}; the server has {shown(there)}")
    return there if wanted is None else wanted


def of_checkpoint(stored: Stored, node: Node, wanted: list[str] | None) -> list[Stored]:
    """Return the tables of a checkpoint that are to be loaded, all or the wanted ones.

    Into a named table goes the only one, or that of its name.

    Raises
    ------
    CheckpointError
        The checkpoint lacks one.
    """
    if not isinstance(node, NamedTable):
        return [stored.named(name) for name in wanted or [table.name for table in stored.manifest.tables]]
    if wanted is None:
        is_only = len(stored.manifest.tables) == 1
        wanted = [stored.manifest.tables[0].name if is_only else node.name]
    if len(wanted) > 1:
        raise ValueError(f"tables are {shown(wanted)}; into table {node.name!r} goes one of them")
    return [stored.named(wanted[0])]


def said_by(node: Node) -> bytes:
    """Return the names of the tables that work on a node, for `of_server`."""
    return " ".join(node.table_names()).encode()


def opened(node: Node, name: str, timeout: float) -> Node:
    """Return a node's table that works on some node, here perhaps not yet; the node itself without a name.

    Raises
    ------
    ClosedError
        The table was dropped.
    WaitTimeoutError
        This node has not made its part in time.
    """
    if name == OWN_KEYS:
        return node
    end = time.monotonic() + timeout
    while True:
        try:
            node.table_options(name)  # each node has heard of a table before it works on any
        except RuntimeError:
            if not node.is_open:
                raise
            raise ClosedError(f"table {name!r} was dropped") from None
        left = end - time.monotonic()
        try:
            return node.table(name, timeout=max(min(left, LOOK_EVERY), 0.001))
        except WaitTimeoutError:
            if left <= LOOK_EVERY:
                raise


def made(node: Node, table: Table, nodes: int, here: int, timeout: float) -> Node:
    """Make a table of a checkpoint that the server lacks; all nodes do.

    If a single node would not have room for all keys, and there are fewer nodes than those that have saved it, each has
    room for more keys in proportion.

    Parameters
    ----------
    node : Node
    table : Table
    nodes, here : int
        How many have saved it, and how many there are now.
    timeout : float
        Seconds.

    Raises
    ------
    CheckpointError
        The checkpoint does not say what it was made with, or these options are not possible here.
    """
    options: dict[str, Any] = {**options_in(table.options)}
    try:
        dim = [int(length) for length in options.pop("lengths").split(",")]
        for name, number in NUMBERS.items():
            if name in options:
                options[name] = number(options[name])
        if table.keys > options.get("capacity", table.keys):
            options["capacity"] = max(options["capacity"], -(-options["capacity"] * nodes // here))
        return node.table(table.name, dim, timeout=timeout, **options)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"table {table.name!r} cannot be made as the checkpoint says ({table.options!r}): {error}"
        ) from None
