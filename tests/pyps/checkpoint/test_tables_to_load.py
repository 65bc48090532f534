"""Which tables of a checkpoint are saved and loaded, and those that are damaged or do not fit."""

from __future__ import annotations

import json
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
from tests.pyps.checkpoint.named_tables import (
    KEYS,
    OPTIONS,
    contents,
    declare,
    keys_of,
    train_all,
)
from tests.pyps.checkpoint.remote_stores import store
from tests.pyps.checkpoint.stores import content, load
from tests.pyps.checkpoint.test_refusals import damage
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import Program, finish


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, dict[str, dict[int, bytes]]]:
    """A checkpoint of a server with all tables, and what it has."""
    with pyps.Server(KEYS, 2) as server:
        declare([server])
        train_all(server)
        return Path(checkpoint.save(tmp_path / "saved", server)), contents([server])


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


@pytest.mark.slow
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


@pytest.mark.slow
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
