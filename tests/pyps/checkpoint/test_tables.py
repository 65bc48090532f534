"""All tables of a server in one checkpoint: what is in it, comes back, and becomes of those that are dropped."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import checkpoint
from pyps.checkpoint.stored import Stored
from tests import soak
from tests.pyps.any_keys import spread
from tests.pyps.checkpoint.named_tables import (
    KEYS,
    OPTIONS,
    contents,
    declare,
    keys_of,
    shards_here,
    train_all,
)
from tests.pyps.checkpoint.stores import content, load, save
from tests.pyps.checkpoint.test_refusals import small_disk
from tests.pyps.checkpoint.test_under_load import KEYS as LOADED
from tests.pyps.checkpoint.test_under_load import LENGTH, Load, pushes_in
from tests.pyps.cluster import TIMEOUT, Cluster
from tests.pyps.conftest import Program


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [(1, 2), (2, 1), (2, 4), (4, 2)])
def test_all_come_back_on_any_number_of_nodes(nodes: tuple[int, int], tmp_path: Path) -> None:
    """Tables that are missing are made as they were; those that are there have to fit."""
    with Cluster(nodes[0], KEYS, 2) as cluster:
        declare(cluster.nodes)
        train_all(cluster.nodes[-1])
        cluster.nodes[0].table("users").tune("lr=0.25")
        save(tmp_path, cluster.nodes)
        before = contents(cluster.nodes)
        assert list(before) == ["", *OPTIONS]
    with Cluster(nodes[1], KEYS, 2) as cluster:
        node = cluster.nodes[-1]
        declare([node], "items")
        load(tmp_path, cluster.nodes)
        assert contents(cluster.nodes) == before
        assert cluster.nodes[0].table("users").optimizer_text().startswith("adagrad:lr=0.25,")
        declare([node])  # programs that declare them later get the same ones


@pytest.mark.parametrize("options", [{"eviction": "lfu"}, {"max_age": 2.5}, {"admission": 3}])
def test_missing_tables_are_made_as_they_were(options: dict[str, Any], tmp_path: Path) -> None:
    with pyps.Server(1) as server, server.worker() as kv:
        server.table("users", dim=1, **options)
        kv.table("users").set([7], np.ones((1, 1), np.float32))
        saved = server.table_options("users")
        checkpoint.save(tmp_path, server)
    with pyps.Server(1) as server, server.worker() as kv:
        checkpoint.load(tmp_path, server)
        assert server.table_options("users") == saved
        assert kv.table("users").contains([7])[0]


@pytest.mark.slow
def test_fewer_nodes_have_room_for_all_keys(tmp_path: Path) -> None:
    keys = spread(300)
    with Cluster(4, 10) as cluster:
        cluster.nodes[0].table("users", dim=1, capacity=200)
        for rank, node in enumerate(cluster.nodes):
            with node.table("users").worker() as kv:
                kv.push(keys[rank::4], np.ones((75, 1), np.float32))
        save(tmp_path, cluster.nodes)
    with pyps.Server(10) as server, server.worker() as kv:
        checkpoint.load(tmp_path, server)
        assert server.table("users").options.split()[0] == "capacity=800"
        assert (kv.table("users").pull(keys) == 1).all()


@pytest.mark.slow
def test_changed_rows_alone_of_each_table(tmp_path: Path) -> None:
    with Cluster(2, KEYS, 2) as cluster, cluster.nodes[1].worker() as kv:
        declare(cluster.nodes)
        train_all(cluster.nodes[0])
        assert shards_here(save(tmp_path, cluster.nodes, full_every=9)) == dict.fromkeys(["", *OPTIONS], KEYS)
        kv.push([1, 2], np.ones((2, 2), np.float32))
        kv.table("users").push(keys_of("users")[:3], np.ones((3, 4), np.float32))
        cluster.nodes[1].drop_table("items", timeout=TIMEOUT)
        cluster.nodes[1].drop_table("words", timeout=TIMEOUT)
        cluster.nodes[0].table("words", dim=5, num_keys=7)  # another one of this name
        cluster.nodes[0].table("new", dim=1, num_keys=4)
        second = save(tmp_path, cluster.nodes, full_every=9, keep=1)
        assert shards_here(second) == {"": 2, "new": 4, "users": 3, "words": 7}
        assert Stored(second).manifest.earlier == 1
        names = ["", "new", "users"]
        before = {name: contents_of(cluster.nodes, name) for name in names}
    assert sorted(path.name[-1] for path in tmp_path.iterdir()) == ["1", "2"]  # both are needed
    with Cluster(1, KEYS, 2) as cluster:
        load(tmp_path, cluster.nodes)
        assert cluster.nodes[0].table_names() == ["new", "users", "words"]
        assert {name: contents_of(cluster.nodes, name) for name in names} == before


def contents_of(nodes: Sequence[pyps.Node], name: str) -> dict[int, bytes]:
    keys = np.arange(4) if name == "new" else keys_of(name)
    return content([node.table(name) if name else node for node in nodes], keys)


def test_what_a_table_alone_needs_of_an_earlier_checkpoint_is_kept(tmp_path: Path) -> None:
    """The server's own keys are all written, as their dtype is another one."""
    for dtype in ("float32", "float64"):
        with pyps.Server(KEYS, 2, dtype=dtype) as server:
            declare([server], "items")
            train_all(server)
            found = shards_here(checkpoint.save(tmp_path, server, full_every=9, keep=1))
            assert found == {"": KEYS, "items": KEYS if dtype == "float32" else 0}
            before = contents([server])
    assert len(list(tmp_path.iterdir())) == 2
    with pyps.Server(KEYS, 2, dtype="float64") as server:
        checkpoint.load(tmp_path, server)
        assert contents([server]) == before


@pytest.mark.slow
def test_pushes_to_a_table_that_were_acknowledged_before_are_in_and_later_ones_are_not(
    tmp_path: Path,
) -> None:
    keys = spread(LOADED)
    with Cluster(2, 10) as cluster:
        tables = [node.table("users", dim=LENGTH, dtype="float64") for node in cluster.nodes]
        with tables[0].worker() as kv:
            kv.pull(keys)
        work = Load(tables, keys)
        with work.running():
            for _ in range(soak.times(3)):
                before = work.acknowledged.sum(0)
                path = save(tmp_path, cluster.nodes, full_every=3)
                after = work.begun.sum(0)
                pushes = pushes_in(Stored(str(path)).named("users"), keys, ramp=False)
                assert (before <= pushes).all()
                assert (pushes <= after).all()
        assert work.acknowledged.sum() > 0


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_table_that_is_dropped_meanwhile_is_whole_or_left_out(count: int, tmp_path: Path) -> None:
    random = np.random.default_rng(count)
    left_out = 0
    with Cluster(count, KEYS, 2) as cluster:
        declare(cluster.nodes, "users")
        train_all(cluster.nodes[0])
        before = contents(cluster.nodes)
        for turn in range(soak.times(12)):
            brief = cluster.nodes[0].table("brief", dim=1 + turn, num_keys=500)
            with brief.worker() as kv:
                kv.push(np.arange(500), np.ones((500, 1 + turn), np.float32))
            saving = [checkpoint.save(tmp_path, node, keep=1, background=True) for node in cluster.nodes]
            time.sleep(random.random() * 0.03 * count)
            cluster.nodes[turn % count].drop_table("brief", timeout=TIMEOUT)
            (path,) = {future.result(TIMEOUT) for future in saving}
            names = [one.table.name for one in Stored(path).each()]
            assert names in (["", "brief", "users"], ["", "users"])
            left_out += "brief" not in names
            for one in Stored(path).each():
                one.require_complete()
            files = {shard.file for one in Stored(path).each() for shard in one.table.shards}
            assert {entry.name for entry in path.iterdir()} == {"manifest.json", *files}
        assert left_out > 0
        load(tmp_path, cluster.nodes, tables=["", "users"])
        assert {name: contents(cluster.nodes)[name] for name in before} == before


SAVING = """
import pyps.checkpoint
with pyps.Server(20_000, 20) as server, server.worker() as kv:
    if os.listdir(sys.argv[1]):
        pyps.checkpoint.load(sys.argv[1], server)
    server.table("users", dim=20, num_keys=20_000)
    keys, users = np.arange(20_000), kv.table("users")
    while True:
        number = int(kv.pull([0])[0, 0]) + 1
        kv.set(keys, np.full((20_000, 20), number, np.float32))
        users.set(keys, np.full((20_000, 20), number, np.float32))
        print(number, pyps.checkpoint.save(sys.argv[1], server, keep=2).name, flush=True)
"""


@pytest.mark.slow
def test_killed_processes_leave_a_checkpoint_that_is_whole_in_all_tables(
    program: Program, tmp_path: Path
) -> None:
    """The n-th checkpoint has the value n everywhere."""
    random = np.random.default_rng(5)
    for _ in range(soak.times(3)):
        process = program(SAVING, str(tmp_path))
        assert process.stdout is not None
        for _ in range(2):
            last = int(process.stdout.readline().split()[0])
        time.sleep(random.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=TIMEOUT)
        newest = checkpoint.latest(tmp_path)
        assert newest is not None
        number = int(newest.name[-8:])
        assert number >= last
        with pyps.Server(20_000, 20) as server, server.worker() as kv:
            checkpoint.load(tmp_path, server)
            for worker in (kv, kv.table("users")):
                assert (worker.pull(np.arange(20_000)) == number).all()


@pytest.mark.parametrize("count", [1, 2])
def test_a_full_disk_leaves_the_earlier_checkpoint(count: int, tmp_path: Path) -> None:
    """The server's own keys have been written when a table finds no room."""
    with Cluster(count, 10) as cluster:
        table = cluster.nodes[0].table("users", dim=50, num_keys=1000)
        first = save(tmp_path, cluster.nodes)
        with table.worker() as kv:
            kv.push(np.arange(1000), np.ones((1000, 50), np.float32))
        with small_disk():
            errors = [
                future.exception(TIMEOUT)
                for future in [checkpoint.save(tmp_path, node, background=True) for node in cluster.nodes]
            ]
        assert any(isinstance(error, OSError) for error in errors)
        assert all(errors)
        assert [entry.name for entry in tmp_path.iterdir()] == [first.name]
        load(tmp_path, cluster.nodes)
        with table.worker() as kv:
            assert not kv.pull(np.arange(1000)).any()
