"""Programs of the pages that take their place in a cluster do so under every launcher that docs/cluster.md names.

`make test` starts one under each launcher and each of the others under one; CI starts all under all.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests import soak
from tests.conftest import Processes
from tests.pages import PAGES, blocks
from tests.ports import OWN, free_port
from tests.python_path import python_path

TIMEOUT = 100.0
PROGRAMS = {
    f"{page}-{number}": block
    for page in PAGES
    for number, block in enumerate(blocks(page, "python"))
    if re.search(r"pyps\.init\(", block)
}
PLACE = "\nimport os; os.write(1, f'node {node.rank} of {node.num_nodes}\\n'.encode())\n"
SCHEDULER = "import pyps; pyps.scheduler(timeout=60)"

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(processes: Processes, tmp_path: Path) -> Start:
    """Start Python in a directory of the test, with variables of its own."""

    def begin(arguments: Sequence[str], **variables: str) -> subprocess.Popen[str]:
        return processes(
            [sys.executable, *arguments],
            stderr=subprocess.STDOUT,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": python_path(), "OMP_NUM_THREADS": "1", **variables},
        )

    return begin


def launch(start: Start, program: str) -> list[subprocess.Popen[str]]:
    return [start(["-m", "moontide", "launch", "-n", "2", program])]


def torchrun(start: Start, program: str) -> list[subprocess.Popen[str]]:
    options = ["--standalone", "--local-addr=127.0.0.1", "--nproc-per-node=2"]
    return [start(["-m", "torch.distributed.run", *options, program], PYPS_NODES_PER_HOST="2")]


def dmlc(start: Start, program: str) -> list[subprocess.Popen[str]]:
    root = {"DMLC_NUM_SERVER": "2", "DMLC_PS_ROOT_URI": OWN, "DMLC_PS_ROOT_PORT": str(free_port(OWN))}
    scheduler = start(["-c", SCHEDULER], DMLC_ROLE="scheduler", **root)
    return [scheduler, *(start([program], DMLC_ROLE="server", **root) for _ in range(2))]


LAUNCHERS = (launch, torchrun, dmlc)
FIRST, *OTHERS = PROGRAMS


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "launcher"),
    soak.rows(
        [*((FIRST, launcher) for launcher in LAUNCHERS), *zip(OTHERS, itertools.cycle(LAUNCHERS))],
        [*itertools.product(PROGRAMS, LAUNCHERS)],
    ),
)
def test_a_program_takes_its_place(
    name: str, launcher: Callable[[Start, str], list[subprocess.Popen[str]]], start: Start, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(PROGRAMS[name] + PLACE)
    running = launcher(start, "program.py")
    output = "".join(process.communicate(timeout=TIMEOUT)[0] for process in running)
    assert [process.returncode for process in running] == [0] * len(running), output
    assert sorted(re.findall(r"node \d of \d", output)) == ["node 0 of 2", "node 1 of 2"]


@pytest.mark.long
def test_a_program_of_adapm_takes_its_place_as_those_are_started(start: Start, tmp_path: Path) -> None:
    (program,) = blocks("docs/options.md", "python")
    serve = "server = adapm.Server(2)\nprint('node', server.my_rank(), options, rest)\nserver.shutdown()\n"
    (tmp_path / "program.py").write_text(program + serve)
    running = dmlc(start, "program.py")
    output = "".join(process.communicate(timeout=TIMEOUT)[0] for process in running)
    assert [process.returncode for process in running] == [0] * len(running), output
    assert sorted(re.findall(r"node \d", output)) == ["node 0", "node 1"]


@pytest.mark.long
@pytest.mark.parametrize("launcher", [launch, torchrun])
def test_the_ranks_of_a_shared_tensor_meet(
    launcher: Callable[[Start, str], list[subprocess.Popen[str]]], start: Start, tmp_path: Path
) -> None:
    (guide,) = (block for block in blocks("docs/wholememory.md", "python") if "def rank_of" in block)
    ranks = 'import os\nrank_of(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))\n'
    (tmp_path / "program.py").write_text(guide.partition('if __name__ == "__main__"')[0] + ranks)
    (process,) = launcher(start, "program.py")
    output, _ = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0, output


def test_there_are_such_programs() -> None:
    assert len(PROGRAMS) >= 4
