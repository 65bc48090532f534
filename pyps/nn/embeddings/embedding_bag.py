"""`EmbeddingBag`: sums, means and maxima of rows, as `torch.nn.EmbeddingBag`, from a server."""

from __future__ import annotations

from typing import Unpack

import torch

from pyps.nn.embeddings.compiling import not_compiled
from pyps.nn.embeddings.ids import as_ids, distinct
from pyps.nn.embeddings.pooling import Bags, pool
from pyps.nn.embeddings.single import EmbeddingOptions, SingleEmbedding
from pyps.node import Worker

MODES = ("sum", "mean", "max")


class EmbeddingBag(SingleEmbedding):
    """Bags of ids as `torch.nn.EmbeddingBag`, whose rows are at a server, which updates them.

    Parameters
    ----------
    num, dim, kv
        As for `Embedding`.
    mode : str
        "sum", "mean" or "max": what becomes of the rows of a bag.
    include_last_offset : bool
        Whether offsets have one more element, the number of all ids.
    **options
        As for `Embedding`. Ids that are `padding_idx` are left out of their bags.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong; or the table has other options, or no optimizer.

    Examples
    --------
    >>> import pyps, torch
    >>> with pyps.Server(1) as server, server.worker() as kv:
    ...     bag = pyps.nn.EmbeddingBag(1000, 64, kv, mode="mean", optimizer="adagrad:lr=0.1")
    ...     bag(torch.tensor([3, 7, 9]), offsets=torch.tensor([0, 2])).shape
    torch.Size([2, 64])
    """

    def __init__(
        self,
        num: int | None,
        dim: int,
        kv: Worker,
        *,
        mode: str = "mean",
        include_last_offset: bool = False,
        **options: Unpack[EmbeddingOptions],
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"mode is {mode!r}; it must be one of {', '.join(MODES)}")
        super().__init__(num, dim, kv, **options)
        self.mode, self.include_last_offset = mode, include_last_offset

    @not_compiled
    def forward(
        self,
        input: torch.Tensor,  # noqa: A002 (torch's name)
        offsets: torch.Tensor | None = None,
        per_sample_weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return a row for each bag.

        Parameters
        ----------
        input : int64 or int32 tensor, shape (bags, n); or with `offsets` (n,)
            The ids, on the CPU or the module's device.
        offsets : int64 or int32 tensor, shape (bags,), or (bags + 1,) with `include_last_offset`, optional
            Where each bag begins.
        per_sample_weights : tensor of the table's dtype, of the shape of `input`, optional
            With which rows are multiplied before they are summed; for mode "sum".

        Returns
        -------
        tensor, shape (bags, dim)
            In the table's dtype.

        Raises
        ------
        IndexError, TypeError, ValueError, ClosedError, NodeLost, WaitTimeoutError
            As for `Embedding.forward`.
        RuntimeError, NotImplementedError
            Offsets or weights do not fit, as torch says it.
        """
        batch, positions = distinct(as_ids(input, device=self.device), self._ids, self.padding_idx)
        rows, positions = self._look_up(batch), positions.to(self.device)
        if offsets is not None:
            offsets = as_ids(offsets, "offsets", self.device).to(self.device)
        if batch.padding is None and not self.scale_grad_by_freq and not self.include_last_offset:
            return pool([Bags(positions, self.mode, offsets, per_sample_weights)], [rows])[0]
        return torch.nn.functional.embedding_bag(
            positions,
            rows,
            offsets,
            scale_grad_by_freq=self.scale_grad_by_freq,
            mode=self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=batch.padding,
        )

    def extra_repr(self) -> str:
        """Return what `repr` says of the module."""
        return f"{super().extra_repr()}, mode={self.mode}"
