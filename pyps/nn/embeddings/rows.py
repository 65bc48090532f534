"""Rows of a server in autograd: the forward pulls them, the backward pushes their gradients."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable

from pyps.nn.embeddings.ahead import Ahead
from pyps.nn.embeddings.device import Front
from pyps.nn.embeddings.ids import Batch
from pyps.node import Node, Worker
from pyps.tensors import on_host
from pyps.timestamps import Timestamp


class MaxNorm(NamedTuple):
    """The greatest norm that a row may have, and of which order the norm is."""

    most: float
    order: float


class Rows:
    """The rows of a table, as a worker of this process pulls and pushes them.

    Parameters
    ----------
    table : Node
        The table; kept, as the settings of its optimizer are there as long as it is.
    kv : Worker
        Of the table.
    asynchronous : bool
        Whether the backward returns before its push has ended.
    max_norm : MaxNorm, optional
        To which rows are shortened when they are looked up.
    front : Front
        Of the device that rows are looked up to.
    """

    def __init__(
        self,
        table: Node,
        kv: Worker,
        asynchronous: bool,
        front: Front,
        max_norm: MaxNorm | None = None,
    ) -> None:
        self.table, self.kv, self.asynchronous, self.max_norm = table, kv, asynchronous, max_norm
        self.dtype: torch.dtype = getattr(torch, table.dtype.name)
        self.front = front
        self.source = torch.empty(0, requires_grad=True)  # in autograd, rows are made of it
        self.ahead: Ahead | None = None  # while `pyps.data.prefetch` looks ahead
        self._pushes: deque[Timestamp] = deque()

    def look_up(self, batches: Sequence[Batch], trains: bool) -> tuple[torch.Tensor, ...]:
        """Return the rows of batches, of shape (len(batch.keys), dim) each, by one pull.

        If it `trains`, and autograd records, the backward pushes their gradients, by one push.
        """
        if trains and self.source.requires_grad and torch.is_grad_enabled():
            rows: tuple[torch.Tensor, ...] = _LookUp.apply(self.source, self, batches)  # type: ignore[no-untyped-call]
            return rows
        return self.pull(batches, trains=False)

    def pull(self, batches: Sequence[Batch], trains: bool) -> tuple[torch.Tensor, ...]:
        """Pull rows, outside of autograd; if it `trains`, those that are shortened are set at the server, too."""

        def pull(keys: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            return self._pull(keys, batches)

        parts = self.ahead.find(batches) if self.ahead is not None else None
        if self.ahead is None or parts is None:
            keys = [batch.keys[: batch.kept] for batch in batches]
            rows = self.front.pull(keys, batches, pull)
        else:
            rows = [self.front.bring(part) for part in self.ahead.take(parts, pull)]
        if self.max_norm is not None:
            for part, batch in zip(rows, batches, strict=True):
                self._shorten(part, batch.keys, self.max_norm, trains)
        return tuple(batch.with_padding(part) for part, batch in zip(rows, batches, strict=True))

    def _pull(self, keys: Sequence[torch.Tensor], of: Sequence[Batch]) -> list[torch.Tensor]:
        """Pull rows of the embeddings of batches, by one pull."""
        values, rows = _empty(
            [(len(some), batch.ids.dim) for some, batch in zip(keys, of, strict=True)],
            self.dtype,
            self.front.is_pinned,
        )
        self.kv.pull(joined(keys), values)
        return rows

    def _shorten(self, rows: torch.Tensor, keys: torch.Tensor, to: MaxNorm, trains: bool) -> None:
        before = rows.clone()
        torch.embedding_renorm_(rows, torch.arange(len(rows), device=rows.device), to.most, to.order)
        changed = (rows != before).any(1).nonzero().view(-1)
        if trains and len(changed):
            self.kv.set(keys[changed.cpu()], on_host(rows[changed]))

    def push(self, batches: Sequence[Batch], gradients: Sequence[torch.Tensor | None]) -> None:
        """Push the gradients of rows, without those of paddings and of what has none."""
        pairs = [(batch, one) for batch, one in zip(batches, gradients, strict=True) if one is not None]
        keys = joined([batch.keys[: batch.trained] for batch, _ in pairs])
        values = on_host(joined([one[: batch.trained].reshape(-1) for batch, one in pairs]))
        if not len(keys):
            return
        if self.ahead is not None:
            self.ahead.note_pushed(keys)
        if not self.asynchronous:
            self.kv.push(keys, values)
            return
        while self._pushes and self._pushes[0].done():
            self._pushes.popleft().wait()  # raises what went wrong
        self._pushes.append(self.kv.push(keys, values, asynchronous=True))

    def wait(self, timeout: float | None = None) -> None:
        """Wait until all pushes have ended."""
        while self._pushes:
            self._pushes[0].wait(timeout)
            self._pushes.popleft()


class _LookUp(torch.autograd.Function):
    """Rows that a worker pulls, and pushes the gradients of."""

    @staticmethod
    def forward(ctx: Any, _: torch.Tensor, rows: Rows, batches: Sequence[Batch]) -> tuple[torch.Tensor, ...]:
        ctx.rows, ctx.batches = rows, batches
        ctx.save_for_backward(*(batch.keys for batch in batches))
        ctx.set_materialize_grads(False)  # no step for the rows of a batch that the loss does not depend on
        return rows.pull(batches, trains=True)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[None, None, None]:
        _ = (
            ctx.saved_tensors
        )  # raises torch's errors: an earlier backward has freed them, or ids were written to
        ctx.rows.push(ctx.batches, gradients)
        return None, None, None


def _empty(
    shapes: list[tuple[int, int]], dtype: torch.dtype, is_pinned: bool
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return memory for rows, and its parts; with one shape that is no view, so that users may write to it."""
    if len(shapes) == 1:
        values = torch.empty(shapes[0], dtype=dtype, pin_memory=is_pinned)
        return values, [values]
    sizes = [count * dim for count, dim in shapes]
    values = torch.empty(sum(sizes), dtype=dtype, pin_memory=is_pinned)
    return values, [part.view(shape) for part, shape in zip(torch.split(values, sizes), shapes, strict=True)]


def joined(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the elements of tensors, one after another; one tensor is not copied."""
    return parts[0] if len(parts) == 1 else torch.cat(tuple(parts))
