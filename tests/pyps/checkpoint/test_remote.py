"""Checkpoints on stores of fsspec: the same promises without renames of folders, locks or empty folders."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from moontide import cli
from pyps import checkpoint
from pyps.checkpoint.folders import open_folder
from pyps.checkpoint.stored import Stored
from tests.pyps import nodes as processes
from tests.pyps.checkpoint.remote_stores import KINDS, store
from tests.pyps.checkpoint.stores import COUNT, STORES, content, keys_of, load, save, train
from tests.pyps.cluster import Cluster

KEYS = np.arange(COUNT)

pytestmark = pytest.mark.slow


@pytest.fixture(params=KINDS)
def url(request: Any, tmp_path: Path) -> Iterator[str]:
    with store(request.param, tmp_path) as found:
        yield found


@pytest.mark.parametrize("kind", ["range", "classes"])
@pytest.mark.parametrize("counts", [(1, 2), (2, 1)])
def test_rows_come_back_on_any_number_of_nodes(kind: str, counts: tuple[int, int], url: str) -> None:
    keys = keys_of(kind)
    with Cluster(counts[0], **STORES[kind], optimizer="adam") as cluster:
        with cluster.nodes[-1].worker() as kv:
            train(kv, keys)
            kv.pull(keys)
            kv.localize(keys[::5])
        before = content(cluster.nodes, keys)
        assert save(url, cluster.nodes) == f"{url}/checkpoint-00000001" == checkpoint.latest(url)
    with Cluster(counts[1], **STORES[kind], optimizer="adam") as cluster:
        load(url, cluster.nodes)
        assert content(cluster.nodes, keys) == before
    assert open_folder(url).names() == {"checkpoint-00000001"}
    assert not any(name.startswith(".") for name in open_folder(f"{url}/checkpoint-00000001").names())


def test_the_newest_ones_are_kept(url: str) -> None:
    assert checkpoint.latest(url) is None
    with pyps.Server(3, 2) as server, server.worker() as kv:
        for number in range(1, 5):
            kv.set([0], np.full(2, number, np.float32))
            saved = checkpoint.save(url, server, keep=2)
            assert saved == checkpoint.latest(url) == f"{url}/checkpoint-{number:08d}"
        assert open_folder(url).names() == {"checkpoint-00000003", "checkpoint-00000004"}
        checkpoint.load(f"{url}/checkpoint-00000003", server)
        assert kv.pull([0])[0, 0] == 3


def test_two_at_once_are_two(url: str) -> None:
    with Cluster(2, 100, 2) as cluster:
        saving = [checkpoint.save(url, node, background=True) for node in cluster.nodes for _ in range(2)]
        saved = sorted(str(future.result(50)) for future in saving)
        assert saved[0] == saved[1] < saved[2] == saved[3]
        for one in saved:
            Stored(one).require_complete()


def test_what_is_not_complete_is_none_and_goes_a_day_later(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now, long_ago = int(time.time()), int(time.time()) - 2 * 24 * 3600
    for number, begun in ((1, long_ago), (2, now)):
        place = open_folder(url).folder(f"checkpoint-{number:08d}")
        place.make()
        place.write(f".saving-{begun:x}-0123", b"")
        place.write("node-0-00000.safetensors", b"half")
    meeting = open_folder(url).folder(f".meeting-{long_ago:x}-0123")
    meeting.make()
    meeting.write("open", b"")
    assert checkpoint.latest(url) is None
    with pyps.Server(4, 2) as server:
        assert checkpoint.save(url, server) == f"{url}/checkpoint-00000003"
    assert open_folder(url).names() == {"checkpoint-00000002", "checkpoint-00000003"}


def test_a_checkpoint_that_is_removed_while_it_is_made_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove(*arguments: Any) -> Any:
        open_folder(f"{url}/checkpoint-00000001").clear()
        return written(*arguments)

    from pyps.checkpoint import saving

    written = saving._complete
    monkeypatch.setattr(saving, "_complete", remove)
    with pyps.Server(4, 2) as server, pytest.raises(pyps.CheckpointError, match="was removed while"):
        checkpoint.save(url, server)
    assert checkpoint.latest(url) is None


def test_damage_is_named_and_nothing_changes(url: str) -> None:
    with pyps.Server(COUNT, 5) as server, server.worker() as kv:
        train(kv, KEYS)
        place = open_folder(str(checkpoint.save(url, server)))
        before = content([server], KEYS)
        (shard,) = (name for name in place.names() if name.endswith(".safetensors"))
        whole = place.read(shard)
        place.write(shard, whole[:-1])
        with pytest.raises(pyps.CheckpointError, match="it is torn"):
            checkpoint.load(url, server)
        place.write(shard, whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(pyps.CheckpointError, match="its checksum is another one"):
            checkpoint.load(url, server)
        place.remove(shard)
        with pytest.raises(pyps.CheckpointError, match="cannot be read"):
            checkpoint.load(url, server)
        assert content([server], KEYS) == before


def test_the_command_reads_urls(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pyps.Server(COUNT, 5) as server, server.worker() as kv:
        train(kv, KEYS)
        checkpoint.save(url, server)
        expected = kv.pull(KEYS)
    assert cli.main(["checkpoint", "inspect", url]) == 0
    assert cli.main(["checkpoint", "verify", url]) == 0
    assert f"{url}/checkpoint-00000001 is whole: 60 keys" in capsys.readouterr().out
    assert cli.main(["checkpoint", "export", url, str(tmp_path / "all.npz")]) == 0
    with np.load(tmp_path / "all.npz") as found:
        assert (found["values.5"] == expected).all()


@pytest.mark.parametrize("kind", ["local", "ftp"])
def test_nodes_in_processes_of_their_own(kind: str, tmp_path: Path) -> None:
    with store(kind, tmp_path) as url, processes.Cluster(2, num_keys=300) as cluster:
        cluster.nodes[0].value("kv.push(np.arange(300), np.full((300, 3), 7))")
        for call in ("save", "load"):
            for node in cluster.nodes:
                node.write(f"str(__import__('pyps.checkpoint').checkpoint.{call}({url!r}, node, timeout=20))")
            assert [node.read()["value"] for node in cluster.nodes] == [f"{url}/checkpoint-00000001"] * 2
        cluster.nodes[0].write(f"__import__('pyps.checkpoint').checkpoint.save({url!r}, node, timeout=30)")
        cluster.nodes[1].kill()
        report = cluster.nodes[0].read()
        assert report["error"] == "NodeLost"
        assert checkpoint.latest(url) == f"{url}/checkpoint-00000001"


def test_a_store_that_nothing_reaches_is_refused() -> None:
    with (
        pyps.Server(4, 2) as server,
        pytest.raises(pyps.CheckpointError, match="Protocol not known: nothing"),
    ):
        checkpoint.save("nothing://x", server)


def test_urls_of_files_are_directories(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server:
        assert checkpoint.save(f"file://{tmp_path}", server) == tmp_path / "checkpoint-00000001"
