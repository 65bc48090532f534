"""Nodes in processes of their own: pushes while all of them save, and nodes that are killed meanwhile."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from pyps import checkpoint
from pyps.checkpoint.stored import Stored
from tests import soak
from tests.pyps.checkpoint.stores import load
from tests.pyps.cluster import Cluster as Restored
from tests.pyps.nodes import Cluster

KEYS, LENGTH = 3000, 3
PUSH = (
    "[kv.localize(np.arange(node.rank, 3000, 97), asynchronous=True),"
    " kv.push(np.arange(3000), np.ones((3000, 3), np.int64))][:0]"
)


def saving(place: Path) -> str:
    return f"str(__import__('pyps.checkpoint').checkpoint.save({str(place)!r}, node, keep=3, timeout=20))"


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_attached_workers_push_while_nodes_save(count: int, tmp_path: Path) -> None:
    """Each push is of ones to all keys, so each key's number tells how many pushes it has had."""
    with Cluster(count, num_keys=KEYS) as cluster:
        workers = [cluster.attach(rank) for rank in range(count)]
        acknowledged = 0
        for _ in range(soak.times(3)):
            for node in cluster.nodes:
                node.write(saving(tmp_path))
            for worker in workers:
                worker.write(f"[{PUSH} for _ in range(20)][:0]")
            saved = [node.read() for node in cluster.nodes]
            for worker in workers:
                assert worker.read()["value"] == []
            assert len({report["value"] for report in saved}) == 1
            stored = Stored(saved[0]["value"])
            stored.require_complete()
            for shard in stored.table.shards:
                stored.verify(shard)
                for group in stored.groups(shard):
                    values = group.fields["values"]
                    assert (values == values[:, :1]).all()
                    assert values.min() >= acknowledged
                    assert values.max() <= acknowledged + 20 * count
            acknowledged += 20 * count
        for node in cluster.nodes:
            node.leave()
        assert [node.read() for node in cluster.nodes] == ["ended"] * count


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_node_leaves_the_earlier_checkpoint(victim: int, tmp_path: Path) -> None:
    random = np.random.default_rng(victim)
    for number in range(1, 1 + soak.times(1)):
        with Cluster(2, num_keys=KEYS) as cluster:
            for node in cluster.nodes:
                node.write(saving(tmp_path))
            first, _ = (node.read()["value"] for node in cluster.nodes)
            cluster.nodes[0].value("kv.push(np.arange(3000), np.ones((3000, 3), np.int64))")
            for node in cluster.nodes:
                node.write(saving(tmp_path))
            time.sleep(random.random() * 0.02)
            cluster.nodes[victim].kill()
            report = cluster.nodes[1 - victim].read()
            assert "value" in report or report["error"] in ("NodeLost", "CheckpointError")
            assert report["seconds"] < 10  # nobody waits for the killed one to leave
        newest = checkpoint.latest(tmp_path)
        assert newest is not None
        assert newest >= Path(first)
        with Restored(4, KEYS, LENGTH, dtype="int64") as restored:
            load(tmp_path, restored.nodes)
            with restored.nodes[number % 4].worker() as kv:
                assert (kv.pull(np.arange(KEYS)) == (0 if newest == Path(first) else 1)).all()
