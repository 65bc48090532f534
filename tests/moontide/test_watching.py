"""`moontide stats` and `moontide top`: what the nodes of a live cluster hold and do."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pyps
from moontide.cli import main
from moontide.watching import tables
from pyps.rendezvous.start import ClusterServer
from tests.conftest import Processes
from tests.ports import OWN, free_port
from tests.python_path import python_path
from tests.waiting import wait_until

TIMEOUT = 60.0
# Each node pushes to its own keys and to the other's, says where it is seen, and waits.
PROGRAM = """
import time
import numpy as np
import pyps

node = pyps.init(100, 4)
with node, node.worker() as kv:
    mine, others = np.arange(node.rank, 100, 2), np.arange(1 - node.rank, 100, 2)
    for _ in range(122):
        kv.push(mine, np.ones((50, 4), np.float32))
    for _ in range(5):
        kv.push(others[:10], np.ones((10, 4), np.float32))
    kv.barrier()
    print(node.rank, node.address, node.metrics_address, flush=True)
    time.sleep(1000)
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A cluster of two nodes: where node 0 is seen, by the kind of the address, and where both are."""
    script = tmp_path_factory.mktemp("cluster") / "program.py"
    script.write_text(PROGRAM)
    command = [sys.executable, "-m", "moontide", "launch", "-n", "2", "--metrics-port", "0", str(script)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": python_path()}
    )
    try:
        assert process.stdout is not None
        lines = sorted(process.stdout.readline().split()[2:] for _ in range(2))
        (_, memory, http), (_, memory_of_1, http_of_1) = lines
        yield {"memory": memory, "http": http, "memory of 1": memory_of_1, "http of 1": http_of_1}
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT)


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 1
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.count("\n") == 1
    return found.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "addresses", [["memory"], ["http"], ["http of 1"], ["memory", "memory of 1"], ["memory", "http of 1"]]
)
def test_all_nodes_are_read_as_json(
    seen: dict[str, str], addresses: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(output(capsys, "stats", "--json", *(seen[address] for address in addresses)))
    assert found["missing"] == []
    assert [node["node"] for node in found["nodes"]] == [0, 1]
    for node in found["nodes"]:
        assert node["is_open"]
        assert node["stats"]["keys_held"] == 50
        assert node["stats"]["nodes_lost"] == 0
        assert (node["workers"]["pushes"], node["workers"]["keys_local"]) == (127, 6100)
        assert node["workers"]["keys_remote"] == 50
        assert node["latencies"]["push"]["local"]["counted"] == 2
        assert node["latencies"]["push"]["remote"]["counted"] == 5
        times = [node["latencies"]["push"]["remote"][name] for name in ("p50", "p90", "p99")]
        assert 0 < times[0] <= times[1] <= times[2] < TIMEOUT
        assert node["nodes"] == [seen["http"], seen["http of 1"]]


@pytest.mark.slow
def test_a_table_has_a_row_for_each_node(seen: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, "stats", seen["http"]).splitlines()
    heads = lines[0].split()
    assert heads[:2] == ["node", "keys"]
    for number, line in enumerate(lines[1:3]):
        row = dict(zip(heads, line.split(), strict=True))
        assert (row["node"], row["keys"], row["calls"], row["used"]) == (str(number), "50", "127", "6.2K")
        assert (row["local"], row["lost"], row["pending"], row["intents"]) == ("99.1%", "0", "0", "0+0")
    assert lines[3] == ""
    assert lines[4].split() == ["node", "operation", "where", "timed", "p50", "p90", "p99"]
    assert [line.split()[:4] for line in lines[5:]] == [
        [node, "push", where, timed] for node in "01" for where, timed in (("local", "2"), ("remote", "5"))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["memory", "http"])
def test_named_tables_have_rows_of_their_own(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pyps.Server(10, 1, metrics_port=0) as node, node.worker() as kv:
        node.table("users", dim=2)
        node.table("words", dim=3)
        kv.table("users").push([5, 7], np.ones((2, 2), np.float32))
        address = node.address if way == "memory" else node.metrics_address
        lines = output(capsys, "stats", address).splitlines()
        rows = {
            row["node"]: row
            for row in (dict(zip(lines[0].split(), line.split(), strict=True)) for line in lines[1:4])
        }
        assert {label: (row["keys"], row["used"]) for label, row in rows.items()} == {
            "0": ("10", "0"),
            "0/users": ("2", "2"),
            "0/words": ("0", "0"),
        }
        (found,) = json.loads(output(capsys, "stats", "--json", address))["nodes"]
        assert found["tables"]["users"]["workers"]["keys_pushed"] == 2
        assert found["tables"]["words"]["tables"] == {}
        top = output(capsys, "top", address, "--count=1", "--interval=0.1")
        assert "0/users" in top


@pytest.mark.slow
def test_top_shows_all_nodes_as_often_as_it_is_told(seen: dict[str, str]) -> None:
    command = [sys.executable, "-m", "moontide", "top", seen["memory"], "--count=2", "--interval=0.2"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=TIMEOUT)
    assert (done.returncode, done.stderr) == (0, "")
    pictures = done.stdout.removesuffix("\n\n").split("\n\n")
    assert len(pictures) == 2
    for picture in pictures:
        title, heads, *rows = picture.splitlines()
        assert re.fullmatch(r"moontide top  \d\d:\d\d:\d\d  nodes: 2  q: quit", title)
        assert [row.split()[:2] for row in rows] == [["0", "50"], ["1", "50"]]
        assert dict(zip(heads.split(), rows[0].split(), strict=True))["calls/s"] == "0"


@pytest.mark.slow
def test_top_shows_what_is_done_meanwhile(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    stop, picture = threading.Event(), tmp_path / "top.svg"
    with pyps.Server(10, 1, metrics_port=0) as node:

        def work() -> None:
            with node.worker() as kv:
                while not stop.wait(0.0005):
                    kv.push([1, 2, 3], np.ones(3, np.float32))

        thread = threading.Thread(target=work)
        thread.start()
        try:
            text = output(
                capsys, "top", node.metrics_address, "--count=1", "--interval=0.5", f"--svg={picture}"
            )
        finally:
            stop.set()
            thread.join(TIMEOUT)
    title, heads, line, *rest = text.splitlines()
    row = dict(zip(heads.split(), line.split(), strict=True))
    assert 10 < float(row["calls/s"].replace("K", "e3")) < 2001
    assert (row["local"], row["workers"]) == ("100%", "1")
    assert [one.split()[:3] for one in rest[2:3]] == [["0", "push", "local"]]
    drawn = ElementTree.fromstring(picture.read_text())
    texts = ["".join(one.itertext()) for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:3] == [one.replace(" ", "\u00a0") for one in (title, heads, line)]


@pytest.mark.parametrize("command", ["stats", "top"])
def test_addresses_where_nobody_is_are_an_error_with_a_way_out(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    way = r"give what the node prints as 'attach to' \(unix:@pyps-\.\.\.\) or as 'metrics at' \(http://HOST:PORT\)\n"
    assert re.fullmatch(
        rf"moontide {command}: no node can be read\. unix:@pyps-1-2: no server at unix:@pyps-1-2: .*"
        rf"Is it running\? If so, {way}",
        failure(capsys, command, "unix:@pyps-1-2"),
    )
    with socket.socket() as taken:  # and nobody listens
        taken.bind(("127.0.0.1", 0))
        place = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert f"no node can be read. {place}: [Errno 111] Connection refused" in failure(
            capsys, command, place
        )
    assert re.fullmatch(
        rf"moontide {command}: 'localhost:9400' is no address of a node: {way}",
        failure(capsys, command, "localhost:9400"),
    )


def answering(answer: bytes) -> tuple[str, threading.Thread, socket.socket]:
    """Somebody who gives every client the same answer until the socket is shut down."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            with line:
                line.recv(65536)
                line.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}", thread, listening


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "Not Found"),
        (b"HTTP/1.1 200 OK\r\n\r\n<html>", "Expecting value"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000, "recursion"),
        (b'HTTP/1.1 200 OK\r\n\r\n{"latencies": {}}', "this is no reading of a node"),
        (b"SSH-2.0-\x1b[2JOpenSSH\r\n", ": SSH-2.0- [2JOpenSSH. Is it"),
        (b"", "closed"),
    ],
    ids=["status", "html", "deep", "other JSON", "ssh", "nothing"],
)
def test_other_servers_are_not_taken_for_nodes(
    answer: bytes, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    address, thread, listening = answering(answer)
    try:
        assert reason in failure(capsys, "stats", address)
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(TIMEOUT)
        listening.close()


@pytest.mark.slow
def test_a_silent_server_costs_the_timeout(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        error = failure(capsys, "stats", f"http://127.0.0.1:{silent.getsockname()[1]}", "--timeout=0.2")
        assert "timed out" in error
        assert 0.2 <= time.monotonic() - start < 10


def test_a_node_that_is_named_twice_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pyps.Server(10, 1, metrics_port=0) as node:
        error = failure(capsys, "stats", node.address, node.metrics_address)
        assert (
            f"{node.address} and {node.metrics_address} are both node 0: give addresses of one cluster"
            in error
        )


@pytest.mark.slow
def test_nodes_that_have_joined_are_found_from_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    """And those that were there are found from one that has joined; all are seen in an attached process."""
    options: dict[str, Any] = {"num_keys": 10, "replicas": 1, "heartbeat": 0.1, "metrics_port": 0}
    with contextlib.ExitStack() as ending:
        nodes: list[ClusterServer] = []
        for _ in range(3):
            place = {"join": nodes[-1].invitation} if nodes else {"places": 3}
            node = pyps.init(**options, **place)
            assert isinstance(node, ClusterServer)
            ending.callback(node.shutdown, 0)
            nodes.append(node)
        addresses = [node.metrics_address for node in nodes]
        attached = ending.enter_context(pyps.attach(nodes[1].address))
        wait_until(lambda: all(node.metrics_addresses() == addresses for node in (*nodes, attached)))
        for address in addresses:
            assert main(["stats", address, "--json"]) == 0
            found = json.loads(capsys.readouterr().out)
            assert [node["node"] for node in found["nodes"]] == [0, 1, 2]


@pytest.mark.slow
def test_a_killed_node_is_shown_as_lost(processes: Processes, capsys: pytest.CaptureFixture[str]) -> None:
    places = [f"tcp://{OWN}:{free_port(OWN)}" for _ in range(2)]
    command = [sys.executable, "-m", "moontide", "node", "--num-keys=10", "--metrics-port=0"]
    command.append(f"--nodes={','.join(places)}")
    nodes = [processes([*command, f"--rank={rank}"]) for rank in range(2)]
    outputs = [node.stdout for node in nodes]
    assert outputs[0] is not None
    http = [outputs[0].readline().split()[-1] for _ in range(4)][3]
    nodes[1].send_signal(signal.SIGKILL)
    end = time.monotonic() + TIMEOUT
    while True:
        status = main(["stats", "--json", http])
        found = json.loads(capsys.readouterr().out)
        assert status == 1 or time.monotonic() < end
        if status == 1 and found["nodes"][0]["stats"]["nodes_lost"] == 1:
            break
        assert time.monotonic() < end
        time.sleep(0.1)
    assert [one["node"] for one in found["missing"]] == [1]
    assert "refused" in found["missing"][0]["reason"]
    assert main(["stats", http]) == 1
    assert re.search(
        r"^node 1 cannot be read: .*refused \(http://.*\)$", capsys.readouterr().out, re.MULTILINE
    )


@pytest.mark.slow
@pytest.mark.parametrize("way", ["q", "Ctrl-C"])
def test_in_a_terminal_a_key_ends_it_and_the_screen_comes_back(way: str) -> None:
    with pyps.Server(10, 1, metrics_port=0) as node:
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "moontide", "top", node.metrics_address, "--interval=0.2"]
        process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            start_new_session=True,
            env={**os.environ, "COLUMNS": "60", "LINES": "5"},
        )
        os.close(theirs)
        text = b""
        try:
            while text.count(b"moontide top  ") < 2:
                text += os.read(ours, 65536)
            if way == "q":
                os.write(ours, b"q")
            else:
                process.send_signal(signal.SIGINT)
            while not text.endswith(b"\x1b[?1049l"):
                text += os.read(ours, 65536)
            assert process.wait(TIMEOUT) == 0
        finally:
            process.kill()
            process.wait()
            os.close(ours)
    assert text.startswith(b"\x1b[?1049h")
    assert b"moontide top  " in text
    drawn = re.sub(rb"\x1b\[[?\d]*[a-zA-Z]", b"", text)
    assert max(len(line) for line in re.split(rb"\r\n|(?=moontide top)", drawn)) <= 60


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1000, "1K"),
        (1049, "1.0K"),
        (4210, "4.2K"),
        (999_600, "1.0M"),
        (2.5e9, "2.5G"),
        (0.25, "0.2"),
    ],
)
def test_counts_are_short(number: float, shown: str) -> None:
    assert tables.count(number) == shown


@pytest.mark.slow
def test_sizes_durations_and_shares_are_short() -> None:
    assert [tables.size(n) for n in (0, 1023, 1024, 1536, 20 << 20)] == ["0", "1023", "1Ki", "1.5Ki", "20Mi"]
    assert [tables.duration(s) for s in (None, 3.2e-8, 1.28e-6, 0.0205, 1.5, 100)] == [
        "-",
        "32ns",
        "1.28us",
        "20.5ms",
        "1.5s",
        "100s",
    ]
    assert [tables.share(part, 10_000) for part in (0, 9999, 10_000)] == ["0%", "99.9%", "100%"]
    assert tables.share(0, 0) == "-"
