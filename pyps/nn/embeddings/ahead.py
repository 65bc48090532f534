"""Rows that are pulled before the batch that uses them has its turn, without another result for that.

A row that an earlier batch trains, which has not had its turn yet, is not pulled ahead: it is pulled when its own batch
has its turn, after the earlier one was pushed. So a worker finds all that it has pushed itself; what others push
meanwhile may be missing in rows that were pulled ahead.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from pyps.nn.embeddings.ids import Batch
from pyps.node import Worker
from pyps.timestamps import Timestamp

Pull = Callable[[list[torch.Tensor]], list[torch.Tensor]]  # of the rows of keys of each embedding


@dataclass
class Part:
    """The rows of one embedding that a batch uses.

    Attributes
    ----------
    keys : int64 tensor, shape (n,)
    ordered : int64 tensor, shape (n,)
        The same in ascending order.
    early, late : int64 tensors
        The positions of those that were pulled ahead, and of the others.
    values : tensor, shape (number of early ones, dim)
        Their rows.
    timestamp : Timestamp
        Of the pull into them.
    """

    keys: torch.Tensor
    ordered: torch.Tensor
    early: torch.Tensor
    late: torch.Tensor
    values: torch.Tensor
    timestamp: Timestamp


@dataclass
class Counts:
    """How many rows batches used that were looked ahead for, and how many of these were there already.

    Attributes
    ----------
    rows, early : int
        `early`: pulled ahead.
    seconds : float
        For how long batches that had their turn waited for rows.
    """

    rows: int = 0
    early: int = 0
    seconds: float = 0.0


@dataclass
class Ahead:
    """The batches that have not had their turn to the end, the next one first.

    Parameters
    ----------
    kv : Worker
        Of the rows' table.
    dtype : torch.dtype
        Of the rows.
    timeout : float, optional
        Seconds for each wait; default 300.
    is_pinned : bool
        Whether rows are pulled into pinned memory.
    """

    kv: Worker
    dtype: torch.dtype
    timeout: float | None = None
    is_pinned: bool = False
    counts: Counts = field(default_factory=Counts, init=False)
    _batches: deque[list[Part]] = field(default_factory=deque, init=False)
    _has_turn: bool = field(default=False, init=False)

    def add(self, batches: Sequence[Batch]) -> None:
        """Pull what a further batch uses and those before it do not train."""
        before = [part.ordered for parts in self._batches for part in parts]
        self._batches.append([self._begin(batch, before) for batch in batches])

    def begin_turn(self) -> None:
        """Let the next batch have its turn."""
        self._has_turn = True

    def end_turn(self) -> None:
        """Forget the batch that had its turn."""
        self._has_turn = False
        self._batches.popleft()

    def find(self, batches: Sequence[Batch]) -> list[Part] | None:
        """Return what there is for the rows of these batches, if they are those of the one that has its turn."""
        if not self._has_turn:
            return None
        parts = self._batches[0]
        same = len(parts) == len(batches) and all(
            torch.equal(part.keys, batch.keys[: batch.kept])
            for part, batch in zip(parts, batches, strict=True)
        )
        return parts if same else None

    def take(self, parts: Sequence[Part], pull: Pull) -> list[torch.Tensor]:
        """Return the rows of parts, of which `pull` pulls those that were not pulled ahead."""
        began = time.perf_counter()
        late = pull([part.keys[part.late] for part in parts])
        for part in parts:
            part.timestamp.wait(self.timeout)
        self.counts.seconds += time.perf_counter() - began
        for part in parts:
            self.counts.rows += len(part.keys)
            self.counts.early += len(part.early)
        return [self._assembled(part, missing) for part, missing in zip(parts, late, strict=True)]

    def note_pushed(self, keys: torch.Tensor) -> None:
        """Let rows that were pulled ahead and have been trained since be pulled when their batch has its turn."""
        if self._has_turn and _are_keys_of(self._batches[0], keys):
            self._batches[0] = []  # the usual case; no other batch was pulled these ahead
            return
        pushed = torch.sort(keys).values
        for parts in self._batches:
            for part in parts:
                is_old = _are_among(part.keys[part.early], pushed)
                if is_old.any():
                    part.timestamp.wait(self.timeout)
                    part.late = torch.cat((part.late, part.early[is_old]))
                    part.early, part.values = part.early[~is_old], part.values[~is_old]

    def _begin(self, batch: Batch, before: Sequence[torch.Tensor]) -> Part:
        keys = batch.keys[: batch.kept]
        ordered = keys if batch.padding is None else torch.sort(keys).values
        is_late = torch.zeros(len(keys), dtype=torch.bool)
        for others in before:
            is_late |= _are_among(keys, others)
        early, late = (~is_late).nonzero().view(-1), is_late.nonzero().view(-1)
        values = torch.empty(len(early), batch.ids.dim, dtype=self.dtype, pin_memory=self.is_pinned)
        timestamp = self.kv.pull(keys[early], values, asynchronous=True, timeout=self.timeout)
        return Part(keys, ordered, early, late, values, timestamp)

    def _assembled(self, part: Part, late: torch.Tensor) -> torch.Tensor:
        if not len(late):
            return part.values
        rows = torch.empty(len(part.keys), late.shape[1], dtype=late.dtype, pin_memory=self.is_pinned)
        return rows.index_copy_(0, part.early, part.values).index_copy_(0, part.late, late)


def _are_among(keys: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
    """Return which keys are among others, which are in ascending order."""
    if not len(others):
        return torch.zeros(len(keys), dtype=torch.bool)
    at = torch.searchsorted(others, keys).clamp_(max=len(others) - 1)
    return others[at] == keys


def _are_keys_of(parts: Sequence[Part], keys: torch.Tensor) -> bool:
    return (
        sum(len(part.keys) for part in parts) == len(keys)
        and bool(parts)
        and torch.equal(torch.cat([part.keys for part in parts]), keys)
    )
