"""A node's HTTP endpoint: its counts are those of what was done, and no client hurts the node."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

import pyps
from pyps import answering
from pyps.rendezvous.offers import Offer, find_metrics
from pyps.watching.reading import Reading, read
from tests.pyps.conftest import Start, finish

TIMEOUT = 20.0
NUM_KEYS = 40
HOME = [np.arange(rank, NUM_KEYS, 2) for rank in range(2)]  # by node, of two
PREFIX = "moontide_node_"


def fetch(address: str) -> str:
    with urllib.request.urlopen(address, timeout=TIMEOUT) as response:
        text: str = response.read().decode()
        return text


def samples(node: pyps.Server) -> dict[tuple[str, ...], float]:
    """What Prometheus's own parser makes of it: name and values of labels, to the value."""
    found = {}
    for family in text_string_to_metric_families(fetch(f"{node.metrics_address}/metrics")):
        assert family.documentation
        assert family.type in ("gauge", "counter", "histogram")
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("node") == str(node.rank)
            found[sample.name.removeprefix(PREFIX), *labels.values()] = sample.value
    return found


def place_of(node: pyps.Server) -> tuple[str, int]:
    parts = urlsplit(node.metrics_address)
    return parts.hostname or "", parts.port or 0


def send(line: socket.socket, part: bytes, times: int, pause: float = 0) -> None:
    """Send so many parts, or fail."""
    for _ in range(times):
        line.sendall(part)
        time.sleep(pause)


def rest(line: socket.socket) -> bytes:
    """What still comes until the other side closes."""
    found = b""
    with suppress(ConnectionResetError):
        while part := line.recv(65536):
            found += part
    return found


@pytest.fixture
def node() -> Iterator[pyps.Server]:
    with pyps.Server(NUM_KEYS, 1, metrics_port=0) as server:
        yield server


def test_prometheus_reads_tables_by_their_names(node: pyps.Server) -> None:
    with node.worker() as kv:
        node.table("users", dim=2)
        kv.table("users").push([5, 7, 8], np.ones((3, 2), np.float32))
        found = samples(node)
        assert [found["keys",], found["keys", "users"]] == [NUM_KEYS, 3]
        assert [found["operations_total", "push"], found["operations_total", "users", "push"]] == [0, 1]
        node.drop_table("users")
        assert ("keys", "users") not in samples(node)


def test_prometheus_reads_what_was_done(cluster: Start) -> None:
    pair = cluster(2, NUM_KEYS, 1, dtype="int64", metrics_port=0)
    ones = np.ones(len(HOME[0]), np.int64)
    with pair[0].worker() as kv:
        for _ in range(3):
            kv.push(HOME[1], ones)
        kv.pull([0, 2, 1], ones[:3])
        kv.localize([1, 3])
        kv.set([1, 3], ones[:2])
        found, other = samples(pair[0]), samples(pair[1])
    assert {kind: found["operations_total", kind] for kind in ("pull", "push", "set", "localize")} == {
        "pull": 1,
        "push": 3,
        "set": 1,
        "localize": 1,
    }
    keys = {(*kind[1:],): count for kind, count in found.items() if kind[0] == "operation_keys_total"}
    assert keys == {
        ("pull", "local"): 2,
        ("pull", "remote"): 1,
        ("push", "local"): 0,
        ("push", "remote"): 60,
        ("set", "local"): 2,
        ("set", "remote"): 0,
    }
    assert [found["keys",], other["keys",]] == [22, 18]
    assert [found["relocations_total", "in"], other["relocations_total", "out"]] == [2, 2]
    assert [found["remote_operations_total",], found["workers",], found["up",]] == [5, 1, 1]
    assert [found["cluster_nodes",], found["nodes_lost",], found["operations_pending",]] == [2, 0, 0]
    assert found["operation_seconds_count", "push", "remote"] == 3
    buckets = [
        (kind[3], n)
        for kind, n in found.items()
        if kind[:3] == ("operation_seconds_bucket", "push", "remote")
    ]
    assert [n for _, n in buckets] == sorted(n for _, n in buckets)
    assert buckets[-1] == ("+Inf", 3)
    assert found["operation_seconds_sum", "push", "remote"] > 0
    assert sum(n for kind, n in other.items() if kind[0] == "operations_total") == 0


def test_json_has_a_reading(node: pyps.Server) -> None:
    with node.worker() as kv:
        for _ in range(61):
            kv.pull([1])
        found = json.loads(fetch(f"{node.metrics_address}/stats"))
        assert found["stats"] == node.stats()
        assert found["workers"] == node.worker_stats()
    assert found["latencies"]["pull"]["local"]["counted"] == 1
    assert 0 < found["latencies"]["pull"]["local"]["p50"] < 1
    assert found["latencies"]["push"]["local"]["p99"] is None
    assert Reading.from_json(found).latencies == node.latencies()
    now = read(node)
    assert Reading.from_json(json.loads(json.dumps(now.as_json()))) == now


@pytest.mark.parametrize(
    "foreign", [[], {}, {"latencies": 3}, {"latencies": {}, "stats": {}, "workers": {}}, "x", None]
)
def test_what_is_no_reading_is_refused(foreign: Any) -> None:
    with pytest.raises(ValueError, match="this is no reading of a node"):
        Reading.from_json(foreign)


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET / HTTP/1.1", 200),
        ("GET /metrics?a=b HTTP/1.0", 200),
        ("HEAD /metrics HTTP/1.1", 200),
        ("GET /other HTTP/1.1", 404),
        ("POST /metrics HTTP/1.1", 405),
        ("GET /metrics", 400),
        ("GET /metrics HTTP/2.0", 400),
        ("\x00\xff\x80 garbage", 400),
        ("", 400),
    ],
)
def test_a_request_gets_its_status(node: pyps.Server, request_line: str, status: int) -> None:
    with socket.create_connection(place_of(node), TIMEOUT) as line:
        line.sendall(request_line.encode("latin-1") + b"\r\nHost: here\r\n\r\n")
        found = rest(line)
    head, body = found.split(b"\r\n\r\n", 1)
    assert head.startswith(b"HTTP/1.1 %d " % status)
    length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
    assert len(body) == (0 if request_line.startswith("HEAD") else length)
    assert length > 0


def test_a_huge_header_is_refused_and_forgotten(node: pyps.Server) -> None:
    with socket.create_connection(place_of(node), TIMEOUT) as line:
        line.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 20000)
        assert line.recv(100).startswith(b"HTTP/1.1 431 ")
    line = socket.create_connection(place_of(node), TIMEOUT)
    with closing(line), pytest.raises((BrokenPipeError, ConnectionResetError)):
        send(line, bytes(65536), 1000)
    assert samples(node)["up",] == 1


@pytest.mark.slow
def test_slow_and_silent_clients_are_dropped_and_others_served(
    node: pyps.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "PATIENCE", 0.5)
    with ExitStack() as stack, node.worker() as kv:
        lines = [stack.enter_context(socket.create_connection(place_of(node), TIMEOUT)) for _ in range(20)]
        for line in lines[10:]:
            line.sendall(b"GET /metrics HTTP/1.1\r\n")  # and no more
        assert samples(node)["workers",] == 1
        kv.push([1], np.ones(1, np.float32))
        start = time.monotonic()
        dripping = stack.enter_context(socket.create_connection(place_of(node), TIMEOUT))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send(dripping, b"x", 1000, pause=0.02)
        assert time.monotonic() - start < 10
        assert [rest(line) for line in lines] == [b""] * 20


def test_connections_beyond_the_limit_are_closed_at_once(node: pyps.Server) -> None:
    with ExitStack() as stack:
        for _ in range(answering.MOST_CONNECTIONS):
            stack.enter_context(socket.create_connection(place_of(node), TIMEOUT))
        with socket.create_connection(place_of(node), TIMEOUT) as line:
            assert rest(line) == b""
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            assert samples(node)["up",] == 1
            break
        except (OSError, urllib.error.URLError):  # the others are not gone yet
            assert time.monotonic() < end


@pytest.mark.slow
def test_clients_that_read_nothing_do_not_stay(node: pyps.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "PATIENCE", 0.3)
    with ExitStack() as stack:
        for _ in range(answering.MOST_CONNECTIONS):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            line.connect(place_of(node))
            line.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        time.sleep(0.5)
        assert samples(node)["up",] == 1


def test_a_taken_port_is_a_clear_error_and_leaves_nothing(node: pyps.Server) -> None:
    host, port = place_of(node)
    with pytest.raises(
        OSError, match=rf"cannot listen at {host}:{port}: Address already in use: name another metrics_"
    ):
        pyps.Server(10, 1, metrics_port=port)
    with pytest.raises(ValueError, match=r"metrics_port is 65536; it must be in \[0, 65535\]"):
        pyps.Server(10, 1, metrics_port=65536)
    with pytest.raises(ValueError, match="means all interfaces"):
        pyps.Server(10, 1, metrics_port=0, metrics_host="0.0.0.0")


def test_shutdown_closes_the_port(node: pyps.Server) -> None:
    host, port = place_of(node)
    silent = socket.create_connection((host, port), TIMEOUT)
    node.shutdown()
    node.shutdown()
    with closing(silent), pytest.raises(OSError, match="refused"):
        socket.create_connection((host, port), TIMEOUT)
    with pyps.Server(10, 1, metrics_port=port) as again:
        assert samples(again)["keys",] == 10


def test_a_dropped_node_closes_its_port() -> None:
    node = pyps.Server(10, 1, metrics_port=0)
    place = place_of(node)
    del node
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(place, TIMEOUT)


def test_a_node_without_a_port_has_no_endpoint() -> None:
    with pyps.Server(10, 1) as node:
        assert node.metrics_address == ""


@pytest.mark.slow
def test_a_forked_child_has_no_part_in_it(program: Any) -> None:
    source = """
import socket, urllib.request
node = pyps.Server(10, 1, metrics_port=0)
child = os.fork()
if child == 0:
    node._endpoint.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print(len(urllib.request.urlopen(node.metrics_address + "/stats", timeout=20).read()) > 1000)
second = os.fork()
if second == 0:
    time.sleep(60)
place = node.metrics_address.split("/")[-1].split(":")
node.shutdown()
try:
    socket.create_connection((place[0], int(place[1])), 20)
except ConnectionRefusedError:
    print("closed")
os.kill(second, 9)
os.waitpid(second, 0)
"""
    assert finish(program(source)) == "True\nclosed\n"


def test_the_environment_may_name_the_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYPS_METRICS_PORT", "0")
    with pyps.init(10, 1) as node:
        assert isinstance(node, pyps.Server)
        assert samples(node)["keys",] == 10
    with pyps.init(10, 1, metrics_port=None) as node:
        assert isinstance(node, pyps.Server)
        assert node.metrics_address == ""
    monkeypatch.setenv("PYPS_METRICS_PORT", "x")
    with pytest.raises(
        ValueError, match="PYPS_METRICS_PORT is 'x' in the environment; it must be a whole number"
    ):
        pyps.init(10, 1)


def test_addresses_of_other_hosts_loopback_are_not_told() -> None:
    def offer(node: int, host: str, metrics: str) -> Offer:
        return Offer(node, host, "tcp://10.0.0.1:1", "", "", {}, metrics)

    offers = [
        offer(0, "a", "http://127.0.0.1:1"),
        offer(1, "b", "http://127.0.0.1:1"),
        offer(2, "b", "http://10.0.0.2:1"),
        offer(3, "a", ""),
    ]
    assert find_metrics(offers, "a") == ("http://127.0.0.1:1", "", "http://10.0.0.2:1", "")
