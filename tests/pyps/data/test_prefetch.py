"""Looking ahead in a loader: what comes early, and that nothing else changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import torch

import pyps
from pyps.nn.embeddings.module import ServerModule
from tests.pyps.cluster import Cluster

NUM, DIM, SIZE = 60, 4, 16
SGD = "sgd:lr=0.1"
Make = Callable[[pyps.Worker], ServerModule]


@contextmanager
def away(nodes: int = 2) -> Iterator[pyps.Worker]:
    """A worker some of whose rows are on other nodes, whose answers take 2 ms and more."""
    with Cluster(nodes, 1, transport="memory", slow=True) as cluster, cluster.nodes[0].worker() as kv:
        yield kv


def spread(ids: torch.Tensor) -> torch.Tensor:
    """Any numbers in place of small ones."""
    return ids * 0x9E3779B97F4A7C1 + 5


def embedding(kv: pyps.Worker, **options: Any) -> pyps.nn.Embedding:
    return pyps.nn.Embedding(NUM, DIM, kv, optimizer=SGD, **options)


def collection(kv: pyps.Worker) -> pyps.nn.EmbeddingCollection:
    embeddings = {
        "wide": pyps.nn.EmbeddingConfig(NUM, 2 * DIM),
        "narrow": pyps.nn.EmbeddingConfig(None, DIM, pooling="none"),
    }
    return pyps.nn.EmbeddingCollection(embeddings, kv, optimizer=SGD)


def batches(count: int = 12) -> list[torch.Tensor]:
    """Batches of which each has ids of those before it, and ids more than once."""
    random = torch.Generator().manual_seed(1)
    return list(torch.randint(NUM, (count, SIZE), generator=random))


def plain(ids: torch.Tensor) -> Any:
    return ids


def featured(ids: torch.Tensor) -> Any:
    return {"wide": ids.view(-1, 2), "narrow": ids.flip(0), "other": ids}


CASES: dict[str, tuple[Make, Callable[[torch.Tensor], Any]]] = {
    "embedding": (embedding, plain),
    "any numbers": (lambda kv: pyps.nn.Embedding(None, DIM, kv, optimizer=SGD), spread),
    "padding": (lambda kv: embedding(kv, padding_idx=3), plain),
    "padding among any numbers": (
        lambda kv: pyps.nn.Embedding(None, DIM, kv, optimizer=SGD, padding_idx=int(spread(torch.tensor(3)))),
        spread,
    ),
    "max_norm": (lambda kv: embedding(kv, max_norm=1.5), plain),
    "asynchronous": (lambda kv: embedding(kv, asynchronous=True), plain),
    "bags": (
        lambda kv: pyps.nn.EmbeddingBag(NUM, DIM, kv, optimizer=SGD),
        lambda ids: ids.view(-1, 2),
    ),
    "collection": (collection, featured),
}


def total(found: Any) -> torch.Tensor:
    rows = found.values() if isinstance(found, dict) else [found]
    return sum((row.square().sum() for row in rows), torch.zeros(()))


def step(module: ServerModule, ids: Any) -> torch.Tensor:
    """Train with one batch; return the loss before."""
    loss = total(module(ids))
    loss.backward()
    return loss.detach()


def trained(
    module: ServerModule, loader: Any, each: Callable[[ServerModule, Any], torch.Tensor] = step
) -> list[torch.Tensor]:
    """Train with all batches; return their losses."""
    losses = [each(module, batch) for batch in loader]
    module.wait()
    return losses


def check_same(
    make: Make, given: list[Any], each: Callable[[ServerModule, Any], torch.Tensor] = step, **options: Any
) -> None:
    """Training is the same, to the bit, with and without looking ahead."""
    with away() as kv:
        module = make(kv)
        expected = trained(module, given * 2, each)
    with away() as kv:
        module = make(kv)
        loader = pyps.data.prefetch(given, module, **options)
        found = trained(module, loader, each) + trained(module, loader, each)
        assert loader.counts[module].early > 0
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [1, 4])
@pytest.mark.parametrize("case", CASES)
def test_a_worker_alone_gets_what_it_gets_without(case: str, ahead: int) -> None:
    make, features = CASES[case]
    check_same(make, [features(ids) for ids in batches()], ahead=ahead)


@pytest.mark.slow
@pytest.mark.parametrize("intent", [True, False])
def test_what_is_pushed_beside_is_not_missed(intent: bool) -> None:
    """A step also trains rows that were not announced: those of the batches after it."""

    def more(module: ServerModule, ids: torch.Tensor) -> torch.Tensor:
        return step(module, ids) + step(module, (ids + 1) % NUM)

    check_same(embedding, batches(), more, ahead=3, intent=intent)


@pytest.mark.slow
def test_a_batch_that_is_looked_up_again_finds_its_own_push() -> None:
    def twice(module: ServerModule, ids: torch.Tensor) -> torch.Tensor:
        return step(module, ids) + step(module, ids)

    check_same(embedding, batches(), twice, ahead=2)


@pytest.mark.slow
def test_rows_that_no_batch_before_trains_all_come_early() -> None:
    with away() as kv:
        module = embedding(kv)
        apart = list(torch.arange(NUM).view(5, -1))
        loader = pyps.data.prefetch(apart, module, ahead=2)
        trained(module, loader)
        counts = loader.counts[module]
        assert (counts.rows, counts.early) == (NUM, NUM)
        assert kv.table("embedding").current_clock() == len(apart)


@pytest.mark.slow
def test_intents_bring_rows_here() -> None:
    with away() as kv:
        module = embedding(kv)
        before = module.table.stats()["keys_held"]
        with closing(iter(pyps.data.prefetch([torch.arange(NUM)] * 200, module))) as loader:
            for ids in loader:
                step(module, ids)
                if module.table.stats()["keys_held"] == NUM:
                    break
        assert before < NUM == module.table.stats()["keys_held"]


@pytest.mark.slow
def test_several_modules_find_their_ids_in_a_batch() -> None:
    with away() as kv:
        first, second = embedding(kv), embedding(kv, name="second")
        data = torch.utils.data.TensorDataset(torch.arange(NUM), torch.arange(NUM).flip(0))
        loader = torch.utils.data.DataLoader(data, batch_size=10)
        ahead = pyps.data.prefetch(loader, {first: 0, second: lambda batch: batch[1]})
        assert len(ahead) == len(loader) == 6
        for _ in range(2):
            for ids, others in ahead:
                (total(first(ids)) + total(second(others))).backward()
            assert [ahead.counts[module].early for module in (first, second)] == [NUM, NUM]


@pytest.mark.slow
def test_a_loader_may_have_processes() -> None:
    with away() as kv:
        module = embedding(kv)
        loader = torch.utils.data.DataLoader(range(NUM), batch_size=6, num_workers=2)
        seen = torch.cat(list(pyps.data.prefetch(loader, module)))
        assert seen.tolist() == list(range(NUM))


def test_a_node_alone_is_left_alone() -> None:
    with pyps.Server(1) as server, server.worker() as kv:
        module = embedding(kv)
        loader = pyps.data.prefetch(batches(), module)
        assert [*map(len, loader)] == [SIZE] * 12
        assert loader.counts == {}
        assert kv.table("embedding").current_clock() == 0


@pytest.mark.slow
def test_an_iteration_that_ends_early_leaves_nothing() -> None:
    with away() as kv:
        module = embedding(kv)
        loader = pyps.data.prefetch(batches(), module)
        with closing(iter(loader)) as some:
            step(module, next(some))
        trained(module, loader)
        assert loader.counts[module].rows > 0


@pytest.mark.slow
def test_one_iteration_at_a_time_looks_ahead_for_a_module() -> None:
    with away() as kv:
        module = embedding(kv)
        with closing(iter(pyps.data.prefetch(batches(), module))) as first:
            next(first)
            with pytest.raises(ValueError, match="is looked ahead for already"):
                next(iter(pyps.data.prefetch(batches(), module)))


@pytest.mark.slow
def test_wrong_ids_are_named_when_they_are_looked_at() -> None:
    with away() as kv:
        module = embedding(kv)
        for wrong, error in ((torch.tensor([NUM]), IndexError), (torch.tensor([0.5]), TypeError)):
            with pytest.raises(error):
                list(pyps.data.prefetch([*batches(1), wrong], module))
        step(module, batches(1)[0])  # it goes on


def test_what_cannot_be_looked_ahead_for_is_refused() -> None:
    with pyps.Server(1) as server, server.worker() as kv:
        module = embedding(kv)
        with pytest.raises(ValueError, match="ahead is 0; it must be at least 1"):
            pyps.data.prefetch([], module, ahead=0)
        with pytest.raises(ValueError, match="no embeddings"):
            pyps.data.prefetch([], {})
        with pytest.raises(TypeError, match=r"modules of pyps\.nn"):
            pyps.data.prefetch([], {torch.nn.Embedding(2, 2): 0})  # type: ignore[dict-item]
