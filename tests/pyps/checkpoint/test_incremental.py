"""Checkpoints of changed rows: what is in them, what they need, and when all rows are written again."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from moontide import cli
from pyps import checkpoint
from pyps.checkpoint import saving, shards
from pyps.checkpoint.checks import checks_of
from pyps.checkpoint.folders import open_folder
from pyps.checkpoint.rows import row_type
from pyps.checkpoint.stored import Stored
from pyps.dtypes import DTYPES
from tests import soak
from tests.pyps.any_keys import spread
from tests.pyps.checkpoint.remote_stores import KINDS, store
from tests.pyps.checkpoint.stores import COUNT, STORES, content, keys_of, load, save, train
from tests.pyps.checkpoint.test_under_load import KEYS, LENGTH, Load, pushes_in
from tests.pyps.cluster import Cluster


def rows_in(path: object) -> list[int]:
    """How many rows the files of a checkpoint have, without those of earlier ones."""
    return [shard.rows for shard in Stored(str(path)).table.shards if not shard.checkpoint]


@pytest.mark.slow
@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("nodes", [(1, 2), (2, 1), (4, 2)])
def test_changed_rows_alone_are_written_and_all_come_back(
    kind: str, nodes: tuple[int, int], tmp_path: Path
) -> None:
    keys = keys_of(kind)
    with Cluster(nodes[0], **STORES[kind], optimizer="adagrad") as cluster:
        with cluster.nodes[-1].worker() as kv:
            train(kv, keys)
            kv.pull(keys)
            assert sum(rows_in(save(tmp_path, cluster.nodes, full_every=4))) == COUNT
            before = content(cluster.nodes, keys)
            for some in (keys[7:10], keys[8:13]):
                kv.push(some, np.ones(kv.node.total_length(some), np.float32))
                kv.localize(keys[::3])
                assert sum(rows_in(save(tmp_path, cluster.nodes, full_every=4))) == len(some)
        after = content(cluster.nodes, keys)
        assert before != after
    for path, expected in ((tmp_path, after), (tmp_path / "checkpoint-00000001", before)):
        with Cluster(nodes[1], **STORES[kind], optimizer="adagrad") as cluster:
            load(path, cluster.nodes)
            assert content(cluster.nodes, keys) == expected


@pytest.mark.slow
def test_new_keys_are_changed_ones(tmp_path: Path) -> None:
    keys = spread(COUNT)
    with Cluster(2, capacity=1000, value_length=5) as cluster:
        with cluster.nodes[0].worker() as kv:
            kv.pull(keys[:50])
            save(tmp_path, cluster.nodes, full_every=2)
            kv.pull(keys)
        assert sum(rows_in(save(tmp_path, cluster.nodes, full_every=2))) == 10
    Stored(tmp_path).require_complete()


def test_of_keys_that_are_twice_in_a_round_the_last_counts_if_the_manifest_says_so(tmp_path: Path) -> None:
    """A key is in two shards of a round if it moved, was found on both nodes, and was then deleted."""
    with pyps.Server(capacity=10, value_length=2) as server, server.worker() as kv:
        kv.push([5, 6], np.ones((2, 2), np.float32))
        place = Path(checkpoint.save(tmp_path, server))
    manifest = json.loads((place / "manifest.json").read_text())
    (table,) = manifest["tables"]
    (first,) = table["shards"]
    shutil.copy(place / first["file"], place / "node-1-00000.safetensors")
    table["shards"] = [first, {**first, "file": "node-1-00000.safetensors"}]
    for has_repeats in (False, True):
        table["has_repeats"] = has_repeats
        (place / "manifest.json").write_text(json.dumps(manifest))
        if has_repeats:
            stored = Stored(place)
            stored.require_complete()
            assert [
                sum(len(group.keys) for group in stored.groups(shard)) for shard in stored.table.shards
            ] == [0, 2]
        else:
            with pytest.raises(pyps.CheckpointError, match="it has key 5 twice"):
                Stored(place).require_complete()


def test_of_rows_of_a_key_in_a_shard_the_last_counts(tmp_path: Path) -> None:
    """A key has two rows in a shard if it was deleted between two looks, and made again."""
    with pyps.Server(capacity=10, value_length=2) as server, server.worker() as kv:
        kv.push([5, 6], np.ones((2, 2), np.float32))
        place = Path(checkpoint.save(tmp_path, server))
        stored = Stored(place)
        (table,) = stored.manifest.tables
        keys, values = np.array([5, 6, 5, 7]), np.arange(8, dtype=np.float32).reshape(4, 2)
        shard = shards.write(
            stored.folder, table.shards[0].file, "float32", [shards.Group(2, keys, {"values": values})], 1
        )
        table = replace(table, keys=3, shards=(shard,), has_repeats=True)
        replace(stored.manifest, tables=(table,)).write(stored.folder)
        checkpoint.load(place, server)
        assert kv.pull([5, 6, 7]).tolist() == [[4, 5], [2, 3], [6, 7]]


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1, 2])
def test_a_key_that_was_deleted_does_not_come_back_from_an_earlier_checkpoint(
    nodes: int, tmp_path: Path
) -> None:
    keys = spread(COUNT)
    with Cluster(nodes, capacity=1000, value_length=5) as cluster, cluster.nodes[0].worker() as kv:
        kv.push(keys, np.ones((COUNT, 5), np.float32))
        save(tmp_path, cluster.nodes, full_every=4)
        kv.delete(keys[3:5])
        kv.push(keys[:1], np.ones((1, 5), np.float32))
        assert sum(rows_in(save(tmp_path, cluster.nodes, full_every=4))) == COUNT - 2  # all rows again
    with Cluster(1, capacity=1000, value_length=5) as cluster, cluster.nodes[0].worker() as kv:
        load(tmp_path, cluster.nodes)
        assert kv.contains(keys).tolist() == [key not in keys[3:5] for key in keys]
        assert kv.pull(keys[:3])[:, 0].tolist() == [2, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("any_keys", [False, True])
def test_pushes_acknowledged_before_are_in_and_later_ones_are_not(any_keys: bool, tmp_path: Path) -> None:
    keys = spread(KEYS) if any_keys else np.arange(KEYS)
    space: dict[str, Any] = {"capacity": 1000} if any_keys else {"num_keys": KEYS}
    with Cluster(2, **space, value_length=LENGTH, dtype="float64") as cluster:
        with cluster.nodes[0].worker() as kv:
            kv.pull(keys)
        work = Load(cluster.nodes, keys)
        with work.running():
            for number in range(soak.times(4)):
                before = work.acknowledged.sum(0)
                saved = save(tmp_path, cluster.nodes, keep=2, full_every=3)
                after = work.begun.sum(0)
                assert Stored(saved).manifest.earlier == number % 3
                pushes = pushes_in(Stored(saved), keys, ramp=False)
                assert (before <= pushes).all()
                assert (pushes <= after).all()
        assert work.acknowledged.sum() > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_newest_ones_are_built_upon_is_kept(kind: str, tmp_path: Path) -> None:
    with store(kind, tmp_path) as url, pyps.Server(4, 2) as server, server.worker() as kv:
        kept = []
        for number in range(1, 6):
            kv.set([0], np.full(2, number, np.float32))
            checkpoint.save(url, server, keep=1, full_every=3)
            kept.append(sorted(int(name[-1]) for name in open_folder(url).names()))
            Stored(url).require_complete()
        assert kept == [[1], [1, 2], [1, 2, 3], [4], [4, 5]]
        checkpoint.load(url, server)
        assert kv.pull([0])[0, 0] == 5


def test_without_changes_nothing_is_written(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server:
        for _ in range(3):
            checkpoint.save(tmp_path, server, full_every=5)
        assert rows_in(tmp_path) == []
        checkpoint.load(tmp_path, server)


@pytest.mark.slow
def test_changed_rows_are_collected_in_shards_of_the_usual_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyps.checkpoint.rounds.SHARD_BYTES", 1000)
    with pyps.Server(2000, [1, 3] * 1000) as server, server.worker() as kv:
        checkpoint.save(tmp_path, server, full_every=2)
        kv.push(np.arange(0, 2000, 100), np.ones(20, np.float32))
        kv.push(np.arange(1, 2000, 100), np.ones(60, np.float32))
        saved = checkpoint.save(tmp_path, server, full_every=2)
        assert rows_in(saved) == [40]
        before = content([server], np.arange(2000))
        kv.push([5], np.ones(3, np.float32))
        checkpoint.load(saved, server)
        assert content([server], np.arange(2000)) == before


OTHERS: dict[str, dict[str, Any]] = {
    "dtype": {"dtype": "float64"},
    "optimizer": {"optimizer": "adagrad"},
    "number of keys": {"num_keys": 5},
    "value length": {"value_length": 3},
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_server_of_another_kind_writes_all_rows(what: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"num_keys": 4, "value_length": 2}
    with pyps.Server(**options) as server:
        checkpoint.save(tmp_path, server, full_every=9)
    with pyps.Server(**options | OTHERS[what]) as server:
        saved = checkpoint.save(tmp_path, server, full_every=9)
        assert sum(rows_in(saved)) == server.num_keys
        checkpoint.load(saved, server)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_a_server_that_lacks_keys_writes_all_rows(count: int, tmp_path: Path) -> None:
    """Otherwise keys of another server would come back with it."""
    keys = spread(COUNT)
    for wanted in (keys, keys[:20]):
        with Cluster(count, capacity=1000, value_length=5) as cluster:
            with cluster.nodes[0].worker() as kv:
                kv.pull(wanted)
            saved = save(tmp_path, cluster.nodes, full_every=9)
            assert sum(rows_in(saved)) == len(wanted)
            files = open_folder(saved).names() - {"manifest.json"}
            assert files == {shard.file for shard in Stored(saved).table.shards}


def test_a_whole_one_without_checks_is_no_ground(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server:
        checkpoint.save(tmp_path, server)
        assert rows_in(checkpoint.save(tmp_path, server, full_every=2)) == [4]
        assert rows_in(checkpoint.save(tmp_path, server, full_every=2)) == []


@pytest.mark.slow
def test_a_damaged_ground_is_left(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Cluster(2, 4, 2) as cluster:
        saved = Path(save(tmp_path, cluster.nodes, full_every=9))
        shard = saved / Stored(saved).table.shards[0].file
        shard.write_bytes(shard.read_bytes()[:20])
        assert sum(rows_in(save(tmp_path, cluster.nodes, full_every=9))) == 4
        assert "as the one before is damaged" in caplog.text
        Path(tmp_path / "checkpoint-00000002" / "manifest.json").write_text("{")
        assert sum(rows_in(save(tmp_path, cluster.nodes, full_every=9, keep=1))) == 4


def test_a_missing_ground_is_named_and_nothing_changes(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, server.worker() as kv:
        first = checkpoint.save(tmp_path, server, full_every=2)
        kv.push([1], np.ones(2, np.float32))
        checkpoint.save(tmp_path, server, full_every=2)
        shutil.rmtree(first)
        before = content([server], np.arange(4))
        with pytest.raises(pyps.CheckpointError, match=r"of .*checkpoint-00000001 cannot be read"):
            checkpoint.load(tmp_path, server)
        assert content([server], np.arange(4)) == before


def test_a_ground_that_is_removed_meanwhile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pyps.Server(4, 2) as server:
        first = checkpoint.save(tmp_path, server, full_every=2)

        def remove(*arguments: Any) -> Any:
            shutil.rmtree(first)
            return written(*arguments)

        written = saving.write_rounds
        monkeypatch.setattr(saving, "write_rounds", remove)
        with pytest.raises(pyps.CheckpointError, match="was removed meanwhile"):
            checkpoint.save(tmp_path, server, full_every=2)
    assert list(tmp_path.iterdir()) == []


def test_the_command_and_export_know_what_lies_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pyps.Server(4, 2) as server, server.worker() as kv:
        checkpoint.save(tmp_path, server, full_every=2)
        kv.push([1], np.ones(2, np.float32))
        checkpoint.save(tmp_path, server, full_every=2)
        expected = kv.pull(np.arange(4))
    assert cli.main(["checkpoint", "inspect", str(tmp_path)]) == 0
    assert "those that have changed; the others are in checkpoint-00000001" in capsys.readouterr().out
    assert cli.main(["checkpoint", "verify", str(tmp_path)]) == 0
    with np.load(checkpoint.export(tmp_path, tmp_path / "all.npz")) as found:
        assert set(found) == {"keys.2", "values.2"}
        assert (found["values.2"] == expected).all()
    (tmp_path / "checkpoint-00000001" / "node-0-00000.safetensors").unlink()
    assert cli.main(["checkpoint", "verify", str(tmp_path)]) == 1


def test_checkpoints_of_version_1_are_read(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, server.worker() as kv:
        kv.push([1], np.ones(2, np.float32))
        path = checkpoint.save(tmp_path, server) / "manifest.json"
        found = json.loads(path.read_text())
        del found["earlier"], found["tables"][0]["has_checks"], found["tables"][0]["shards"][0]["checkpoint"]
        path.write_text(json.dumps(found | {"version": 1}))
        before = content([server], np.arange(4))
        kv.push([1], np.ones(2, np.float32))
        checkpoint.load(tmp_path, server)
        assert content([server], np.arange(4)) == before


def test_full_every_is_at_least_one(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, pytest.raises(ValueError, match="full_every is 0"):
        checkpoint.save(tmp_path, server, full_every=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_change_of_one_word_changes_the_check(dtype: str) -> None:
    kind = row_type(3, DTYPES[dtype], "adam:amsgrad=0" if dtype.startswith("float") else "")
    rows = np.zeros(kind.itemsize * 8, kind)
    bits = rows.view(np.uint8).reshape(len(rows), kind.itemsize)
    bits[np.arange(len(rows)), np.arange(len(rows)) // 8] = 1 << np.arange(len(rows)) % 8
    assert len(set(checks_of(rows).tolist()) - {int(checks_of(np.zeros(1, kind))[0])}) == len(rows)
    assert checks_of(np.zeros(1, kind)) != checks_of(np.zeros(1, row_type(4, DTYPES[dtype], "")))
