"""`prefetch`: rows of the next batches come while the model computes."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Generic, TypeVar

from pyps.nn.embeddings.ahead import Ahead, Counts
from pyps.nn.embeddings.ids import kept_keys
from pyps.nn.embeddings.module import ServerModule

T = TypeVar("T")  # a batch
IdsOf = Callable[[Any], Any]  # of an embedding, in a batch


class Prefetch(Generic[T]):
    """The batches of a loader, of which the next ones have been looked at; see `prefetch`.

    Attributes
    ----------
    counts : dict of module to Counts
        Of the last iteration, or the one that goes on: how many rows its batches used, and how many were pulled ahead.
    """

    def __init__(
        self,
        loader: Iterable[T],
        embeddings: ServerModule | Mapping[ServerModule, object],
        *,
        ahead: int = 2,
        intent: bool = True,
        timeout: float | None = None,
    ) -> None:
        if ahead < 1:
            raise ValueError(f"ahead is {ahead}; it must be at least 1 batch")
        given = {embeddings: _itself} if isinstance(embeddings, ServerModule) else dict(embeddings)
        if not given:
            raise ValueError("there are no embeddings to look ahead for")
        for module in given:
            if not isinstance(module, ServerModule):
                raise TypeError(f"embeddings has a {type(module).__name__}; it must have modules of pyps.nn")
        self.loader, self.ahead, self.intent, self.timeout = loader, ahead, intent, timeout
        self.counts: dict[ServerModule, Counts] = {}
        # One node alone has all rows.
        self._ids = {module: _reader(which) for module, which in given.items() if module.table.places > 1}

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[T]:
        batches = iter(self.loader)
        waiting: deque[T] = deque()
        with self._looking_ahead() as looks:
            while True:
                for found in itertools.islice(batches, self.ahead + 1 - len(waiting)):
                    self._look_at(found, looks, len(waiting))
                    waiting.append(found)
                if not waiting:
                    return
                for look in looks.values():
                    look.begin_turn()
                yield waiting.popleft()
                for module, look in looks.items():
                    look.end_turn()
                    module.kv.advance_clock()

    @contextmanager
    def _looking_ahead(self) -> Iterator[dict[ServerModule, Ahead]]:
        with ExitStack() as stack:
            looks = {module: stack.enter_context(module.looking_ahead(self.timeout)) for module in self._ids}
            self.counts = {module: look.counts for module, look in looks.items()}
            yield looks

    def _look_at(self, batch: T, looks: Mapping[ServerModule, Ahead], turns: int) -> None:
        """Say that a batch will be used after so many others, and begin to pull its rows."""
        for module, ids_of in self._ids.items():
            batches = module.batches(ids_of(batch))
            if self.intent:
                start = module.kv.current_clock() + turns
                module.kv.intent(kept_keys(batches), start, timeout=self.timeout)
            looks[module].add(batches)


def prefetch(
    loader: Iterable[T],
    embeddings: ServerModule | Mapping[ServerModule, object],
    *,
    ahead: int = 2,
    intent: bool = True,
    timeout: float | None = None,
) -> Prefetch[T]:
    """Look ahead in a loader: pull the rows of the next batches while the model computes.

    Where a server has one node, nothing is done: its rows are there.

    A batch counts as done when the next one is asked for. Rows that a batch before trains are pulled after that has
    been done. So a worker alone gets the results that it gets without looking ahead; what others have pushed to a row
    since it was pulled, at most `ahead` batches before, is missing in it.

    Parameters
    ----------
    loader : iterable
        For example a `torch.utils.data.DataLoader`.
    embeddings : module of pyps.nn, or mapping of these
        A module whose ids, as its forward takes them, are the batches themselves. Or for each module where its ids are
        in a batch: a key or an index, or a function of the batch.
    ahead : int
        How many batches are looked at before their turn, at least 1.
    intent : bool
        On several nodes, signal intent for these batches as well, so that rows that are used again come here. The
        clocks of the modules' workers are advanced by one for each batch.
    timeout : float, optional
        Seconds for each wait; default 300.

    Returns
    -------
    Prefetch
        To be iterated, as often as the loader. One iteration at a time may look ahead for a module.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong. Also while it is iterated: ids do not fit, which their forward would raise as well.

    Examples
    --------
    >>> import pyps, torch
    >>> data = torch.utils.data.TensorDataset(torch.arange(64), torch.rand(64))
    >>> loader = torch.utils.data.DataLoader(data, batch_size=16)
    >>> with pyps.Server(1) as server, server.worker() as kv:
    ...     embedding = pyps.nn.Embedding(1000, 8, kv, optimizer="adagrad:lr=0.1")
    ...     for ids, targets in prefetch(loader, {embedding: 0}):
    ...         (embedding(ids).sum(1) - targets).square().mean().backward()
    """
    return Prefetch(loader, embeddings, ahead=ahead, intent=intent, timeout=timeout)


def _itself(batch: Any) -> Any:
    return batch


def _reader(which: object) -> IdsOf:
    return which if callable(which) else lambda batch: batch[which]
