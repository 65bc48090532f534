"""CURVE keys: with them everything between nodes is encrypted, and an end with other keys is refused and counted."""

from __future__ import annotations

import logging
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any, cast

import numpy as np
import pytest
import zmq
from torch.distributed import HashStore

import pyps

TIMEOUT = 30.0
CLUSTER = 5
HELLO = 1  # the kind of a worker's greeting
Keys = tuple[str, str]
Nodes = list[pyps.Server]


def new_keys() -> Keys:
    public, secret = zmq.curve_keypair()
    return public.decode(), secret.decode()


@pytest.fixture
def keys() -> Keys:
    return new_keys()


@pytest.fixture
def endpoints() -> list[str]:
    """Of the nodes of the fixture `nodes`."""
    return []


@pytest.fixture
def nodes(keys: Keys, endpoints: list[str]) -> Iterator[Nodes]:
    """Two nodes with keys, ten keys of three float32."""
    with ExitStack() as stack:
        pair = [
            stack.enter_context(pyps.Server(10, 3, num_nodes=2, rank=rank, cluster=CLUSTER, curve=keys))
            for rank in range(2)
        ]
        endpoints += [node.bind("tcp://127.0.0.1:*") for node in pair]
        for node in pair:
            node.connect(endpoints)
        yield pair


def refused(node: pyps.Server, at_least: int, knock_again: Callable[[], bool]) -> int:
    """Return the count once it is so high. An end that goes before the node looks at it is not refused: knock again."""
    end = time.monotonic() + TIMEOUT
    while (count := node.stats()["peers_refused"]) < at_least and time.monotonic() < end:
        assert not knock_again()
    return count


def knock(endpoint: str, server: str | None, own: Keys | None) -> bool:
    """Send a greeting as a worker would; whether there was an answer within a moment."""
    context = zmq.Context()
    try:
        with context.socket(zmq.DEALER) as socket:
            socket.linger = 0
            if server is not None and own is not None:
                socket.curve_serverkey = server.encode()
                socket.curve_publickey, socket.curve_secretkey = (key.encode() for key in own)
            socket.routing_id = b"W" + struct.pack("<HIQ", 0, 77, CLUSTER)
            socket.connect(endpoint)
            socket.send(struct.pack("<4sBBHQQ", b"MTPS", 3, HELLO, 0, CLUSTER, 0))
            return bool(socket.poll(500))
    finally:
        context.term()


def test_nodes_with_keys_share_their_values(nodes: Nodes) -> None:
    everything = np.arange(10)
    with nodes[0].worker() as kv, nodes[1].worker() as other:
        kv.push(everything, np.ones((10, 3), np.float32))
        other.localize(everything)
        other.push(everything, np.ones((10, 3), np.float32))
        out = np.zeros((10, 3), np.float32)
        kv.pull(everything, out)
    assert (out == 2).all()
    assert [node.stats()["peers_refused"] for node in nodes] == [0, 0]


@pytest.mark.slow
def test_another_process_gets_the_keys_with_the_memory(nodes: Nodes, program: Any) -> None:
    process = program(
        "node = pyps.attach(sys.argv[1])\nkv = node.worker()\nkv.push(np.arange(10), np.ones((10, 3), np.float32))\n"
        "kv.finalize()\nnode.shutdown()\nprint('pushed')",
        nodes[0].address,
    )
    assert process.communicate(timeout=TIMEOUT)[0] == "pushed\n"
    out = np.zeros((10, 3), np.float32)
    with nodes[1].worker() as kv:
        kv.pull(np.arange(10), out)
    assert (out == 1).all()


def test_the_right_keys_are_answered(nodes: Nodes, endpoints: list[str], keys: Keys) -> None:
    assert knock(endpoints[0], keys[0], keys)
    assert nodes[0].stats()["peers_refused"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["no keys", "own keys", "another cluster's keys"])
def test_others_are_refused_and_counted(nodes: Nodes, endpoints: list[str], keys: Keys, wrong: str) -> None:
    others = new_keys()
    server = {"no keys": None, "own keys": keys[0], "another cluster's keys": others[0]}[wrong]
    assert refused(nodes[0], 1, lambda: knock(endpoints[0], server, others)) >= 1
    assert nodes[1].stats()["peers_refused"] == 0
    out = np.zeros(3, np.float32)
    with nodes[1].worker() as kv:
        kv.pull([0], out)


def relay(listening: socket.socket, stop: socket.socket, endpoint: str, seen: bytearray) -> None:
    """Pass connections on to an endpoint and keep what goes through, until `stop` has something to read."""
    host, port = endpoint.removeprefix("tcp://").split(":")
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        selector.register(listening, selectors.EVENT_READ)
        selector.register(stop, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                source = cast(socket.socket, key.fileobj)
                if source is stop:
                    return
                if source is listening:
                    near = stack.enter_context(listening.accept()[0])
                    far = stack.enter_context(socket.create_connection((host, int(port))))
                    selector.register(near, selectors.EVENT_READ, far)
                    selector.register(far, selectors.EVENT_READ, near)
                    continue
                with suppress(ConnectionError):
                    if received := source.recv(65536):
                        seen += received
                        key.data.sendall(received)
                        continue
                selector.unregister(source)


@pytest.mark.slow
@pytest.mark.parametrize("secured", [True, False])
def test_values_travel_so_that_nobody_reads_them(keys: Keys, secured: bool) -> None:
    value = np.frombuffer(b"read me!", np.int64)
    seen = bytearray()
    curve = keys if secured else None
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        stop, stopped = socket.socketpair()
        stack.enter_context(stopped)
        pair = [
            stack.enter_context(
                pyps.Server(2, 1, dtype="int64", num_nodes=2, rank=rank, cluster=CLUSTER, curve=curve)
            )
            for rank in range(2)
        ]
        endpoints = [node.bind("tcp://127.0.0.1:*") for node in pair]
        thread = threading.Thread(target=relay, args=(listening, stopped, endpoints[1], seen))
        thread.start()
        stack.callback(thread.join, TIMEOUT)
        stack.callback(stop.close)
        pair[1].connect(endpoints)
        pair[0].connect([endpoints[0], f"tcp://127.0.0.1:{listening.getsockname()[1]}"])
        with pair[0].worker() as kv, pair[1].worker() as there:
            kv.set([1], value)
            out = np.zeros(1, np.int64)
            there.pull([1], out)
        assert out.tobytes() == b"read me!"
    assert (b"read me!" in seen) is not secured


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("", ""), "the public one has 0, the secret one 0"),
        (("x" * 40, "y" * 39), "the secret one 39"),
        (("x" * 40, "~" * 40), "not Z85"),
        (("x" * 40, "y" * 40), "the CURVE keys are no pair: to the secret one belongs the public key"),
    ],
)
def test_what_is_no_pair_of_keys_is_refused(pair: Keys, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyps.Server(10, 3, num_nodes=2, curve=pair)


def test_keys_come_before_the_endpoint(nodes: Nodes) -> None:
    with pytest.raises(ValueError, match="keys are given before a node is bound"):
        nodes[0].secure(*new_keys())


@pytest.mark.parametrize(
    "endpoint", ["tcp://*:*", "tcp://0.0.0.0:*", "tcp://[::]:*", "tcp://0:*", "tcp://[::ffff:0.0.0.0]:*"]
)
def test_no_node_listens_at_all_interfaces(endpoint: str) -> None:
    with pyps.Server(10, 3, num_nodes=2) as node, pytest.raises(ValueError, match="means all interfaces"):
        node.bind(endpoint)


def start(given: list[Keys | None]) -> list[Any]:
    store = HashStore()

    def init(rank: int) -> Any:
        try:
            return pyps.init(
                10, 3, rendezvous=store, num_nodes=len(given), rank=rank, curve=given[rank], timeout=TIMEOUT
            )
        except ValueError as error:
            return error

    with ThreadPoolExecutor(len(given)) as pool:
        return list(pool.map(init, range(len(given))))


@pytest.mark.slow
def test_a_cluster_starts_with_keys_and_logs_the_first_refusal(
    keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as stack:
        nodes = [stack.enter_context(node) for node in start([keys, keys])]
        with nodes[0].worker() as kv:
            kv.push(np.arange(10), np.ones((10, 3), np.float32))
        endpoint = nodes[1].endpoint
        with caplog.at_level(logging.WARNING):
            assert refused(nodes[1], 2, lambda: knock(endpoint, None, None)) >= 2
            end = time.monotonic() + TIMEOUT
            while not caplog.records and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(1.2)
    (record,) = caplog.records
    assert record.message.startswith("node 1 of 2: refused a connection without the cluster's CURVE keys; ")


@pytest.mark.parametrize("other", [None, new_keys()])
def test_nodes_with_different_keys_do_not_start(keys: Keys, other: Keys | None) -> None:
    errors = start([keys, other])
    assert [type(error) for error in errors] == [ValueError] * 2
    assert f"CURVE key is {keys[0]} at node 0, but {other and other[0]} at node 1" in str(errors[0])
    assert keys[1] not in str(errors[0])


@pytest.mark.slow
def test_the_environment_has_keys_too(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPS_CURVE_PUBLIC", keys[0])
    monkeypatch.setenv("PYPS_CURVE_SECRET", keys[1])
    with ExitStack() as stack:
        nodes = [stack.enter_context(node) for node in start([None, None])]
        assert refused(nodes[0], 1, lambda: knock(nodes[0].endpoint, None, None)) >= 1
