"""How the workers of a model meet: one sets the values that training begins with, all others take them.

A table's options are agreed on by all nodes, and two processes cannot make one of the same name. So the table of shapes
decides who is first, in any language, without ranks: each process wants its values to begin with a number of its own,
and the number of the one that made the table is what all read.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from pyps.initializers import Constant
from pyps.nn.dense.pieces import LENGTHS
from pyps.nn.dense.waiting import wait_until
from pyps.node import Table, Worker

if TYPE_CHECKING:
    from pyps.nn.dense.flat import FlatParameters
    from pyps.optim import Optimizer

FEWEST_KEYS = 1_000_000  # for which the table of a model has room
SHAPES = "{}.shapes"  # the table of int64 with what follows; numbers below zero were not written yet
FIRST, COUNT, SIZES = (
    0,
    1,
    2,
)  # keys: who is first; the number of parameters; from here on the elements of each


def room_for(num_keys: int) -> int:
    """Return the capacity of the table of a model of so many values, which small models have in common."""
    return max(FEWEST_KEYS, num_keys)


def meet(
    kv: Worker, name: str, optimizer: Optimizer | str, flat: FlatParameters, timeout: float
) -> tuple[Table, Worker]:
    """Open the table of a model, which has the model's values then; return it, and this worker's worker of it.

    The values are those of the first worker that came, also one of an earlier program whose server lives on; the
    vector of `flat` has them afterwards.

    Raises
    ------
    ValueError
        The table has another optimizer or dtype; or the model that it holds has other parameters.
    WaitTimeoutError
        The first worker has not set the values in time.
    """
    node = kv.node
    if isinstance(node, Table):
        raise TypeError(
            f"kv is a worker of table {node.name!r}: pass one of the server, which has the model's tables"
        )
    shapes = SHAPES.format(name)
    if len(shapes) > 63:
        raise ValueError(
            f"name {name!r} has {len(name)} characters; it may have {63 - len(shapes) + len(name)}"
        )
    dtype = str(flat.dtype).removeprefix("torch.")
    capacity = room_for(len(flat.all_keys))
    opened = node.table(
        name, dim=LENGTHS, capacity=capacity, dtype=dtype, optimizer=optimizer, timeout=timeout
    )
    table = kv.table(name, timeout=timeout)
    mark = -1 - secrets.randbits(52)
    with suppress(ValueError):  # it is there, with the number of another one
        node.table(shapes, dim=1, dtype="int64", initializer=Constant(mark), timeout=timeout)
    with node.table(shapes, timeout=timeout).worker() as there:
        if there.pull([FIRST])[0, 0] == mark:
            table.set(flat.all_keys, flat.vector, timeout=timeout)
            numbers = np.array([*flat.sizes, len(flat.sizes)], np.int64).reshape(-1, 1)
            there.set(np.arange(SIZES, SIZES + len(flat.sizes)), numbers[:-1], timeout=timeout)
            there.set([COUNT], numbers[-1:], timeout=timeout)  # last: it says that all else is there
        else:
            _take(there, table, name, flat, timeout)
    return opened, table


def _take(there: Worker, table: Worker, name: str, flat: FlatParameters, timeout: float) -> None:
    wait_until(
        lambda: bool(there.pull([COUNT])[0, 0] >= 0),
        timeout,
        lambda: (
            f"the worker that made the tables of model {name!r} has not set its values; if it has ended, "
            f"drop_table({name!r}) and drop_table({SHAPES.format(name)!r}) let another one begin"
        ),
    )
    count = int(there.pull([COUNT])[0, 0])
    sizes = there.pull(np.arange(SIZES, SIZES + count)).reshape(-1).tolist()
    for number, (size, wanted) in enumerate(zip(flat.sizes, sizes, strict=False)):
        if size != wanted:
            raise ValueError(
                f"parameter {number + 1} of the model in table {name!r} has {wanted} elements, and "
                f"{flat.names[number]!r} of this one {size}: give another architecture another name"
            )
    if len(flat.sizes) != count:
        raise ValueError(
            f"the model in table {name!r} has {count} parameters, and this one {len(flat.sizes)}: give another "
            "architecture another name"
        )
    table.pull(flat.all_keys, flat.vector, timeout=timeout)
