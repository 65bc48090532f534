"""`EmbeddingCollection`: embeddings that one request looks up, and one updates."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import torch

from pyps.contents import DEFAULT_CAPACITY
from pyps.length_classes import MOST_CLASSES, MOST_IDS
from pyps.nn.embeddings.compiling import not_compiled
from pyps.nn.embeddings.device import DeviceCache, Front
from pyps.nn.embeddings.features import Feature, read_features
from pyps.nn.embeddings.ids import Batch, Ids, distinct
from pyps.nn.embeddings.module import ServerModule
from pyps.nn.embeddings.pooling import Bags, pool
from pyps.nn.embeddings.rows import Rows, joined
from pyps.nn.embeddings.tables import TableOptions, open_table
from pyps.node import Worker

if TYPE_CHECKING:
    from pyps.optim import Optimizer

POOLINGS = ("sum", "mean", "max", "none")


@dataclass(frozen=True)
class EmbeddingConfig:
    """One embedding of a collection.

    Attributes
    ----------
    num : int or None
        Ids are 0 to ``num - 1``; None: any of 0 to ``2**56 - 1``, and a row begins when its id is used first.
    dim : int
        Elements of a row.
    features : sequence of str
        Which features have ids of it; by default the one with the embedding's name.
    pooling : str
        What becomes of the rows of a bag: "sum", "mean", "max"; or "none", they stay as they are.
    """

    num: int | None
    dim: int
    features: Sequence[str] = ()
    pooling: str = "sum"

    def __post_init__(self) -> None:
        if self.num is not None and self.num < 1:
            raise ValueError(f"num is {self.num}; it must be at least 1, or None for any numbers")
        if self.pooling not in POOLINGS:
            raise ValueError(f"pooling is {self.pooling!r}; it must be one of {', '.join(POOLINGS)}")


class EmbeddingCollection(ServerModule):
    """Embeddings whose rows are in one table of a server, so that a batch needs one pull, and its gradients one push.

    They have one optimizer, dtype and initializer; embeddings that differ in these belong into collections of their
    own. If all have a `num` and the same `dim`, their keys are a range, one embedding after another; else the topmost
    byte of a key is the number of its embedding, as `pyps.classed_keys` makes it.

    Parameters
    ----------
    embeddings : mapping of str to EmbeddingConfig
        By name. The order counts: all processes must have the same.
    kv : pyps.Worker
        Of a server or node, which then gets a named table for the rows, or has it; or of a table that is there, which
        must fit.
    optimizer : pyps.optim.Optimizer or str
        Of the table that is made.
    name : str
        Of that table, by default "embedding". Collections of one name, in all processes, have the same rows.
    asynchronous, persistent, device, cache
        As for `Embedding`.
    capacity : int, optional
        If keys have an embedding's number: how many rows of all embeddings each node has room for; by default the sum
        of each `num`, and 1,000,000 for each embedding without it.
    dtype, initializer, memory_limit, eviction, max_age, admission, timeout
        As for `Embedding`.

    Raises
    ------
    TypeError, ValueError
        An argument is wrong, or the table is there with other options.

    Examples
    --------
    >>> import pyps, torch
    >>> embeddings = {
    ...     "users": pyps.nn.EmbeddingConfig(None, 8),
    ...     "words": pyps.nn.EmbeddingConfig(1000, 4, features=("title", "text"), pooling="mean"),
    ... }
    >>> with pyps.Server(1) as server, server.worker() as kv:
    ...     collection = pyps.nn.EmbeddingCollection(embeddings, kv, optimizer="adagrad:lr=0.1")
    ...     title = pyps.nn.Jagged(torch.tensor([1, 2, 9]), lengths=torch.tensor([2, 1]))
    ...     text = torch.tensor([[5, 6, 7], [1, 5, 3]])
    ...     rows = collection({"users": torch.tensor([2**40, 7]), "title": title, "text": text})
    ...     print({feature: tuple(found.shape) for feature, found in rows.items()})
    {'users': (2, 8), 'title': (2, 4), 'text': (2, 4)}
    """

    def __init__(
        self,
        embeddings: Mapping[str, EmbeddingConfig],
        kv: Worker,
        *,
        optimizer: Optimizer | str | None = None,
        name: str | None = None,
        asynchronous: bool = False,
        persistent: bool = True,
        device: torch.device | str | None = None,
        cache: DeviceCache | None = None,
        **options: Unpack[TableOptions],
    ) -> None:
        features = {one: tuple(its.features) or (one,) for one, its in embeddings.items()}
        named = [*itertools.chain(*features.values())]
        if twice := sorted({feature for feature in named if named.count(feature) > 1}):
            raise ValueError(f"feature {', '.join(twice)} is named more than once")
        ids, num_keys = _key_spaces(embeddings)
        rooms = [DEFAULT_CAPACITY if its.num is None else its.num for its in embeddings.values()]
        dims = [its.dim for its in embeddings.values()]
        lengths = dims[:1] if len(set(dims)) == 1 else dims
        room = sum(rooms) if num_keys is None else None
        front = Front(device, cache)
        table, worker, _ = open_table(kv, name, lengths, num_keys, optimizer, options, room)
        super().__init__(Rows(table, worker, asynchronous, front), persistent)
        self.embeddings, self._features, self._ids = dict(embeddings), features, ids

    @not_compiled
    def forward(self, features: Any) -> dict[str, torch.Tensor]:
        """Return the rows of features.

        Parameters
        ----------
        features : mapping or object
            By name: a tensor of shape (bags,), for one id each, or (bags, n); `Jagged`, or a pair of values and
            lengths; or an object with methods `values` and `lengths`. Or an object with methods `keys`, `values` and
            `lengths` that has the bags of the first feature, then those of the second and so on, as torchrec's
            KeyedJaggedTensor. Features of no embedding are left alone.

        Returns
        -------
        dict of str to tensor
            For each feature (bags, dim), in the table's dtype. With pooling "none" a row for each id: the shape of the
            ids, which are the values of bags of different lengths, and `dim`.

        Raises
        ------
        IndexError
            There is no such id.
        TypeError, ValueError
            A feature is missing or does not fit.
        ClosedError, NodeLost, WaitTimeoutError
            The rows cannot be reached.
        """
        found = self._read(features)
        batches, positions = zip(*(self._batch(name, its) for name, its in found.items()), strict=True)
        looked_up = self._rows.look_up(batches, self.training)
        bags: dict[str, Bags] = {}
        of: list[torch.Tensor] = []
        for (name, its), at, rows in zip(found.items(), positions, looked_up, strict=True):
            parts = torch.split(at.to(self.device), [feature.ids.numel() for feature in its])
            for feature, part in zip(its, parts, strict=True):
                bags[feature.name] = _bags(feature, part, self.embeddings[name].pooling)
                of.append(rows)
        return dict(zip(bags, pool(list(bags.values()), of), strict=True))

    def extra_repr(self) -> str:
        """Return what `repr` says of the module."""
        return ", ".join(f"{name}: {its.num} x {its.dim}" for name, its in self.embeddings.items())

    def _read(self, features: Any) -> dict[str, list[Feature]]:
        found = read_features(features, itertools.chain(*self._features.values()), self.device)
        return {name: [found[feature] for feature in its] for name, its in self._features.items()}

    def _batch(self, name: str, features: Sequence[Feature]) -> tuple[Batch, torch.Tensor]:
        return distinct(joined([feature.ids.reshape(-1) for feature in features]), self._ids[name])

    def batches(self, ids: Any) -> Sequence[Batch]:
        """Return what a forward with these features looks up, by embedding; errors are those of `forward`."""
        return [self._batch(name, its)[0] for name, its in self._read(ids).items()]

    def _embeddings(self) -> dict[str, Ids]:
        return {f"{name}.": ids for name, ids in self._ids.items()}


def _key_spaces(embeddings: Mapping[str, EmbeddingConfig]) -> tuple[dict[str, Ids], int | None]:
    """Return the ids of each embedding, and how many keys there are; None if these are not a range."""
    if not embeddings:
        raise ValueError("there are no embeddings")
    nums = [its.num for its in embeddings.values()]
    if None not in nums and len({its.dim for its in embeddings.values()}) == 1:
        ends = [*itertools.accumulate(num for num in nums if num is not None)]
        firsts = [0, *ends[:-1]]
    else:
        if len(embeddings) > MOST_CLASSES:
            raise ValueError(
                f"there are {len(embeddings)} embeddings; one table has at most {MOST_CLASSES} of these"
            )
        ends = []
        firsts = [number * MOST_IDS for number in range(len(embeddings))]
    ids = {
        name: Ids(f"embedding {name!r}", its.dim, its.num, first, 0, MOST_IDS - 1)
        for (name, its), first in zip(embeddings.items(), firsts, strict=True)
    }
    return ids, ends[-1] if ends else None


def _bags(feature: Feature, positions: torch.Tensor, pooling: str) -> Bags:
    if feature.weights is not None and pooling != "sum":
        raise ValueError(
            f"feature {feature.name!r} has weights, which are for pooling 'sum', not {pooling!r}"
        )
    if feature.ids.dim() == 1 and feature.offsets is None:
        pooling = "none"  # a row for each bag
    offsets = None if feature.offsets is None else feature.offsets.to(positions.device)
    return Bags(positions.view(feature.ids.shape), pooling, offsets, weights=feature.weights)
