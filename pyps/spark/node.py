"""What a task does: it is a node of the server, calls the program's function, and tells what its keys hold."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import BarrierTaskContext

from pyps.checkpoint import save
from pyps.parameters import held, settle
from pyps.rendezvous.interfaces import at_port, find_address
from pyps.server import Server

Batch = dict[str, NDArray[Any]]
Batches = Iterator[Batch]

# A row for each piece of a table: bytes of int64 keys, of the elements of each, and of all values; and one for what the
# function returned.
SCHEMA = "table string, dtype string, keys binary, lengths binary, elements binary, rank int, result binary"


@dataclass(frozen=True, kw_only=True)
class Task:
    """What the driver sends to each task."""

    fn: Callable[[Any, Batches], Any]
    nodes: int
    options: dict[str, Any]
    curve: tuple[str, str]
    checkpoint: str | None
    interface: str | None
    timeout: float

    def run(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Be a node; the rows that it yields are those of `SCHEMA`."""
        context = BarrierTaskContext.get()
        rank = context.partitionId()
        with Server(num_nodes=self.nodes, rank=rank, curve=self.curve, **self.options) as node:
            self._connect(node, context)
            result = self.fn(node, map(as_arrays, rows))
            context.barrier()  # nobody asks for keys any more
            settle(node, self.timeout)
            context.barrier()
            yield row(rank=rank, result=pickle.dumps(result))
            if self.checkpoint is not None:
                save(self.checkpoint, node, timeout=self.timeout)
            else:
                for table, piece in held(node, self.timeout):
                    yield row(
                        table=table,
                        dtype=str(piece.values.dtype),
                        keys=piece.keys.tobytes(),
                        lengths=piece.lengths.tobytes(),
                        elements=piece.values.tobytes(),
                    )
            context.barrier()  # keys of others may have been asked for until now

    def _connect(self, node: Server, context: BarrierTaskContext) -> None:
        if self.nodes == 1:
            return
        here = context.getTaskInfos()[context.partitionId()].address.rpartition(":")[0]
        address = find_address(self.interface or here.strip("[]"))
        node.connect(context.allGather(node.bind(f"tcp://{at_port(address, '*')}")))


def as_arrays(batch: pa.RecordBatch) -> Batch:
    """Return the columns of a batch as numpy arrays: those of arrays of one length have two dimensions."""
    return {name: as_array(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}


def as_array(column: pa.Array) -> NDArray[Any]:
    """Return a column as a numpy array; a column of arrays as a matrix if they have one length."""
    if pa.types.is_list(column.type) and not column.null_count and len(column):
        lengths = np.diff(column.offsets.to_numpy())
        if (lengths == lengths[0]).all():
            flat: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
            return flat.reshape(len(column), -1)
    found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return found


def row(**fields: Any) -> pa.RecordBatch:
    """Return one row, in which other fields are null."""
    kinds = {"string": pa.string(), "binary": pa.binary(), "int": pa.int32()}
    columns = [part.split() for part in SCHEMA.split(", ")]
    return pa.RecordBatch.from_arrays(
        [pa.array([fields.get(name)], kinds[kind]) for name, kind in columns], [name for name, _ in columns]
    )
