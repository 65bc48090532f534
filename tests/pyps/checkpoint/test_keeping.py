"""Numbers, `latest`, `keep`, what lies in a directory, and what killed processes leave there."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import pyps
from pyps import checkpoint
from pyps.checkpoint.stored import Stored
from tests import soak
from tests.pyps.checkpoint.stores import save
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import Program


def test_the_newest_ones_are_kept(tmp_path: Path) -> None:
    assert checkpoint.latest(tmp_path / "none") is None
    with pyps.Server(3, 2) as server, server.worker() as kv:
        for number in range(1, 5):
            kv.set([0], np.full(2, number, np.float32))
            saved = checkpoint.save(tmp_path, server, keep=2)
            assert saved == checkpoint.latest(tmp_path) == tmp_path / f"checkpoint-{number:08d}"
        assert sorted(entry.name for entry in tmp_path.iterdir()) == [
            "checkpoint-00000003",
            "checkpoint-00000004",
        ]
        checkpoint.load(tmp_path, server)
        assert kv.pull([0])[0, 0] == 4
        checkpoint.load(tmp_path / "checkpoint-00000003", server)
        assert kv.pull([0])[0, 0] == 3


@pytest.mark.parametrize("count", [1, 2])
def test_two_at_once_are_two(count: int, tmp_path: Path) -> None:
    with Cluster(count, 100, 2) as cluster:
        saving = [
            checkpoint.save(tmp_path, node, background=True) for node in cluster.nodes for _ in range(2)
        ]
        names = sorted(future.result(50).name for future in saving)
        assert names == sorted([f"checkpoint-0000000{number}" for number in (1, 2)] * count)
        for name in names:
            Stored(tmp_path / name).require_complete()
        assert len(list(tmp_path.iterdir())) == 2


def test_the_library_of_safetensors_reads_shards(tmp_path: Path) -> None:
    with pyps.Server(3, [2, 1, 2], dtype="float64", optimizer="adam") as server, server.worker() as kv:
        kv.push([0, 1], np.ones(3))
        saved = checkpoint.save(tmp_path, server)
        values = kv.pull([0, 1, 2])
    (shard,) = Stored(saved).table.shards
    found = load_file(saved / shard.file)
    assert set(found) == {
        f"{name}.{n}" for name in ("keys", "values", "steps", "means", "squares") for n in (1, 2)
    }
    assert found["keys.2"].tolist() == [0, 2]
    assert found["values.2"].tolist() == [values[:2].tolist(), [0, 0]]
    assert found["values.1"].tolist() == [[values[2]]]
    assert found["steps.2"].tolist() == [1, 0]
    assert found["means.1"].shape == (1, 1)


def test_large_stores_have_several_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyps.checkpoint.rounds.SHARD_BYTES", 1000)
    monkeypatch.setattr("pyps.checkpoint.rows.CHUNK", 64)
    with pyps.Server(300, [1, 7] * 150) as server, server.worker() as kv:
        kv.set(np.arange(300), np.arange(1200, dtype=np.float32))
        saved = checkpoint.save(tmp_path, server)
        stored = Stored(saved)
        assert len(stored.table.shards) >= 5
        assert stored.table.keys == 300
        kv.set(np.arange(300), np.zeros(1200, np.float32))
        checkpoint.load(saved, server)
        assert (kv.pull(np.arange(300)) == np.arange(1200)).all()


SAVING = """
import pyps.checkpoint
with pyps.Server(20_000, 50) as server, server.worker() as kv:
    keys, number = np.arange(20_000), len(os.listdir(sys.argv[1]))
    if number:
        pyps.checkpoint.load(sys.argv[1], server)
    while True:
        number = int(kv.pull([0])[0, 0]) + 1
        kv.set(keys, np.full((20_000, 50), number, np.float32))
        print(number, pyps.checkpoint.save(sys.argv[1], server, keep=2).name, flush=True)
"""


@pytest.mark.long
def test_killed_processes_leave_a_whole_checkpoint(program: Program, tmp_path: Path) -> None:
    """The n-th checkpoint has the value n everywhere."""
    random = np.random.default_rng(os.getpid())
    last, leftovers = 0, 0
    for _ in range(soak.times(6)):
        process = program(SAVING, str(tmp_path))
        assert process.stdout is not None
        for _ in range(2):
            number, name = process.stdout.readline().split()
            last = int(number)
            assert name == f"checkpoint-{last:08d}"
        time.sleep(random.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=50)
        leftovers += len(list(tmp_path.glob(".saving-*")))
        newest = checkpoint.latest(tmp_path)
        assert newest is not None
        assert int(newest.name[-8:]) >= last
        with pyps.Server(20_000, 50) as server, server.worker() as kv:
            checkpoint.load(tmp_path, server)
            assert (kv.pull(np.arange(20_000)) == int(newest.name[-8:])).all()
    assert leftovers > 0
    with pyps.Server(20_000, 50) as server:
        checkpoint.save(tmp_path, server, keep=1)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_what_a_killed_node_has_left_does_not_confuse_others(tmp_path: Path) -> None:
    """A word of a dead node 1, and a meeting of a dead node 0."""
    (tmp_path / ".hello-1-0123456789abcdef").touch()
    (tmp_path / ".lock-dead").touch()
    (tmp_path / ".meeting-dead").mkdir()
    (tmp_path / ".meeting-dead" / "joined-1").touch()
    (tmp_path / ".saving-dead").mkdir()
    with Cluster(2, 100, 2) as cluster:
        save(tmp_path, cluster.nodes)
    assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint-00000001"]
