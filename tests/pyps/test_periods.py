"""`pyps.Periods`: what a node's workers found here and elsewhere, period by period."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

import pyps
from tests.pyps.conftest import Start

NUM_KEYS = 40
HOME = [np.arange(rank, NUM_KEYS, 2) for rank in range(2)]  # by node, of two


def ones(keys: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return np.ones(len(keys), np.int64)


def test_each_period_has_its_own_share_of_local_keys(cluster: Start, tmp_path: Path) -> None:
    path = tmp_path / "periods.jsonl"
    first, _ = cluster(2, NUM_KEYS, 1, dtype="int64")
    both = np.concatenate(HOME)
    with first.worker() as kv, first.worker() as other:
        kv.push(HOME[1], ones(HOME[1]))  # before it begins
        periods = pyps.Periods(kv, other, path=path)
        before = time.time()
        kv.push(both, ones(both))
        other.pull(HOME[0], ones(HOME[0]))
        mixed = periods.end(epoch=1)
        kv.localize(HOME[1][:15])
        moved = periods.end(epoch=2)
        other.set(HOME[1], ones(HOME[1]))
        after = periods.end(epoch=3, note="all moved")
        empty = periods.end()
    assert [row["local_share"] for row in (mixed, moved, after, empty)] == [40 / 60, None, 15 / 20, None]
    assert [mixed[name] for name in ("pulls", "pushes", "keys_pulled", "keys_pushed", "keys_local")] == [
        *(1, 1, 20, 40, 40)
    ]
    assert [row["relocations_in"] for row in (mixed, moved, after, empty)] == [0, 15, 0, 0]
    assert [row["keys_held"] for row in (mixed, moved, after, empty)] == [20, 35, 35, 35]
    assert mixed["remote_operations"] == after["remote_operations"] == 1
    assert mixed["remote_wait_ns"] > 0 == empty["remote_wait_ns"]
    assert (after["epoch"], after["note"], after["node"]) == (3, "all moved", 0)
    assert before <= mixed["time"] <= empty["time"] <= time.time()
    assert all(0 < row["seconds"] <= time.time() - before for row in (mixed, moved, after, empty))
    assert [json.loads(line) for line in path.read_text().splitlines()] == [mixed, moved, after, empty]


def test_lines_come_behind_those_that_are_there(kv: pyps.LocalWorker, tmp_path: Path) -> None:
    path = tmp_path / "periods.jsonl"
    path.write_text('{"epoch": 0}\n')
    pyps.Periods(kv, path=str(path)).end(epoch=1)
    assert [json.loads(line)["epoch"] for line in path.read_text().splitlines()] == [0, 1]


def test_workers_of_several_nodes_or_none_are_refused(kv: pyps.LocalWorker, server: pyps.Server) -> None:
    with pytest.raises(ValueError, match="workers of one node, at least one"):
        pyps.Periods()
    with server.worker() as other, pytest.raises(ValueError, match="workers of one node"):
        pyps.Periods(kv, other)


def test_a_finalized_worker_ends_no_period(server: pyps.Server) -> None:
    kv = server.worker()
    periods = pyps.Periods(kv)
    kv.finalize()
    with pytest.raises(pyps.ClosedError):
        periods.end()
