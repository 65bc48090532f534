"""A module of one embedding: what `Embedding` and `EmbeddingBag` are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import torch

from pyps.nn.embeddings.device import DeviceCache, Front
from pyps.nn.embeddings.ids import Batch, Ids, as_ids, distinct
from pyps.nn.embeddings.module import ServerModule
from pyps.nn.embeddings.rows import MaxNorm, Rows
from pyps.nn.embeddings.tables import TableOptions, open_table
from pyps.node import Worker

if TYPE_CHECKING:
    from pyps.optim import Optimizer


class EmbeddingOptions(TableOptions, total=False):
    """The keyword arguments of a module of one embedding."""

    optimizer: Optimizer | str | None
    name: str | None
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    asynchronous: bool
    persistent: bool
    device: torch.device | str | None
    cache: DeviceCache | None


class SingleEmbedding(ServerModule):
    """A module of one embedding.

    Attributes
    ----------
    num_embeddings : int or None
    embedding_dim : int
    padding_idx : int or None
        At least 0 where there are `num_embeddings`.
    max_norm : float or None
    norm_type : float
    scale_grad_by_freq : bool
        As torch's modules have them.
    """

    def __init__(
        self,
        num: int | None,
        dim: int,
        kv: Worker,
        *,
        optimizer: Optimizer | str | None = None,
        name: str | None = None,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        asynchronous: bool = False,
        persistent: bool = True,
        device: torch.device | str | None = None,
        cache: DeviceCache | None = None,
        **options: Unpack[TableOptions],
    ) -> None:
        if padding_idx is not None and num is not None:
            if not -num <= padding_idx < num:
                raise ValueError(f"padding_idx is {padding_idx}; it must be in [{-num}, {num})")
            padding_idx %= num
        if max_norm is not None and not max_norm > 0:
            raise ValueError(f"max_norm is {max_norm}; it must be above 0, or None for any norm")
        if max_norm is not None and cache is not None:
            raise ValueError(
                f"max_norm is {max_norm}, so rows are set at the server, and none can stay on a device: leave out cache"
            )
        front = Front(device, cache)
        table, worker, is_new = open_table(kv, name, [dim], num, optimizer, options)
        norm = None if max_norm is None else MaxNorm(max_norm, norm_type)
        super().__init__(Rows(table, worker, asynchronous, front, norm), persistent)
        self.num_embeddings, self.embedding_dim, self.padding_idx = num, dim, padding_idx
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self._ids = Ids(f"table {getattr(table, 'name', '')!r}", dim, num)
        if is_new and padding_idx is not None and num is not None:
            worker.set([padding_idx], torch.zeros(1, dim, dtype=self._rows.dtype))

    def extra_repr(self) -> str:
        """Return what `repr` says of the module."""
        settings = {
            "padding_idx": self.padding_idx,
            "max_norm": self.max_norm,
            "norm_type": None if self.norm_type == 2 else self.norm_type,
            "scale_grad_by_freq": self.scale_grad_by_freq or None,
        }
        given = (f"{name}={value}" for name, value in settings.items() if value is not None)
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *given, self._ids.name])

    def batches(self, ids: Any) -> Sequence[Batch]:
        """Return what a forward with these ids looks up; errors are those of `forward`."""
        return [distinct(as_ids(ids, device=self.device), self._ids, self.padding_idx)[0]]

    def _embeddings(self) -> dict[str, Ids]:
        return {"": self._ids}

    def _look_up(self, batch: Batch) -> torch.Tensor:
        (rows,) = self._rows.look_up([batch], self.training)
        return rows
