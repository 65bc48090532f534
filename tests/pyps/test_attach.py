"""Processes that attach to a server of another, and what they see when it ends."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.conftest import finish


@pytest.fixture
def other_server(program: Any) -> tuple[Any, str]:
    """Start a server in a process of its own; return that and its address."""
    process = program(
        "server = pyps.Server(10, 3)\nprint(server.address, flush=True)\nsys.stdin.readline()\nserver.shutdown()\n"
        "print('shut down', flush=True)\nsys.stdin.readline()"
    )
    return process, process.stdout.readline().strip()


@pytest.mark.slow
def test_a_process_uses_another_ones_server(other_server: tuple[Any, str]) -> None:
    with pyps.attach(other_server[1]) as node, node.worker() as kv:
        assert (node.num_keys, node.value_length, node.dtype.name) == (10, 3, "float32")
        kv.push([1], np.ones(3, np.float32))
        out = np.zeros(3, np.float32)
        kv.pull([1], out)
        assert out.tolist() == [1, 1, 1]
        assert node.stats()["workers"] == 1


@pytest.mark.slow
def test_closing_an_attached_node_closes_it_here_only(other_server: tuple[Any, str]) -> None:
    node = pyps.attach(other_server[1])
    node.shutdown()
    assert not node.is_open
    with pyps.attach(other_server[1]) as again:
        assert again.is_open


def test_the_address_stays_the_same(server: pyps.Server) -> None:
    assert server.address == server.address
    assert server.address.startswith("unix:@pyps-")


def test_a_process_may_attach_to_itself(server: pyps.Server) -> None:
    with pyps.attach(server.address) as node, node.worker() as there, server.worker() as here:
        there.push([2], np.ones(3, np.float32))
        out = np.zeros(3, np.float32)
        here.pull([2], out)
        assert out.tolist() == [1, 1, 1]
        assert {there.id, here.id} == {1, 2}


@pytest.mark.slow
def test_a_server_that_shuts_down_tells_attached_workers(other_server: tuple[Any, str]) -> None:
    process, address = other_server
    with pyps.attach(address) as node, node.worker() as kv:
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "shut down\n"
        assert not node.is_open
        with pytest.raises(pyps.ClosedError, match="shut down"):
            kv.pull([1], np.zeros(3, np.float32))
        with pytest.raises(pyps.ClosedError):
            node.worker()


@pytest.mark.slow
@pytest.mark.parametrize("call", ["pull", "barrier"])
def test_a_server_that_is_killed_is_noticed(other_server: tuple[Any, str], call: str) -> None:
    process, address = other_server
    with pyps.attach(address) as node, node.worker() as kv, node.worker():
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        start = time.monotonic()

        def use() -> None:
            while time.monotonic() < start + 5:
                if call == "barrier":
                    kv.barrier(timeout=5)
                kv.pull([1], np.zeros(3, np.float32))

        with pytest.raises(pyps.NodeLost, match=f"process {process.pid}, died"):
            use()
        assert time.monotonic() - start < 1


@pytest.mark.slow
def test_only_the_creator_has_an_address(other_server: tuple[Any, str]) -> None:
    with (
        pyps.attach(other_server[1]) as node,
        pytest.raises(ValueError, match="only the process that created"),
    ):
        node.listen()


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("", ValueError, "is not an address"),
        ("unix:@", ValueError, "is not an address"),
        ("tcp://127.0.0.1:80", ValueError, "is not an address"),
        ("unix:@" + "x" * 200, ValueError, "is not an address"),
        ("unix:@pyps\0evil", ValueError, "NUL"),
        ("unix:@pyps-nobody", pyps.AttachError, "no server at unix:@pyps-nobody"),
        ("unix:@\N{SNOWMAN}", pyps.AttachError, "no server"),
        (None, TypeError, "must be a str, not NoneType"),
        (3, TypeError, "must be a str, not int"),
        (b"unix:@x", TypeError, "must be a str, not bytes"),
    ],
)
def test_bad_addresses(address: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pyps.attach(address)


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf")])
def test_bad_timeouts(server: pyps.Server, timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout is"):
        pyps.attach(server.address, timeout=timeout)


def abstract_listener() -> tuple[socket.socket, str]:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    name = f"pyps-test-{os.getpid()}-{time.monotonic_ns()}"
    listener.bind("\0" + name)
    listener.listen()
    return listener, f"unix:@{name}"


@pytest.mark.slow
def test_somebody_who_never_answers_is_given_up() -> None:
    listener, address = abstract_listener()
    with listener:
        start = time.monotonic()
        with pytest.raises(pyps.AttachError, match="did not answer in time: its process stands still"):
            pyps.attach(address, timeout=0.2)
        assert time.monotonic() - start < 5


@pytest.mark.parametrize("answer", [b"", b"x", b"\0" * 128, b"pyps" + b"\xff" * 124])
def test_a_wrong_answer_is_refused(answer: bytes) -> None:
    import threading

    listener, address = abstract_listener()

    def serve() -> None:
        client, _ = listener.accept()
        with client:
            client.recv(100)
            client.send(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    with listener:
        with pytest.raises(pyps.AttachError):
            pyps.attach(address, timeout=5)
        thread.join(10)


def connected(address: str) -> socket.socket:
    """Return a client of a server that has said nothing yet."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect("\0" + address.removeprefix("unix:@"))
    client.settimeout(10)
    return client


@pytest.mark.parametrize("greeting", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 12, b"x" * 5000])
def test_a_server_survives_strange_clients(server: pyps.Server, greeting: bytes) -> None:
    with connected(server.address) as client:
        client.send(greeting)
        assert client.recv(200) == b""
    with pyps.attach(server.address) as node:
        assert node.is_open


def test_clients_that_vanish_do_no_harm(server: pyps.Server) -> None:
    for _ in range(50):
        connected(server.address).close()
    with pyps.attach(server.address) as node:
        assert node.is_open


def test_clients_that_say_nothing_keep_nobody_waiting(server: pyps.Server) -> None:
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(connected(server.address))
        with pyps.attach(server.address, timeout=5) as node:
            assert node.is_open


def test_of_too_many_silent_clients_the_oldest_give_way(server: pyps.Server) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(server.address)) for _ in range(300)]
        with pyps.attach(server.address, timeout=5) as node:
            assert node.is_open
        assert all(client.recv(200) == b"" for client in clients[: 301 - 256])
        clients[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            clients[-1].recv(200)


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0, 1.5])
def test_another_version_is_told_so(server: pyps.Server, pause: float) -> None:
    with connected(server.address) as client:
        time.sleep(pause)
        client.send(b"pyps" + (99).to_bytes(4, "little") + os.getpid().to_bytes(4, "little"))
        assert b"libps of the client has version 99" in client.recv(200)


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_refused(server: pyps.Server, program: Any) -> None:
    source = """
import socket
os.setuid(65534)
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
    client.connect("\\0" + sys.argv[1].removeprefix("unix:@"))
    print(client.recv(200))
"""
    said = finish(program(source, server.address))
    assert "user 65534 may not attach to a server of user 0" in said


# Takes its descriptors away, tells what a second costs then, and gives them back: a line for a line.
WITHOUT_DESCRIPTORS = """
import resource, time
server = pyps.Server(10, 3)
limits = resource.getrlimit(resource.RLIMIT_NOFILE)

def spent():
    before = time.process_time()
    time.sleep(1)
    return time.process_time() - before

def limit(number):
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, limits[1]))

for step in (lambda: server.address, lambda: limit(3), spent, lambda: limit(limits[0])):
    print(step(), flush=True)
    sys.stdin.readline()
"""


@pytest.mark.slow
def test_a_server_without_descriptors_waits_for_some(program: Any) -> None:
    """It does not try again and again meanwhile: in a second that would take a second of processor time."""
    process = program(WITHOUT_DESCRIPTORS)

    def next_line() -> str:
        process.stdin.write("\n")
        process.stdin.flush()
        line: str = process.stdout.readline().strip()
        return line

    address = process.stdout.readline().strip()
    next_line()
    with pytest.raises(OSError, match="no file descriptors left"):
        pyps.attach(address, timeout=0.5)
    with connected(address):
        assert float(next_line()) < 0.2
        next_line()
        with pyps.attach(address) as node:
            assert node.is_open


@pytest.mark.slow
def test_many_processes_attach_at_once(server: pyps.Server, program: Any) -> None:
    source = "kv = pyps.attach(sys.argv[1]).worker(); kv.push([0], np.ones(3, np.float32)); kv.finalize()"
    processes = [program(source, server.address) for _ in range(6)]
    for process in processes:
        assert process.wait(50) == 0
    with server.worker() as kv:
        out = np.zeros(3, np.float32)
        kv.pull([0], out)
        assert out.tolist() == [6.0] * 3
