"""All tables of a server in one checkpoint: what is in it, and what becomes of tables that are missing or dropped."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch.distributed.checkpoint as dcp

import bridge
import pyps
from moontide import cli
from pyps import checkpoint
from pyps.checkpoint.stored import Stored
from tests import soak
from tests.pyps.any_keys import spread
from tests.pyps.checkpoint.remote_stores import store
from tests.pyps.checkpoint.stores import content, load, save, train
from tests.pyps.checkpoint.test_refusals import damage, small_disk
from tests.pyps.checkpoint.test_under_load import KEYS as LOADED
from tests.pyps.checkpoint.test_under_load import LENGTH, Load, pushes_in
from tests.pyps.cluster import TIMEOUT, Cluster
from tests.pyps.conftest import Program, finish

KEYS = 30
OPTIONS: dict[str, dict[str, Any]] = {
    "items": {"dim": 3, "num_keys": KEYS, "dtype": "float64", "optimizer": "adam:lr=0.1"},
    "users": {"dim": 4, "optimizer": "adagrad:lr=0.5", "initializer": "constant:value=7"},
    "words": {"dim": [1, 2], "capacity": 500},
}


def keys_of(name: str) -> Any:
    if name == "users":
        return spread(KEYS)
    if name == "words":
        return np.concatenate([pyps.classed_keys(number, np.arange(KEYS // 2)) for number in range(2)])
    return np.arange(KEYS)


def declare(nodes: Sequence[pyps.Node], *names: str) -> None:
    for name in names or OPTIONS:
        for node in nodes:
            node.table(name, **OPTIONS[name])


def contents(nodes: Sequence[pyps.Node]) -> dict[str, dict[int, bytes]]:
    """All rows of a server's own keys and of its tables."""
    found = {"": content(nodes, keys_of(""))}
    for name in nodes[0].table_names():
        found[name] = content([node.table(name) for node in nodes], keys_of(name))
    return found


def train_all(node: pyps.Node, seed: int = 1) -> None:
    with node.worker() as kv:
        for name in ("", *node.table_names()):
            worker, keys = kv.table(name) if name else kv, keys_of(name)
            worker.pull(keys)  # all exist
            train(worker, keys, seed=seed)
            worker.localize(keys[::3])


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, dict[str, dict[int, bytes]]]:
    """A checkpoint of a server with all tables, and what it has."""
    with pyps.Server(KEYS, 2) as server:
        declare([server])
        train_all(server)
        return Path(checkpoint.save(tmp_path / "saved", server)), contents([server])


def shards_here(path: object) -> dict[str, int]:
    """How many rows the files of a checkpoint have of each table, without those of earlier ones."""
    tables = Stored(str(path)).manifest.tables
    return {table.name: sum(shard.rows for shard in table.shards if not shard.checkpoint) for table in tables}


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


@pytest.mark.parametrize("count", [1, 2])
def test_a_damaged_shard_of_one_table_is_named_and_nothing_changes(count: int, saved: Any) -> None:
    path, _ = saved
    damage(path / "table-users-node-0-00000.safetensors")
    with Cluster(count, KEYS, 2) as cluster:
        declare(cluster.nodes, "items")
        train_all(cluster.nodes[0], seed=9)
        before = contents(cluster.nodes)
        with pytest.raises(pyps.CheckpointError, match=r"table-users-node-0-00000.safetensors .* checksum"):
            load(path, cluster.nodes)
        assert contents(cluster.nodes) == before  # and no table was made
        load(path, cluster.nodes, tables=["", "items"])
        assert contents(cluster.nodes) != before


def test_a_table_that_does_not_fit_changes_nothing(saved: Any) -> None:
    path, _ = saved
    with pyps.Server(KEYS, 2) as server:
        server.table("users", dim=5)
        train_all_but = content([server], keys_of(""))
        with pytest.raises(pyps.CheckpointError, match=r"table 'users' of .* has values of lengths \[4\]"):
            checkpoint.load(path, server)
        assert server.table_names() == ["users"]
        assert content([server], keys_of("")) == train_all_but


def test_options_that_are_not_possible_are_named_and_nothing_is_made(saved: Any) -> None:
    path, _ = saved
    manifest = json.loads((path / "manifest.json").read_text())
    for options in ("", "lengths=2 dtype=float33", "lengths=2 wings=2", "lengths=2,3 num_keys=30"):
        manifest["tables"][-1]["options"] = options
        (path / "manifest.json").write_text(json.dumps(manifest))
        with Cluster(2, KEYS, 2) as cluster:
            with pytest.raises(
                pyps.CheckpointError, match="table 'words' cannot be made as the checkpoint says"
            ):
                load(path, cluster.nodes)
            assert cluster.nodes[0].table_names() == []


def test_tables_by_their_names(saved: Any, tmp_path: Path) -> None:
    path, before = saved
    with pyps.Server(KEYS, 2) as server:
        checkpoint.load(path, server, tables=["users"])
        assert server.table_names() == ["users"]
        assert contents([server])["users"] == before["users"]
        assert contents([server])[""] != before[""]
        checkpoint.load(path, server, tables=[""])
        assert contents([server])[""] == before[""]
        only = checkpoint.save(tmp_path, server, tables=["users"])
        assert [table.name for table in Stored(only).manifest.tables] == ["users"]
        checkpoint.save(tmp_path, server, tables=[""])
        assert [table.name for table in Stored(tmp_path).manifest.tables] == [""]
    with pyps.Server() as server:  # with other keys of its own
        checkpoint.load(only, server)
        assert server.table_names() == ["users"]
        checkpoint.load(path, server, tables=["items"], keys=range(5))
        items = content([server.table("items")], keys_of("items"))
        same = {key for key in items if items[key] == before["items"][key]}
        assert same >= set(range(5))
        assert same != set(items)


def test_a_table_alone_takes_that_of_its_name_or_the_only_one(saved: Any, tmp_path: Path) -> None:
    path, before = saved
    with pyps.Server(3) as server:
        users = server.table("users", **OPTIONS["users"])
        checkpoint.load(path, users)
        assert content([users], keys_of("users")) == before["users"]
        alone = checkpoint.save(tmp_path, users)
        assert [table.name for table in Stored(alone).manifest.tables] == [""]
        others = server.table("others", **OPTIONS["users"])
        checkpoint.load(alone, others)
        assert content([others], keys_of("users")) == before["users"]
        with pytest.raises(pyps.CheckpointError, match=r"has no table 'others'; it has '', 'items', 'users'"):
            checkpoint.load(path, others)
        with others.worker() as kv:
            kv.delete(keys_of("users"))
        checkpoint.load(path, others, tables=["users"])
        assert content([others], keys_of("users")) == before["users"]


def test_arguments_that_are_wrong(saved: Any) -> None:
    path, _ = saved
    with pyps.Server(KEYS, 2) as server:
        for call in (checkpoint.save, checkpoint.load):
            with pytest.raises(TypeError, match="tables must be a list of names, like"):
                call(path.parent, server, tables="users")
            with pytest.raises(ValueError, match="tables has no name"):
                call(path.parent, server, tables=[])
        with pytest.raises(
            ValueError, match=r"there is no table 'nobody'; the server has '' \(its own keys\)"
        ):
            checkpoint.save(path.parent, server, tables=["nobody"])
        with pytest.raises(pyps.CheckpointError, match=r"has no table 'nobody'; it has '', 'items', 'users'"):
            checkpoint.load(path, server, tables=["nobody"])
        with pytest.raises(ValueError, match="keys are those of one of 4 tables"):
            checkpoint.load(path, server, keys=range(3))
        users = server.table("users", dim=4)
        with pytest.raises(ValueError, match="into table 'users' goes one of them"):
            checkpoint.load(path, users, tables=["users", "items"])
    assert len(list(path.parent.iterdir())) == 1


def test_tables_that_lua_made_and_a_process_that_has_attached(program: Program, tmp_path: Path) -> None:
    source = """
    local kv = require('luaps').worker{address = ...}
    kv.node:table('users', {dim = 2, optimizer = 'sgd:lr=0.5'})
    kv:table('users'):push({7, 2^40}, {1, 2, 3, 4})
    kv:finalize()
    """
    attached = "node = pyps.attach(sys.argv[1])\nprint(pyps.checkpoint.{}(sys.argv[2], node))"
    with pyps.Server(10) as server, bridge.Lua() as lua:
        lua.execute(source, server.address)
        assert finish(program(attached.format("save"), server.address, str(tmp_path))).strip().endswith("1")
    with pyps.Server(10) as server, server.worker() as kv:
        finish(program(attached.format("load"), server.address, str(tmp_path)))
        assert kv.table("users").pull([7, 2**40]).tolist() == [[-0.5, -1], [-1.5, -2]]


def test_on_another_store(saved: Any, tmp_path: Path) -> None:
    path, before = saved
    with store("memory", tmp_path) as url:
        with pyps.Server(KEYS, 2) as server:
            checkpoint.load(path, server)
            checkpoint.save(url, server)
        with pyps.Server(KEYS, 2) as server:
            checkpoint.load(url, server)
            assert contents([server]) == before


@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
def test_as_a_part_of_torch_s_checkpoints(tmp_path: Path) -> None:
    with pyps.Server(KEYS, 2) as server:
        declare([server])
        train_all(server)
        before = contents([server])
        dcp.save({"server": checkpoint.Stateful(tmp_path / "rows", server)}, checkpoint_id=tmp_path / "all")
        train_all(server, seed=9)
        server.drop_table("users")
        dcp.load({"server": checkpoint.Stateful(tmp_path / "rows", server)}, checkpoint_id=tmp_path / "all")
        assert contents([server]) == before
        some = {"server": checkpoint.Stateful(tmp_path / "some", server, tables=["users"])}
        dcp.save(some, checkpoint_id=tmp_path / "one")
        assert [table.name for table in Stored(tmp_path / "some").manifest.tables] == ["users"]


def test_the_command_knows_tables(saved: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = saved

    def run(*arguments: object) -> tuple[int, str]:
        code = cli.main(["checkpoint", *map(str, arguments)])
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    assert [
        line.split()[1] for line in run("inspect", path)[1].splitlines() if line.startswith("table ")
    ] == [*OPTIONS]
    assert run("inspect", path, "--table", "users")[1].count("optimizer") == 1
    assert len(json.loads(run("inspect", path, "--json", "--table", "users")[1])["tables"]) == 1
    assert run("verify", path)[1].count("is whole: 30 keys in 1 shards") == 4
    code, text = run("export", path, tmp_path / "all.npz")
    assert code == 1
    assert (
        "has tables '' (its own keys), 'items', 'users', 'words'; one file has one of them: say which" in text
    )
    assert run("export", path, tmp_path / "all.npz", "--table", "items")[0] == 0
    with np.load(tmp_path / "all.npz") as found:
        assert found["keys.3"].tolist() == list(range(KEYS))
    assert run("export", path, tmp_path / "own.npz", "--table", "")[0] == 0
    damage(path / "table-items-node-0-00000.safetensors")
    assert run("verify", path)[0] == 1
    assert run("verify", path, "--table", "users")[0] == 0
    assert "has no table 'nobody'" in run("verify", path, "--table", "nobody")[1]


def test_checkpoints_of_version_2_are_read(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, server.worker() as kv:
        kv.push([1], np.ones(2, np.float32))
        path = checkpoint.save(tmp_path, server) / "manifest.json"
        found = json.loads(path.read_text())
        assert found["version"] == 3
        del found["tables"][0]["options"]
        path.write_text(json.dumps(found | {"version": 2}))
        kv.set([1], np.zeros(2, np.float32))
        checkpoint.load(tmp_path, server)
        assert (kv.pull([1]) == 1).all()
