"""`moontide node`: a node by itself, in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zmq

import pyps
from moontide.cli import main
from tests.conftest import Processes
from tests.ports import free_port

TIMEOUT = 60.0
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def node(processes: Processes) -> Start:
    """Start `moontide node ...`; what still runs is killed with the test."""
    return lambda *arguments: processes(
        [sys.executable, "-m", "moontide", "node", *arguments], stderr=subprocess.PIPE
    )


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().rstrip() for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_node_serves_until_a_signal(node: Start, number: signal.Signals) -> None:
    process = node("--num-keys=10", "--value-length=2", "--dtype=int64")
    title, address = lines(process, 2)
    assert title == "node 0 of 1"
    with pyps.attach(address.removeprefix("attach to ")) as attached, attached.worker() as kv:
        kv.push([1], np.ones(2, np.int64))
        assert process.poll() is None
        process.send_signal(number)
        assert process.communicate(timeout=TIMEOUT) == ("", "")
        assert process.returncode == 0
        with pytest.raises(pyps.ClosedError):
            kv.pull([1], np.zeros(2, np.int64))


@pytest.mark.slow
def test_with_a_capacity_keys_are_any_numbers(node: Start) -> None:
    process = node("--capacity=3", "--value-length=2")
    _, address = lines(process, 2)
    with pyps.attach(address.removeprefix("attach to ")) as attached, attached.worker() as kv:
        assert attached.num_keys is None
        keys = [-5, 2**60, 0]
        kv.push(keys, np.ones((3, 2), np.float32))
        with pytest.raises(MemoryError, match="its capacity is 3 keys"):
            kv.pull([1])
        assert (kv.pull(keys) == 1).all()
    process.terminate()
    assert process.communicate(timeout=TIMEOUT) == ("", "")


@pytest.mark.slow
def test_with_a_capacity_keys_may_have_lengths_by_class(node: Start) -> None:
    process = node("--capacity=9", "--value-length=2,5")
    _, address = lines(process, 2)
    with pyps.attach(address.removeprefix("attach to ")) as attached, attached.worker() as kv:
        assert [kv.get_key_size(pyps.classed_keys(number, 7)) for number in (0, 1)] == [2, 5]
        assert kv.pull(pyps.classed_keys(1, [7])).shape == (5,)
    process.terminate()
    assert process.communicate(timeout=TIMEOUT) == ("", "")


@pytest.mark.slow
def test_with_a_greatest_age_keys_go_by_themselves(node: Start) -> None:
    process = node("--capacity=9", "--max-age=0.2")
    _, address = lines(process, 2)
    with pyps.attach(address.removeprefix("attach to ")) as attached, attached.worker() as kv:
        kv.push([7], np.ones(1, np.float32))
        end = time.monotonic() + TIMEOUT
        while attached.stats()["keys_expired"] == 0:
            assert time.monotonic() < end
        assert kv.pull([7]) == 0
    process.terminate()
    assert process.communicate(timeout=TIMEOUT) == ("", "")


@pytest.mark.slow
def test_with_an_admission_keys_exist_from_their_nth_use_on(node: Start) -> None:
    process = node("--capacity=9", "--admission=2")
    _, address = lines(process, 2)
    with pyps.attach(address.removeprefix("attach to ")) as attached, attached.worker() as kv:
        for expected in (0, 1):
            kv.push([7], np.ones(1, np.float32))
            assert attached.stats()["keys_held"] == expected
        assert attached.stats()["pushes_dropped"] == 1
    process.terminate()
    assert process.communicate(timeout=TIMEOUT) == ("", "")


@pytest.mark.slow
def test_a_node_begins_with_numbers_and_applies_gradients(node: Start) -> None:
    process = node("--num-keys=10", "--initializer=constant:value=2", "--optimizer=sgd:lr=0.5")
    _, address = lines(process, 2)
    with pyps.attach(address.removeprefix("attach to ")) as attached, attached.worker() as kv:
        kv.push([1], np.ones(1, np.float32))
        assert kv.pull([1]) == 1.5
        assert isinstance(attached.optimizer, pyps.optim.SGD)
    process.terminate()
    assert process.communicate(timeout=TIMEOUT) == ("", "")


@pytest.mark.slow
def test_a_node_tells_its_statistics_over_http(node: Start) -> None:
    process = node("--num-keys=10", "--metrics-port=0")
    _, _, metrics = lines(process, 3)
    address = metrics.removeprefix("metrics at ")
    with urllib.request.urlopen(f"{address}/metrics", timeout=TIMEOUT) as answer:
        assert b'\nmoontide_node_keys{node="0"} 10\n' in answer.read()
    port = address.rsplit(":", 1)[1]
    _, errors = node("--num-keys=10", f"--metrics-port={port}").communicate(timeout=TIMEOUT)
    assert errors == (
        f"moontide node: [Errno 98] cannot listen at 127.0.0.1:{port}: Address already in use: "
        "name another metrics_port, or 0 for a free one\n"
    )
    process.terminate()
    assert process.communicate(timeout=TIMEOUT) == ("", "")


def test_lengths_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["node", "--capacity=9", "--value-length=2,x"])
    assert "expected a number, or several with commas, got 2,x" in capsys.readouterr().err


@pytest.mark.slow
def test_a_file_says_where_to_attach_while_a_node_works(node: Start, tmp_path: Path) -> None:
    file = tmp_path / "address"
    process = node("--num-keys=10", f"--address-file={file}")
    _, address = lines(process, 2)
    deadline = time.monotonic() + TIMEOUT
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert f"attach to {file.read_text().strip()}" == address
    process.terminate()
    assert process.communicate(timeout=TIMEOUT) == ("", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_node_that_cannot_write_its_address_ends(node: Start, tmp_path: Path) -> None:
    process = node("--num-keys=10", f"--address-file={tmp_path}/missing/address")
    _, errors = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1
    assert errors.startswith(f"moontide node: --address-file {tmp_path}/missing/address: ")
    assert len(errors.splitlines()) == 1


@pytest.mark.slow
def test_nodes_meet_and_end_together(node: Start) -> None:
    shared = (
        "--num-keys=10",
        f"--rendezvous=tcp://127.0.0.4:{free_port('127.0.0.4')}",
        "--num-nodes=2",
        "--interface=127.0.0.5",
    )
    processes = [node(*shared, f"--rank={rank}") for rank in range(2)]
    for rank, process in enumerate(processes):
        title, attach, endpoint = lines(process, 3)
        assert title == f"node {rank} of 2"
        assert attach.startswith("attach to unix:@pyps-")
        assert endpoint.startswith("listens at tcp://127.0.0.5:")
    for process in processes:
        process.terminate()
    for process in processes:
        assert process.communicate(timeout=TIMEOUT) == ("", "")
        assert process.returncode == 0


@pytest.mark.slow
def test_with_replicas_the_keys_of_a_killed_node_go_on(node: Start) -> None:
    shared = (
        "--num-keys=10",
        f"--rendezvous=tcp://127.0.0.4:{free_port('127.0.0.4')}",
        "--num-nodes=2",
        "--replicas=1",
    )
    processes = [node(*shared, f"--rank={rank}", "--dtype=int64") for rank in range(2)]
    addresses = [lines(process, 3)[1].removeprefix("attach to ") for process in processes]
    with pyps.attach(addresses[0]) as attached, attached.worker() as kv:
        kv.push(np.arange(10), np.arange(10))
        processes[1].kill()
        assert kv.pull(np.arange(10))[:, 0].tolist() == list(range(10))


@pytest.mark.slow
def test_a_node_that_is_to_leave_hands_its_keys_over(node: Start) -> None:
    shared = (
        "--num-keys=10",
        f"--rendezvous=tcp://127.0.0.4:{free_port('127.0.0.4')}",
        "--num-nodes=3",
        "--replicas=1",
        "--leave",
    )
    processes = [node(*shared, f"--rank={rank}", "--dtype=int64") for rank in range(3)]
    addresses = [lines(process, 3)[1].removeprefix("attach to ") for process in processes]
    with pyps.attach(addresses[1]) as attached, attached.worker() as kv:
        kv.push(np.arange(10), np.arange(10))
        for leaver in (processes[0], processes[2]):
            leaver.terminate()
            assert leaver.communicate(timeout=TIMEOUT) == ("", "")
            assert leaver.returncode == 0
        assert kv.pull(np.arange(10))[:, 0].tolist() == list(range(10))
        assert attached.stats()["keys_held"] == 10
    processes[1].terminate()
    assert "could not leave: no other node is left" in processes[1].communicate(timeout=TIMEOUT)[1]
    assert processes[1].returncode == 0


def test_new_keys_are_for_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["node", "--generate-keys"]) == 0
    script = capsys.readouterr().out
    command = script + 'printf "%s %s" "$PYPS_CURVE_PUBLIC" "$PYPS_CURVE_SECRET"'
    done = subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True, timeout=TIMEOUT)
    public, secret = done.stdout.split(" ")
    assert zmq.curve_public(secret.encode()).decode() == public


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--num-keys is missing"),
        (["--num-keys=3", "--capacity=3"], "give one of them"),
        (["--capacity=0"], "capacity must be above 0"),
        (["--num-keys=0"], "num_keys is 0"),
        (["--num-keys=3", "--dtype=text"], "text"),
        (["--num-keys=3", "--optimizer=adagrad:lr=-1"], "lr is -1; it must be in [0, inf)"),
        (["--num-keys=3", "--initializer=ones"], "initializer ones is unknown"),
        (["--num-keys=3", "--compression=top_k", "--dtype=int64"], "for float32 and float64, not for int64"),
        (["--num-keys=3", "--rank=1"], "say nothing without nodes"),
        (["--num-keys=3", "--leave"], "--leave needs --replicas"),
        (["--num-keys=3", "--rendezvous=here", "--num-nodes=2", "--rank=0"], "tcp://host:port"),
    ],
)
def test_what_does_not_fit_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RANK", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert main(["node", *arguments]) == 1
    finally:
        signal.signal(signal.SIGTERM, before)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("moontide node: ")
    assert message in line
