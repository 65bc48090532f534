"""Embeddings over a tensor that ranks share: rows are gathered, and gradients go to the rows that were used.

With ``sparse=True`` the weight has a sparse gradient. `torch.optim.SGD`, `SparseAdam` and `Adagrad` apply it in place,
to the used rows only, so all ranks train the same table. A dense gradient is as large as the whole table, on every
rank.
"""

from __future__ import annotations

from typing import Any

import torch

from pyps.wholememory.checks import check_indices
from pyps.wholememory.rows import gather

MODES = ("sum", "mean", "max")


class Embedding(torch.nn.Module):
    """Returns rows of a table by their indices.

    Parameters
    ----------
    table : torch.Tensor, shape (rows, length)
        A tensor from `create_tensor`; the module's parameter lies in its memory.
    sparse : bool
        Whether the gradient has the used rows only.
    """

    def __init__(self, table: torch.Tensor, *, sparse: bool = True) -> None:
        super().__init__()
        _check_table(table)
        self.weight = torch.nn.Parameter(table.detach())
        self.sparse = sparse

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        """Return the rows.

        Parameters
        ----------
        indices : torch.Tensor of int32 or int64, any shape

        Returns
        -------
        torch.Tensor, shape (..., length)
        """
        rows: torch.Tensor = _Gather.apply(self.weight, indices, self.sparse)  # type: ignore[no-untyped-call]
        return rows

    def extra_repr(self) -> str:
        """Return the table's size, for `repr`."""
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}, sparse={self.sparse}"


class EmbeddingBag(torch.nn.Module):
    """Returns the sum, mean or maximum of each bag of rows.

    Parameters
    ----------
    table : torch.Tensor, shape (rows, length)
    mode : str
        "sum", "mean" or "max"; the result for an empty bag is zeros.
    sparse : bool
        Whether the gradient has the used rows only.
    """

    def __init__(self, table: torch.Tensor, *, mode: str = "mean", sparse: bool = True) -> None:
        super().__init__()
        _check_table(table)
        if mode not in MODES:
            raise ValueError(f"mode is {mode!r}; choose one of {', '.join(MODES)}")
        self.weight = torch.nn.Parameter(table.detach())
        self.mode = mode
        self.sparse = sparse

    def forward(
        self,
        indices: torch.Tensor,
        offsets: torch.Tensor | None = None,
        per_sample_weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return one row per bag.

        Parameters
        ----------
        indices : torch.Tensor of int32 or int64, shape (bags, n) or (n,)
        offsets : torch.Tensor of int32 or int64, shape (bags,)
            Where each bag begins, if `indices` has one dimension.
        per_sample_weights : torch.Tensor, of the shape of `indices`, optional
            Factors for the rows; only with "sum".

        Returns
        -------
        torch.Tensor, shape (bags, length)
        """
        if indices.dim() == 2 and offsets is None:
            bags, n = indices.shape
            offsets = (
                torch.arange(0, bags * n, max(n, 1), device=indices.device)[:bags]
                if n
                else indices.new_zeros(bags)
            )
            indices = indices.reshape(-1)
            if per_sample_weights is not None:
                per_sample_weights = per_sample_weights.reshape(-1)
        elif indices.dim() != 1 or offsets is None:
            raise ValueError(
                f"indices has {indices.dim()} dimensions, and offsets {'are' if offsets is not None else 'are not'} "
                "given; give indices of shape (bags, n), or (n,) with offsets"
            )
        if per_sample_weights is not None and self.mode != "sum":
            raise ValueError(f"per_sample_weights are for mode 'sum'; this one is {self.mode!r}")
        used, places = torch.unique(indices, return_inverse=True)
        check_indices(self.weight, used)
        rows = _Gather.apply(self.weight, used, self.sparse)  # type: ignore[no-untyped-call]
        return torch.nn.functional.embedding_bag(
            places, rows, offsets.to(torch.int64), mode=self.mode, per_sample_weights=per_sample_weights
        )

    def extra_repr(self) -> str:
        """Return the table's size, for `repr`."""
        return f"{self.weight.shape[0]}, {self.weight.shape[1]}, mode={self.mode!r}, sparse={self.sparse}"


class _Gather(torch.autograd.Function):
    """Gathers rows of a weight; the gradient goes to the same rows."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, indices: torch.Tensor, sparse: bool) -> torch.Tensor:
        ctx.save_for_backward(indices)
        ctx.shape, ctx.sparse = weight.shape, sparse
        return gather(weight.detach(), indices)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (indices,) = ctx.saved_tensors
        flat = indices.reshape(-1).to(torch.int64)
        rows = gradients[0].reshape(-1, ctx.shape[1])
        if ctx.sparse:
            return torch.sparse_coo_tensor(flat[None], rows, ctx.shape, check_invariants=False), None, None
        return rows.new_zeros(ctx.shape).index_add_(0, flat, rows), None, None


def _check_table(table: torch.Tensor) -> None:
    if table.dim() != 2 or not table.is_floating_point():
        raise ValueError(
            f"the table is {list(table.shape)} of {table.dtype}; give floating-point rows of one length"
        )
