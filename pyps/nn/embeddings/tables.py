"""The table of a server that has a module's rows: made by the module, or there already."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from pyps.contents import options_in
from pyps.initializers import Initializer, Normal
from pyps.node import Node, Table, Worker

if TYPE_CHECKING:
    from pyps.optim import Optimizer


class TableOptions(TypedDict, total=False):
    """What a module passes on to `Node.table` when it makes its table."""

    dtype: object
    initializer: Initializer | str
    capacity: int
    memory_limit: int
    eviction: str
    max_age: float
    admission: int
    timeout: float


def open_table(
    kv: Worker,
    name: str | None,
    dims: Sequence[int],
    num_keys: int | None,
    optimizer: Optimizer | str | None,
    options: TableOptions,
    capacity: int | None = None,
) -> tuple[Node, Worker, bool]:
    """Return the table of a module and this process's worker of it, and whether the table was not there before.

    Parameters
    ----------
    kv : Worker
        Of a table, which is used as it is; or of a server or an attached node, which then has or makes the table.
    name : str or None
        Of the table; None if `kv` is to be a worker of it.
    dims : sequence of int
        Elements of a row; of the rows of each class of keys if these differ.
    num_keys : int or None
        Keys are 0 to ``num_keys - 1``; None: any numbers.
    optimizer, options
        With which a table is made.
    capacity : int, optional
        Of a table that is made, unless the options have it.

    Raises
    ------
    TypeError
        `kv` is no worker.
    ValueError
        The table does not fit, is there with other options, or has no optimizer.
    """
    if not isinstance(kv, Worker):
        raise TypeError(
            f"kv is {type(kv).__name__}; it must be a worker of a server, a node or a table: server.worker()"
        )
    if isinstance(kv.node, Table):
        return kv.node, _fitting(kv, kv.node, name, dims, num_keys, optimizer, options), False
    name = "embedding" if name is None else name
    if optimizer is None or optimizer == "":
        raise ValueError(
            f"there is no optimizer, so pushes would add gradients to the rows: give one, optimizer="
            f"pyps.optim.Adagrad(lr=0.1), or a worker of a table that has one, kv.table({name!r})"
        )
    is_new = name not in kv.node.table_names()
    usual: TableOptions = {"initializer": Normal(seed=zlib.crc32(name.encode()))}
    if capacity is not None:
        usual["capacity"] = capacity
    table = kv.node.table(
        name,
        dim=dims,
        num_keys=num_keys,
        optimizer=optimizer,
        **(usual | options),
    )
    return table, kv.table(name, timeout=options.get("timeout")), is_new


def _fitting(
    kv: Worker,
    table: Table,
    name: str | None,
    dims: Sequence[int],
    num_keys: int | None,
    optimizer: Optimizer | str | None,
    options: TableOptions,
) -> Worker:
    if given := [*(["name"] if name else []), *(["optimizer"] if optimizer else []), *options]:
        raise ValueError(
            f"{', '.join(given)}: kv is a worker of table {table.name!r}, which is there with {table.options}; "
            "leave these out, or pass a worker of the server"
        )
    if options_in(table.options)["lengths"] != ",".join(map(str, dims)):
        raise ValueError(f"rows of {list(dims)} elements do not fit table {table.name!r}: {table.options}")
    if table.num_keys != num_keys:
        raise ValueError(
            f"table {table.name!r} has {_keys(table.num_keys)}, not {_keys(num_keys)}: {table.options}"
        )
    if not table.optimizer_text():
        raise ValueError(
            f"table {table.name!r} has no optimizer, so pushes would add gradients to its rows: make it with one, "
            f"server.table({table.name!r}, dim={dims[0]}, optimizer=pyps.optim.Adagrad(lr=0.1))"
        )
    return kv


def _keys(num_keys: int | None) -> str:
    return "keys that are any numbers" if num_keys is None else f"{num_keys} keys"
