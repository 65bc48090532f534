"""What was saved comes back: on other numbers of nodes, of every kind of store, with what the optimizer keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import _core, checkpoint
from pyps.checkpoint.rows import row_type, sizes
from pyps.checkpoint.state import STATES
from pyps.dtypes import DTYPES
from tests.pyps.checkpoint.stores import COUNT, STORES, content, keys_of, load, save, train
from tests.pyps.cluster import Cluster

OPTIMIZERS = [
    "",
    "sgd:momentum=0.5",
    "adagrad:lr_decay=0.1",
    "rowwise_adagrad",
    "adam:amsgrad=1",
    "rmsprop:centered=1,momentum=0.5",
    "ftrl",
]


@pytest.mark.slow
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("nodes", [(1, 1), (1, 4), (4, 2), (2, 1)])
def test_rows_come_back_on_any_number_of_nodes(store: str, nodes: tuple[int, int], tmp_path: Path) -> None:
    keys = keys_of(store)
    with Cluster(nodes[0], **STORES[store], optimizer="adam") as cluster:
        with cluster.nodes[-1].worker() as kv:
            train(kv, keys)
            kv.pull(keys)
            kv.localize(keys[::5])
        before = content(cluster.nodes, keys)
        save(tmp_path, cluster.nodes)
    with Cluster(nodes[1], **STORES[store], optimizer="adam") as cluster:
        load(tmp_path, cluster.nodes)
        assert content(cluster.nodes, keys) == before


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training_goes_on_bit_equal(optimizer: str, tmp_path: Path) -> None:
    keys = np.arange(COUNT)
    with pyps.Server(COUNT, 5, optimizer=optimizer) as whole, whole.worker() as kv:
        train(kv, keys, seed=1)
        train(kv, keys, seed=2)
        expected = kv.pull(keys)
    with pyps.Server(COUNT, 5, optimizer=optimizer) as first, first.worker() as kv:
        train(kv, keys, seed=1)
        checkpoint.save(tmp_path, first)
    with pyps.Server(COUNT, 5, optimizer=optimizer) as second, second.worker() as kv:
        train(kv, keys, seed=3)  # is forgotten
        checkpoint.load(tmp_path, second)
        train(kv, keys, seed=2)
        assert kv.pull(keys).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "optimizer", [*OPTIMIZERS, "sgd", "adagrad", "adamw", "rmsprop", "rmsprop:centered=1"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_the_layout_of_rows_is_the_cores(optimizer: str, dtype: str) -> None:
    with pyps.Server(3, [1, 2, 7], dtype=dtype, optimizer=optimizer) as server:
        lengths, nbytes = sizes(server, np.arange(3))
        types = [row_type(int(length), DTYPES[dtype], server.optimizer_text()) for length in lengths]
    assert [kind.itemsize for kind in types] == nbytes.tolist()


def test_every_optimizer_has_a_layout() -> None:
    with pytest.raises(ValueError, match="there are") as refusal:
        _core.read_optimizer("none")
    assert str(refusal.value).rpartition("there are ")[2].split(", ") == list(STATES)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("float32", "float64"),
        ("float32", "bfloat16"),
        ("bfloat16", "float16"),
        ("float64", "float32"),
        ("int32", "int64"),
    ],
)
@pytest.mark.parametrize("nodes", [1, 2])
def test_values_come_back_in_another_dtype(source: str, target: str, nodes: int, tmp_path: Path) -> None:
    """The numbers are such that all dtypes have them."""
    keys = np.arange(COUNT)
    optimizer = "" if source.startswith("int") else "adagrad"
    with pyps.Server(COUNT, 5, dtype=source, optimizer=optimizer) as server, server.worker() as kv:
        values = (
            np.random.default_rng(1)
            .integers(-9, 9, (COUNT, 5))
            .astype(DTYPES[source].name if source != "bfloat16" else "float32")
        )
        kv.set(keys, values if source != "bfloat16" else _bfloat16(values))
        checkpoint.save(tmp_path, server)
    with Cluster(nodes, COUNT, 5, dtype=target, optimizer=optimizer) as cluster:
        load(tmp_path, cluster.nodes)
        with cluster.nodes[-1].worker() as kv:
            found = kv.pull(keys)
        assert (np.asarray(found.float() if target == "bfloat16" else found) == values).all()


def _bfloat16(values: Any) -> Any:
    import torch

    return torch.from_numpy(values).bfloat16()


def test_the_settings_of_the_optimizer_come_back(tmp_path: Path) -> None:
    optimizer = pyps.optim.Adagrad(lr=0.5)
    with pyps.Server(4, 2, optimizer=optimizer) as server:
        optimizer.param_groups[0]["lr"] = 0.1 + 0.2
        checkpoint.save(tmp_path, server)
    with Cluster(2, 4, 2, optimizer="adagrad:lr=7") as cluster:
        load(tmp_path, cluster.nodes)
        for node in cluster.nodes:
            assert node.optimizer is not None
            assert node.optimizer.param_groups[0]["lr"] == 0.1 + 0.2


def test_values_alone_come_back_without_the_optimizer(tmp_path: Path) -> None:
    keys = np.arange(COUNT)
    with pyps.Server(COUNT, 5, optimizer="adam") as server, server.worker() as kv:
        train(kv, keys)
        expected = kv.pull(keys)
        checkpoint.save(tmp_path, server)
    for optimizer in ("", "sgd:momentum=0.5"):
        with pyps.Server(COUNT, 5, optimizer=optimizer) as server, server.worker() as kv:
            checkpoint.load(tmp_path, server, values_only=True)
            assert (kv.pull(keys) == expected).all()


def test_replicas_show_what_was_loaded(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, server.worker() as kv:
        kv.set(np.arange(4), np.full((4, 2), 7, np.float32))
        checkpoint.save(tmp_path, server)
    with Cluster(2, 4, 2, techniques="replication_only") as cluster:
        workers = [node.worker() for node in cluster.nodes]
        for kv in workers:
            kv.intent(np.arange(4), 0, 9)
            kv.wait_sync()
        assert all(node.stats()["replicas_held"] for node in cluster.nodes)
        load(tmp_path, cluster.nodes)
        for kv in workers:
            with kv:
                assert (kv.pull(np.arange(4)) == 7).all()


def test_processes_that_are_attached_can_save(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, server.worker() as kv:
        kv.push(np.arange(4), np.ones((4, 2), np.float32))
        attached = pyps.attach(server.address)
        assert checkpoint.save(tmp_path, attached).name == "checkpoint-00000001"
        kv.push(np.arange(4), np.ones((4, 2), np.float32))
        checkpoint.load(tmp_path, attached)
        assert (kv.pull(np.arange(4)) == 1).all()
        attached.shutdown()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("count", [1, 2])
def test_a_range_of_keys_comes_back_and_others_stay(store: str, count: int, tmp_path: Path) -> None:
    keys = keys_of(store)
    wanted = range(int(keys[30]), int(keys[5]) - 1, -1)  # ends are in it
    with Cluster(count, **STORES[store], optimizer="adagrad") as cluster:
        with cluster.nodes[-1].worker() as kv:
            train(kv, keys)
            kv.pull(keys)
            saved = content(cluster.nodes, keys)
            save(tmp_path, cluster.nodes)
            kv.push(keys, np.ones(kv.node.total_length(keys), np.float32))
            pushed = content(cluster.nodes, keys)
        load(tmp_path, cluster.nodes, keys=wanted)
        found = content(cluster.nodes, keys)
        assert found == {key: (saved if key in wanted else pushed)[key] for key in found}
        assert 0 < sum(key in wanted for key in found) < COUNT


@pytest.mark.parametrize("num_keys", [8, 3])
def test_a_range_of_keys_fits_a_server_with_more_or_fewer(num_keys: int, tmp_path: Path) -> None:
    with pyps.Server(5, 2) as server, server.worker() as kv:
        kv.push(np.arange(5), np.ones((5, 2), np.float32))
        checkpoint.save(tmp_path, server)
    with pyps.Server(num_keys, 2) as server, server.worker() as kv:
        with pytest.raises(pyps.CheckpointError, match="has 5 keys, the server has"):
            checkpoint.load(tmp_path, server)
        checkpoint.load(tmp_path, server, keys=range(1, min(num_keys, 6), 2))
        assert kv.pull(np.arange(num_keys))[:, 0].tolist() == [0, 1, 0, 1, 0, 0, 0, 0][:num_keys]
        checkpoint.load(tmp_path, server, keys=range(0))
        if num_keys == 3:
            with pytest.raises(pyps.CheckpointError, match="keys that the server cannot have"):
                checkpoint.load(tmp_path, server, keys=range(5))
