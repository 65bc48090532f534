"""`moontide launch`: the processes of a local cluster, their output and their end."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from moontide.cli import main
from moontide.launch.plan import command, environment, plan
from tests.conftest import Processes
from tests.python_path import python_path
from tests.system import is_running

TIMEOUT = 60.0
# Programs without the imports of a real one: each says its pid and goes on as it is told.
LABELLED = 'echo "rank $RANK of $WORLD_SIZE: $*"; echo oops >&2; printf "no end of line"'
FAILING = 'echo ready; test "$RANK" != 1 || exit 7; sleep 1000 & wait'
STUBBORN = "trap '' TERM INT; sleep 1000 & echo $$; echo $!; wait; wait"

Launch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def launch(tmp_path: Path, processes: Processes) -> Launch:
    """Start `moontide launch OPTIONS program ARGUMENTS`, with a shell script as the program."""

    def start(script: str, *options: str, arguments: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        program = tmp_path / "program"
        program.write_text("#!/bin/sh\n" + script + "\n")
        program.chmod(0o755)
        return processes(
            [sys.executable, "-m", "moontide", "launch", *options, str(program), *arguments],
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": python_path()},
            start_new_session=True,
        )

    return start


def all_go(pids: list[int]) -> bool:
    end = time.monotonic() + TIMEOUT / 4
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(is_running, pids))


def pids_of(process: subprocess.Popen[str], count: int) -> list[int]:
    assert process.stdout is not None
    return [int(process.stdout.readline().split()[-1]) for _ in range(count)]


def test_every_process_knows_its_place() -> None:
    processes = plan(2, 3, 1234)
    assert [process.label for process in processes] == [
        f"node {n} worker {w}" for n in range(2) for w in range(3)
    ]
    assert [process.variables["RANK"] for process in processes] == list("012345")
    assert {process.variables["PYPS_NODES_PER_HOST"] for process in processes} == {"2"}
    assert [process.label for process in plan(2, 1, 1234)] == ["node 0", "node 1"]


def test_each_node_has_a_metrics_port_if_asked() -> None:
    def ports(port: int | None) -> list[str | None]:
        return [process.variables.get("PYPS_METRICS_PORT") for process in plan(2, 2, 1234, port)]

    assert ports(None) == [None] * 4
    assert ports(9400) == ["9400", "9400", "9401", "9401"]
    assert ports(0) == ["0"] * 4


def test_another_clusters_variables_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DMLC_ROLE", "server")
    monkeypatch.setenv("EDITOR", "ed")
    found = environment(plan(1, 1, 1234)[0])
    assert "DMLC_ROLE" not in found
    assert found["EDITOR"] == "ed"


def test_a_python_file_is_run_by_this_interpreter() -> None:
    assert command("a.py", ["-x"]) == [sys.executable, "a.py", "-x"]
    assert command("./a", ["-x"]) == ["./a", "-x"]


@pytest.mark.slow
def test_lines_are_labelled(launch: Launch) -> None:
    process = launch(LABELLED, "-n", "2", arguments=("-n", "x y"))
    output, errors = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, errors) == (0, "")
    expected = [line for n in range(2) for line in (f"rank {n} of 2: -n x y", "oops", "no end of line")]
    for node in range(2):
        assert [line for line in output.splitlines() if line.startswith(f"[node {node}] ")] == [
            f"[node {node}] {line}" for line in expected[3 * node : 3 * node + 3]
        ]


@pytest.mark.slow
def test_labels_have_colours_on_a_terminal(tmp_path: Path) -> None:
    near, far = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "moontide", "launch", "-n", "2", "/bin/echo", "hello"],
        stdin=subprocess.DEVNULL,
        stdout=far,
        stderr=far,
        env=environment,
    )
    os.close(far)
    output = b""
    try:
        while chunk := os.read(near, 65536):
            output += chunk
    except OSError:  # a terminal's end
        pass
    finally:
        os.close(near)
        assert process.wait(TIMEOUT) == 0
    assert b"\x1b[36m[node 0]\x1b[0m hello" in output
    assert b"\x1b[33m[node 1]\x1b[0m hello" in output


@pytest.mark.slow
def test_one_that_fails_ends_the_others(launch: Launch) -> None:
    begin = time.monotonic()
    process = launch(FAILING, "-n", "3")
    _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 7
    assert errors == "moontide launch: node 1 ended with status 7; ending the other 2\n"
    assert time.monotonic() - begin < TIMEOUT / 2


@pytest.mark.slow
def test_one_that_is_killed_is_named(launch: Launch) -> None:
    process = launch('test "$RANK" != 0 || kill -KILL $$; sleep 1000', "--workers-per-node", "2", "-n", "1")
    _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + signal.SIGKILL
    assert errors == "moontide launch: node 0 worker 0 was killed by SIGKILL; ending the other 1\n"


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_also_who_will_not(launch: Launch, number: signal.Signals) -> None:
    process = launch(STUBBORN, "-n", "2")
    pids = pids_of(process, 4)
    process.send_signal(number)
    _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 128 + number
    assert errors == f"moontide launch: {number.name}: ending all processes\n"
    assert all_go(pids)


@pytest.mark.slow
def test_nothing_stays_when_the_launcher_is_killed(launch: Launch) -> None:
    process = launch(STUBBORN, "-n", "2")
    pids = pids_of(process, 4)
    process.kill()
    process.communicate(timeout=TIMEOUT)
    assert all_go(pids)


@pytest.mark.slow
def test_what_a_process_leaves_in_the_background_ends_with_it(launch: Launch) -> None:
    process = launch("sleep 1000 & echo $!", "-n", "1")
    pids = pids_of(process, 1)
    process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    assert all_go(pids)


@pytest.mark.long
def test_a_program_becomes_a_cluster(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        "import numpy as np, os, pyps\n"
        "with pyps.init(8, 1) as node, node.worker() as kv:\n"
        "    kv.push(np.arange(8), np.ones(8, np.float32))\n"
        "    out = np.zeros(8, np.float32)\n"
        "    while out.min() < 4:\n"
        "        kv.pull(np.arange(8), out)\n"
        "    print(type(node).__name__, node.rank, node.num_nodes, out.max())\n"
        "    import torch.distributed as dist\n"
        "    dist.init_process_group('gloo')\n"
        "    dist.barrier()\n"
        "    kv.finalize()\n"
        "    dist.destroy_process_group()\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "moontide", "launch", "-n", "2", "--workers-per-node", "2", str(script)],
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env={
            **os.environ,
            "PYTHONPATH": python_path(),
            "OMP_NUM_THREADS": "1",
            "TORCH_CPP_LOG_LEVEL": "ERROR",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(line for line in done.stdout.splitlines() if " 4.0" in line) == [
        "[node 0 worker 0] ClusterServer 0 2 4.0",
        "[node 0 worker 1] ClusterNode 0 2 4.0",
        "[node 1 worker 0] ClusterServer 1 2 4.0",
        "[node 1 worker 1] ClusterNode 1 2 4.0",
    ]


def test_a_program_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert main(["launch", str(missing)]) == 1
    assert capsys.readouterr().err == f"moontide launch: cannot run {missing}: No such file or directory\n"


@pytest.mark.parametrize("option", ["--nodes=0", "--workers-per-node=-1", "-nmany"])
def test_a_size_below_one_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["launch", option, "program"])
    assert ended.value.code == 2
    assert "argument -n/--nodes" in capsys.readouterr().err or "workers" in option
