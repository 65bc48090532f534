"""The shell commands of README, docs/ and deploy/ do what their pages say; those that cannot run here are listed."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import bridge
import pyps
from moontide.cli import COMMANDS, build_parser
from tests.pages import PAGES, ROOT, blocks
from tests.ports import LOOPBACK, free_port
from tests.python_path import python_path
from tests.system import descendants

TIMEOUT = 100.0
BLOCK = re.compile(r"^( *)```(?:sh|bash|shell|console)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)

# By how they begin: commands that no test runs, and why.
NOT_RUN = {
    "make demo": "makes .venv with packages of a registry; tests/moontide/test_demo.py runs what it ends with",
    "make test": "is what runs this test",
    "make env": "fetches packages of a registry",
    "pip install": "fetches packages of a registry; tests/test_packaging.py installs what is built",
    "docker ": "needs Docker; tests/deploy/ compares what it starts with the command line",
    "kubectl ": "needs a cluster of Kubernetes; tests/deploy/ checks the manifests",
    "curl http://127.0.0.1:8080/v2/health/ready": "asks what Docker started",
}
# Pages whose commands another test runs, all in one shell.
ELSEWHERE = {"docs/serve.md": "tests/bridge/serve/test_guide.py"}


def run(place: Path, program: str) -> str:
    """Run commands in one shell, which ends what it began in the background; return what they print."""
    process = subprocess.Popen(
        ["bash", "-c", f"set -e\ntrap 'kill $(jobs -p) 2>&- || true; wait' EXIT\n{program}"],
        cwd=place,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": python_path(),
            "OMP_NUM_THREADS": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    finally:
        for pid in {*descendants(process.pid), process.pid} if process.poll() is None else ():
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0, output
    return output


def serve(place: Path, commands: str) -> None:
    port = free_port(LOOPBACK)
    commands = commands.replace("moontide serve", f"moontide serve --port {port} --no-grpc")
    output = run(place, commands.replace("localhost:8080", f"localhost:{port}"))
    assert '{"ready":true}' in output
    assert '"shape":[1,3]' in output
    assert '"result":"hello world"' in output


def write_train(place: Path) -> None:
    """Write the program that docs/cluster.md gives for clusters of several processes a node."""
    (program,) = (block for block in blocks("docs/cluster.md", "python") if "job.world_size" in block)
    (place / "train.py").write_text(program)


def lines_of_train(nodes: int, processes: int) -> list[str]:
    """Processes of a node have neighbouring ranks."""
    count = nodes * processes
    return sorted(
        f"process {rank} of {count}, node {rank // processes}: {count} workers" for rank in range(count)
    )


def launch(place: Path, command: str) -> None:
    write_train(place)
    output = run(place, command)
    assert re.findall(r"^\[node \d worker \d\] ", output, re.MULTILINE)
    assert sorted(re.sub(r"^\[.*?\] ", "", line) for line in output.splitlines()) == lines_of_train(2, 2)


def torchrun(place: Path, command: str) -> None:
    """Run it twice: this machine is both hosts. The processes' lines may run into each other."""
    write_train(place)
    assert "host0:29400" in command
    here = command.replace("host0:29400", f"127.0.0.1:{free_port(LOOPBACK)}")
    output = run(place, f"{here} &\none=$!\n{here}\nwait $one")
    assert sorted(re.findall(r"process \d of \d, node \d: \d workers", output)) == lines_of_train(2, 2)


def dmlc(place: Path, commands: str) -> None:
    write_train(place)
    assert "9091" in commands
    output = run(place, commands.replace("9091", str(free_port(LOOPBACK))))
    assert sorted(re.findall(r"process \d of \d, node \d: \d workers", output)) == lines_of_train(2, 1)


def node(place: Path, command: str) -> None:
    """Attach to it while it works, and end it."""
    address = place / "address"
    look = f"{sys.executable} -c 'import sys, pyps; print(pyps.attach(sys.argv[1]))' \"$(cat {address})\""
    wait = f"for i in {{1..600}}; do test -s {address} && break; sleep 0.1; done"
    output = run(place, f"{command} --address-file {address} &\n{wait}\n{look}\nkill %1\nwait %1")
    assert "<pyps.Node 1000000 keys, value_length 10, float32, open>" in output


def generate_keys(place: Path, command: str) -> None:
    output = run(place, f'{command}\necho "$PYPS_CURVE_PUBLIC $PYPS_CURVE_SECRET"')
    public, secret = output.split(maxsplit=1)
    with pyps.Server(2, 1, curve=(public, secret.rstrip("\n"))) as server, server.worker() as kv:
        kv.push([1], np.ones(1, np.float32))


def app(place: Path, command: str) -> None:
    output = run(place, f"{command} --epochs 1")
    assert re.search(r"^epoch 1: .* % local$", output, re.MULTILINE)


RECURRENT = """
require 'nngraph'
local x, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
local sum = nn.CAddTable()({nn.LookupTable(65, 4 * 128)(x), nn.Linear(128, 4 * 128)(h)})
local gate = function(from) return nn.Narrow(2, from * 128 + 1, 128)(sum) end
local kept = nn.CMulTable()({nn.Sigmoid()(gate(0)), c})
local next_c = nn.CAddTable()({kept, nn.CMulTable()({nn.Sigmoid()(gate(1)), nn.Tanh()(gate(2))})})
local next_h = nn.CMulTable()({nn.Sigmoid()(gate(3)), nn.Tanh()(next_c)})
local out = nn.LogSoftMax()(nn.Linear(128, 65)(next_h))
torch.save(..., {protos = {rnn = nn.gModule({x, c, h}, {next_c, next_h, out}):float()}})
"""


def convert(place: Path, command: str) -> None:
    """Convert a step of an LSTM, as programs that model text keep one in their files."""
    with bridge.Lua() as lua:
        lua.execute(RECURRENT, str(place / "lm_lstm.t7"))
    run(place, command)
    assert (place / "lstm.onnx").stat().st_size > 4 * 128 * 4 * 128


def checkpoint(place: Path, command: str) -> None:
    with pyps.Server(10, 8) as server:
        pyps.checkpoint.save(place / "checkpoints", server)
    output = run(place, command)
    shown = {"inspect": "keys       10 (0 to 9)", "verify": "is whole: 10 keys", "export": "all.npz"}
    assert shown[command.split()[2]] in output


@dataclass(frozen=True)
class Way:
    """How commands are run that begin in one way."""

    run: Callable[[Path, str], None]
    slow: bool = True


WAYS = {
    "th -e": Way(serve),
    "moontide launch": Way(launch),
    "torchrun": Way(torchrun),
    "export DMLC_NUM_SERVER": Way(dmlc),
    "moontide node": Way(node, slow=False),
    'eval "$(moontide node --generate-keys)"': Way(generate_keys, slow=False),
    "python -m examples.apps": Way(app),
    "moontide convert": Way(convert),
    "moontide checkpoint": Way(checkpoint),
}


def commands(block: str) -> list[str]:
    """Split a block into commands, which may be several lines each, without their comments."""
    found, held = [], ""
    for line in block.splitlines():
        held += line + "\n"
        try:
            words = shlex.split(held, comments=True)
        except ValueError:  # a quotation goes on
            continue
        if not line.endswith("\\"):
            if words:
                found.append(re.sub(r" +# .*", "", held).strip())
            held = ""
    assert held == "", f"no command ends: {held}"
    return found


def units() -> list[tuple[str, str]]:
    """Return what is run at once: a whole block if it leaves something in the background, else a command."""
    found = []
    for page in PAGES:
        if page in ELSEWHERE:
            continue
        for _, block in BLOCK.findall((ROOT / page).read_text()):
            each = commands(textwrap.dedent(block))
            together = any(command.endswith("&") for command in each)
            found += [(page, unit) for unit in (["\n".join(each)] if together else each)]
    return found


UNITS = units()


def beginning(unit: str, table: Iterable[str]) -> str | None:
    return next((start for start in table if unit.startswith(start)), None)


@pytest.mark.long
@pytest.mark.parametrize(
    ("way", "unit"),
    [
        pytest.param(
            WAYS[start], unit, id=f"{page}: {unit[:40]}", marks=pytest.mark.slow if WAYS[start].slow else ()
        )
        for page, unit in UNITS
        if (start := beginning(unit, WAYS)) is not None
    ],
)
def test_a_command_does_what_its_page_says(way: Way, unit: str, tmp_path: Path) -> None:
    way.run(tmp_path, unit)


def test_every_command_is_run_or_listed() -> None:
    neither = [(page, unit) for page, unit in UNITS if not beginning(unit, {**WAYS, **NOT_RUN})]
    assert neither == []
    both = [unit for _, unit in UNITS if beginning(unit, WAYS) and beginning(unit, NOT_RUN)]
    assert both == []


def test_nothing_is_listed_that_no_page_says() -> None:
    starts = [*WAYS, *NOT_RUN]
    assert [start for start in starts if not any(unit.startswith(start) for _, unit in UNITS)] == []
    for page, test in ELSEWHERE.items():
        assert BLOCK.search((ROOT / page).read_text())
        assert Path(page).name in (ROOT / test).read_text()


@pytest.mark.parametrize("page", PAGES)
def test_the_command_line_takes_what_stands_in_a_sentence(page: str) -> None:
    text = BLOCK.sub("", (ROOT / page).read_text())
    for span in re.findall(r"`(moontide [^`]+)`", text):
        words = shlex.split(span)[1:]
        if words[0].startswith("--"):
            continue
        assert words[0] in COMMANDS, span
        if len(words) > 1:
            build_parser().parse_args(words)
