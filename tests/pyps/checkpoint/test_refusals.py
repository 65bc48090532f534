"""What is wrong is named, and neither parameters nor earlier checkpoints have changed then."""

from __future__ import annotations

import hashlib
import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import checkpoint
from tests import soak
from tests.pyps.checkpoint.stores import COUNT, content, load, save, train
from tests.pyps.cluster import Cluster

KEYS = np.arange(COUNT)
OPTIONS: dict[str, Any] = {"num_keys": COUNT, "value_length": 5, "optimizer": "adagrad"}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A checkpoint of two shards."""
    with Cluster(2, **OPTIONS) as cluster:
        with cluster.nodes[0].worker() as kv:
            train(kv, KEYS)
        return save(tmp_path, cluster.nodes)


def change(path: Path, **changes: Any) -> None:
    found = json.loads(path.read_text())
    found["tables"][0] |= changes
    path.write_text(json.dumps(found))


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


SHARD = "node-1-00000.safetensors"
DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no manifest": (lambda path: (path / "manifest.json").unlink(), "is no checkpoint"),
    "half a manifest": (
        lambda path: (path / "manifest.json").write_bytes((path / "manifest.json").read_bytes()[:300]),
        "is no JSON",
    ),
    "a foreign manifest": (lambda path: (path / "manifest.json").write_text('{"a": 1}'), "format"),
    "a later version": (
        lambda path: (path / "manifest.json").write_text('{"format": "moontide checkpoint", "version": 4}'),
        "version 4",
    ),
    "a missing part of the manifest": (
        lambda path: (path / "manifest.json").write_text('{"format": "moontide checkpoint", "version": 1}'),
        "'tables' is missing",
    ),
    "a wrong part of the manifest": (lambda path: change(path / "manifest.json", optimizer=5), "is damaged"),
    "a shard elsewhere": (
        lambda path: change(
            path / "manifest.json",
            shards=[{"file": "../x", "rows": 1, "lengths": [1], "nbytes": 1, "sha256": "", "round": 1}],
        ),
        "no name of a shard",
    ),
    "a missing shard": (lambda path: (path / SHARD).unlink(), SHARD),
    "a torn shard": (
        lambda path: (path / SHARD).write_bytes((path / SHARD).read_bytes()[:-1]),
        "torn|outside",
    ),
    "a damaged shard": (lambda path: damage(path / SHARD), f"{SHARD} .* checksum"),
    "one shard less": (
        lambda path: change(
            path / "manifest.json",
            shards=json.loads((path / "manifest.json").read_text())["tables"][0]["shards"][:1],
        ),
        "has 30 keys of 60",
    ),
    "a shard twice": (
        lambda path: change(
            path / "manifest.json",
            shards=json.loads((path / "manifest.json").read_text())["tables"][0]["shards"][:1] * 2,
        ),
        "twice",
    ),
}


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_checkpoint_changes_nothing(what: str, nodes: int, saved: Path) -> None:
    harm, named = DAMAGES[what]
    harm(saved)
    with Cluster(nodes, **OPTIONS) as cluster:
        with cluster.nodes[0].worker() as kv:
            train(kv, KEYS, seed=9)
        before = content(cluster.nodes, KEYS)
        with pytest.raises(pyps.Error, match=named):
            load(saved, cluster.nodes)
        assert content(cluster.nodes, KEYS) == before


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "fewer keys": ({"num_keys": COUNT - 1}, "has 60 keys, the server has 59"),
    "any keys": ({"num_keys": None}, "has 60 keys, the server has any numbers"),
    "another length": ({"value_length": 6}, r"lengths \[5\], the server's have 6"),
    "other lengths": ({"value_length": [5] * 59 + [4]}, "length 5 for key 59, the server's length is 4"),
    "no optimizer": ({"optimizer": None}, "has optimizer adagrad, the server has none"),
    "another optimizer": ({"optimizer": "adam"}, "has optimizer adagrad, the server has adam"),
    "other state": ({"optimizer": "adagrad:lr_decay=1"}, "keeps sums, the server's keeps steps and sums"),
    "integers": ({"optimizer": None, "dtype": "int32"}, "adagrad"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_does_not_fit_changes_nothing(what: str, saved: Path) -> None:
    changes, named = OTHERS[what]
    with pyps.Server(**(OPTIONS | changes)) as server, server.worker() as kv:
        keys = np.arange(COUNT - 1)
        train(kv, keys, seed=9)
        kv.pull(keys)  # all exist
        before = content([server], keys)
        with pytest.raises(pyps.CheckpointError, match=named):
            checkpoint.load(saved, server)
        assert content([server], keys) == before


@pytest.mark.parametrize(
    ("source", "target", "number", "named"),
    [
        ("float32", "float16", 1e6, "too large for float16"),
        ("int64", "int32", 2**40, "too large for int32"),
        ("float32", "int32", 1, "do not become int32"),
    ],
)
def test_values_that_another_dtype_does_not_have_change_nothing(
    source: str, target: str, number: float, named: str, tmp_path: Path
) -> None:
    with pyps.Server(3, 2, dtype=source) as server, server.worker() as kv:
        kv.set([2], np.full(2, number, source))
        checkpoint.save(tmp_path, server)
    with pyps.Server(3, 2, dtype=target) as server, server.worker() as kv:
        kv.set([0, 1, 2], np.ones(6, target))
        with pytest.raises(pyps.CheckpointError, match=named):
            checkpoint.load(tmp_path, server)
        assert (kv.pull([0, 1, 2]) == 1).all()


def test_what_an_optimizer_keeps_fits_too(tmp_path: Path) -> None:
    with pyps.Server(3, 2, dtype="float64", optimizer="adagrad") as server, server.worker() as kv:
        kv.push([0], np.full(2, 1e100))  # a step of the learning rate, but a sum of 1e200
        checkpoint.save(tmp_path, server)
    with pyps.Server(3, 2, optimizer="adagrad") as server, server.worker() as kv:
        with pytest.raises(pyps.CheckpointError, match="too large for float32"):
            checkpoint.load(tmp_path, server)
        assert (kv.pull([0]) == 0).all()
        checkpoint.load(tmp_path, server, values_only=True)
        assert (kv.pull([0]) == np.float32(-0.01)).all()


@contextmanager
def small_disk() -> Iterator[None]:
    """No file can have more than 4 KB meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_full_disk_leaves_the_earlier_checkpoint(nodes: int, tmp_path: Path) -> None:
    with Cluster(nodes, 1000, 5) as cluster, cluster.nodes[-1].worker() as kv:
        train(kv, np.arange(1000))
        kv.localize(np.arange(1000))  # so that this node has all of it to write
        first = save(tmp_path, cluster.nodes)
        before = kv.pull(np.arange(1000))
        train(kv, np.arange(1000))
        with small_disk():
            errors = []
            for future in [checkpoint.save(tmp_path, node, background=True) for node in cluster.nodes]:
                errors.append(future.exception(50))
        assert isinstance(errors[-1], OSError)
        assert nodes == 1 or "node 1 failed: OSError" in str(errors[0])
        assert [entry.name for entry in tmp_path.iterdir()] == [first.name]
        load(tmp_path, cluster.nodes)
        assert (kv.pull(np.arange(1000)) == before).all()


@pytest.mark.slow
def test_a_node_that_does_not_come_is_named(tmp_path: Path) -> None:
    with Cluster(3, 4, 2) as cluster:
        # The one that looks for the others gives up first, however late it began.
        others = [
            checkpoint.save(tmp_path, node, background=True, timeout=timeout)
            for node, timeout in zip(cluster.nodes, (1, 20), strict=False)
        ]
        with pytest.raises(pyps.WaitTimeoutError, match=r"nodes \[2\] did not come"):
            others[0].result(50)
        assert isinstance(others[1].exception(50), pyps.Error)
    assert list(tmp_path.iterdir()) == []


def test_a_lost_node_ends_it(tmp_path: Path) -> None:
    with Cluster(2, 4, 2, lost_after=1.5) as cluster:
        waiting = checkpoint.save(tmp_path, cluster.nodes[0], background=True)
        cluster.nodes[1].shutdown(timeout=0)
        with pytest.raises(pyps.NodeLost, match="node 1 has shut down"):
            waiting.result(50)
        cluster.nodes[0].shutdown(timeout=0)


def test_keep_is_at_least_one(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, pytest.raises(ValueError, match="keep is 0"):
        checkpoint.save(tmp_path, server, keep=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["manifest.json", SHARD])
def test_random_damage_raises_nothing_else_and_changes_nothing(name: str, saved: Path) -> None:
    """Digits and letters in place of others, so that much of it is still JSON; with the right checksum, too."""
    random = np.random.default_rng(1)
    whole = (saved / name).read_bytes()
    manifest = (saved / "manifest.json").read_text()
    begin = 8 if name == SHARD else 0
    with pyps.Server(**OPTIONS) as server, server.worker() as kv:
        train(kv, KEYS, seed=9)
        before, refused = content([server], KEYS), 0
        for _ in range(soak.times(150)):
            broken = bytearray(whole)
            for place in begin + random.integers(min(len(whole) - begin, 900), size=random.integers(1, 3)):
                broken[place] = random.choice(list(b'0123456789-[]{}",:.xe'))
            (saved / name).write_bytes(broken)
            if name == SHARD:
                checksum = hashlib.sha256(broken).hexdigest()
                (saved / "manifest.json").write_text(
                    manifest.replace(hashlib.sha256(whole).hexdigest(), checksum)
                )
            try:
                checkpoint.load(saved, server)
            except pyps.CheckpointError:
                refused += 1
                assert content([server], KEYS) == before
            else:
                before = content([server], KEYS)
        assert refused > soak.times(25)
