"""Dense and sparse parameters in one call of torch.distributed.checkpoint."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed.checkpoint as dcp

import pyps
from pyps import checkpoint
from pyps.checkpoint import Stateful
from tests.conftest import Processes
from tests.pyps.checkpoint.stores import COUNT, content, train
from tests.torchrun import lines_of, torchrun

KEYS = np.arange(COUNT)
ALONE = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def model(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Linear(3, 2)


@ALONE
def test_both_come_back_and_loading_saves_nothing(tmp_path: Path) -> None:
    with pyps.Server(COUNT, 5, optimizer="adam") as server, server.worker() as kv:
        dense, sparse = model(1), Stateful(tmp_path / "sparse", server, keep=2)
        train(kv, KEYS)
        before, weight = content([server], KEYS), dense.weight.clone()
        dcp.save({"model": dense, "server": sparse}, checkpoint_id=tmp_path / "dense")
        train(kv, KEYS)
        dense.load_state_dict(model(2).state_dict())
        dcp.load({"model": dense, "server": sparse}, checkpoint_id=tmp_path / "dense")
        assert content([server], KEYS) == before
        assert torch.equal(dense.weight, weight)
        assert [path.name for path in (tmp_path / "sparse").iterdir()] == ["checkpoint-00000001"]


@ALONE
def test_the_directories_may_have_moved_together(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, server.worker() as kv:
        kv.push([1], np.ones(2, np.float32))
        inside = tmp_path / "old" / "server"
        dcp.save({"server": Stateful(inside, server, full_every=3)}, checkpoint_id=tmp_path / "old")
        (tmp_path / "old").rename(tmp_path / "new")
        kv.push([1], np.ones(2, np.float32))
        dcp.load({"server": Stateful(tmp_path / "new" / "server", server)}, checkpoint_id=tmp_path / "new")
        assert (kv.pull([1]) == 1).all()


@ALONE
def test_another_or_a_removed_checkpoint_is_refused(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server, server.worker() as kv:
        sparse = Stateful(tmp_path / "sparse", server, keep=1)
        dcp.save({"server": sparse}, checkpoint_id=tmp_path / "first")
        dcp.save({"server": sparse}, checkpoint_id=tmp_path / "second")
        kv.push([1], np.ones(2, np.float32))
        with pytest.raises(pyps.CheckpointError, match=r"checkpoint-00000001.*cannot be read"):
            dcp.load({"server": sparse}, checkpoint_id=tmp_path / "first")
        for _ in range(2):
            checkpoint.save(tmp_path / "other", server, full_every=2)
        (tmp_path / "other").rename(tmp_path / "sparse" / "x")
        other = Stateful(tmp_path / "sparse" / "x", server)
        with pytest.raises(pyps.CheckpointError, match="is not the checkpoint that was saved together"):
            dcp.load({"server": other}, checkpoint_id=tmp_path / "second")
        assert (kv.pull([1]) == 1).all()


def test_a_reference_that_torch_does_not_save_is_refused(tmp_path: Path) -> None:
    with pyps.Server(4, 2) as server:
        sparse = Stateful(tmp_path / "sparse", server)
        with pytest.raises(pyps.CheckpointError, match="is saved by torch"):
            torch.save(sparse.state_dict(), tmp_path / "file")
        with pytest.raises(pyps.CheckpointError, match="has no reference"):
            sparse.load_state_dict({})
        assert checkpoint.latest(tmp_path / "sparse") is None


PROGRAM = """
import os, sys
import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import pyps

work, place = sys.argv[1:3]
dist.init_process_group("gloo")
node = pyps.init(60, 5, optimizer="adagrad", timeout=40)
torch.manual_seed(1 if work != "load" else 2)
dense = torch.nn.Linear(3, 2)
parts = {"model": dense, "server": pyps.checkpoint.Stateful(place + "/sparse", node, timeout=30)}
keys = np.arange(60)
with node.worker() as kv:
    if work != "load":
        for _ in range(3):
            kv.push(keys, np.outer(keys, np.ones(5)).astype(np.float32))
        kv.barrier(40)
        if work == "save":
            dcp.save(parts, checkpoint_id=place + "/dense")
        else:
            dcp.async_save(parts, checkpoint_id=place + "/dense").result()
    else:
        dcp.load(parts, checkpoint_id=place + "/dense")
    found = kv.pull(keys).sum(), dense.weight.sum().item()
    kv.barrier(40)
os.write(1, ("found %.9g %.9g %d %d\\n" % (*found, node.num_nodes, len(os.listdir(place + "/sparse")))).encode())
node.shutdown()
dist.destroy_process_group()
"""


def run(processes: Processes, place: Path, work: str, count: int, per_node: int) -> list[list[str]]:
    """Run the program under torchrun; return what each process found."""
    script = place / "program.py"
    script.write_text(PROGRAM)
    program = (sys.executable, "-W", "ignore", script, work, place)
    job = torchrun(processes, place, *program, count=count, nodes=count // per_node)
    return [line.split()[1:] for line in lines_of(job) if line.startswith("found")]


@pytest.mark.long
@pytest.mark.timeout(300)  # several processes import torch, one after another
@pytest.mark.parametrize(
    ("work", "count", "per_node", "loaders"), [("save", 4, 2, [(1, 1), (2, 1)]), ("async", 2, 1, [(2, 2)])]
)
def test_jobs_of_other_sizes_load_what_one_has_saved(
    work: str,
    count: int,
    per_node: int,
    loaders: list[tuple[int, int]],
    processes: Processes,
    tmp_path: Path,
) -> None:
    before = run(processes, tmp_path, work, count, per_node)
    assert len(before) == count
    for others, per_other in loaders:
        after = run(processes, tmp_path, "load", others, per_other)
        expected: Any = [*before[0][:2], str(others // per_other), "1"]
        assert after == [expected] * others
