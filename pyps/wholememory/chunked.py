"""A tensor whose rows are spread over several hosts, as values of a parameter server.

Each host runs a node of one cluster (`pyps.init`), whose keys are the numbers of the rows, and has a range of the rows.
The processes of a host share its node's memory.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

import torch

from pyps.node import Node
from pyps.wholememory.checks import check_indices, check_rows

AT_ONCE = 1 << 18  # rows that are localized in one operation


class ChunkedTensor:
    """Rows of one length across the nodes of a cluster, for one thread.

    Parameters
    ----------
    node : pyps.Node
        A node with a key for each row; all values have the same length.
    place : bool
        Bring this host's range of rows here, if it is elsewhere. One process of each host should do it.
    """

    def __init__(self, node: Node, *, place: bool = False) -> None:
        if node.value_length is None:
            raise ValueError("the node's values have different lengths; the rows of a tensor have one")
        if node.num_keys is None:
            raise ValueError(
                "the node's keys may be any numbers, but a tensor's rows are numbered: give the node num_keys"
            )
        self._node = node
        self._worker = node.worker()
        self.shape = torch.Size([node.num_keys, node.value_length])
        self.dtype: torch.dtype = getattr(torch, node.dtype.name)
        self.device = torch.device("cpu")
        rows = self.local_rows
        for first in range(rows.start, rows.stop, AT_ONCE) if place else ():
            self._worker.localize(torch.arange(first, min(first + AT_ONCE, rows.stop)))

    @property
    def local_rows(self) -> range:
        """The range of rows that belongs to this host."""
        nodes, rank, rows = self._node.num_nodes, self._node.rank, self.shape[0]
        return range(rows * rank // nodes, rows * (rank + 1) // nodes)

    def gather(self, indices: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        """Return rows from all hosts; see `pyps.wholememory.gather`."""
        check_indices(self, indices)
        shape = (*indices.shape, self.shape[1])
        if out is None:
            out = torch.empty(shape, dtype=self.dtype)
        else:
            check_rows("out", self, shape, out)
        self._worker.pull(indices.flatten().to(torch.int64), out)
        return out

    def scatter(self, indices: torch.Tensor, rows: torch.Tensor) -> None:
        """Write rows on all hosts; see `pyps.wholememory.scatter`."""
        keys, values = self._checked(indices, rows)
        self._worker.set(keys, values)

    def scatter_add(self, indices: torch.Tensor, rows: torch.Tensor) -> None:
        """Add to rows on all hosts; see `pyps.wholememory.scatter_add`."""
        keys, values = self._checked(indices, rows)
        self._worker.push(keys, values)

    def _checked(self, indices: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        check_indices(self, indices)
        check_rows("rows", self, (*indices.shape, self.shape[1]), rows)
        return indices.flatten().to(torch.int64), rows.contiguous().view(-1, self.shape[1])

    def close(self) -> None:
        """End the worker; the node and the rows stay."""
        self._worker.finalize()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ChunkedTensor {list(self.shape)} of {self.dtype} over {self._node.num_nodes} hosts>"
