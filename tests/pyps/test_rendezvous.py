"""Nodes meet, agree and start; what does not fit is named on all of them. All in one process, a thread per node."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, cast

import numpy as np
import pytest
from torch.distributed import HashStore

import pyps
from pyps.rendezvous import offers
from pyps.rendezvous.store import serve_store
from tests.ports import OWN, free_port

TIMEOUT = 30.0


def together(count: int, call: Callable[[int], Any]) -> list[Any]:
    """Call with the ranks at once; return what each returned or raised."""

    def catch(rank: int) -> Any:
        try:
            return call(rank)
        except Exception as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(catch, range(count)))


def start(count: int, store: Any = None, **options: Any) -> list[pyps.Node]:
    store = store or HashStore()
    nodes = together(
        count,
        lambda rank: pyps.init(
            30, 2, rendezvous=store, num_nodes=count, rank=rank, timeout=TIMEOUT, **options
        ),
    )
    assert [type(node).__name__ for node in nodes] == ["ClusterServer"] * count
    return nodes


def check_that_they_share(nodes: list[pyps.Node]) -> None:
    keys = np.arange(30)
    for node in nodes:
        with node.worker() as kv:
            kv.push(keys, np.ones((30, 2), np.float32))
    out = np.zeros((30, 2), np.float32)
    with nodes[-1].worker() as kv:
        kv.pull(keys, out)
    assert (out == len(nodes)).all()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "DMLC_ROLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("alone")
def test_without_others_it_is_a_server() -> None:
    with pyps.init(30, 2) as node:
        assert (node.num_nodes, node.rank) == (1, 0)
        check_that_they_share([node])


@pytest.mark.parametrize("count", [2, 4])
def test_nodes_meet_at_a_store(count: int) -> None:
    with ExitStack() as stack:
        nodes = [stack.enter_context(node) for node in start(count)]
        assert [node.rank for node in nodes] == list(range(count))
        check_that_they_share(nodes)


def test_node_0_serves_a_rendezvous_that_is_an_address() -> None:
    where = f"tcp://{OWN}:{free_port(OWN)}"
    with ExitStack() as stack:
        for node in start(3, where):
            stack.enter_context(node)


def test_endpoints_are_enough() -> None:
    nodes = [f"tcp://{OWN}:{free_port(OWN)}" for _ in range(3)]
    with ExitStack() as stack:
        started = together(3, lambda rank: pyps.init(30, 2, nodes=nodes, rank=rank, timeout=TIMEOUT))
        for node in started:
            stack.enter_context(node)
        check_that_they_share(started)
        for endpoint in nodes:
            socket.create_connection((OWN, int(endpoint.rsplit(":")[-1])), 5).close()


def test_nodes_shut_down_in_any_order() -> None:
    where = f"tcp://{OWN}:{free_port(OWN)}"
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        nodes = start(3, where)
        for rank in order:
            nodes[rank].shutdown()
            nodes[rank].shutdown()


def test_a_cluster_starts_again_in_place() -> None:
    store = HashStore()
    for _ in range(3):
        with ExitStack() as stack:
            check_that_they_share([stack.enter_context(node) for node in start(2, store)])


def test_several_clusters_live_in_one_process() -> None:
    with ExitStack() as stack:
        first = [stack.enter_context(node) for node in start(2)]
        second = [stack.enter_context(node) for node in start(3)]
        check_that_they_share(first)
        check_that_they_share(second)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [[0], [1, 3]])
def test_nodes_that_do_not_come_are_named(missing: list[int]) -> None:
    store = HashStore()
    begin = time.monotonic()

    def come(rank: int) -> pyps.Node | None:
        if rank in missing:
            return None
        return pyps.init(30, 2, rendezvous=store, num_nodes=4, rank=rank, timeout=0.5)

    errors = [error for error in together(4, come) if error is not None]
    nodes = "node 0 of 4" if missing == [0] else "nodes 1, 3 of 4"
    assert {type(error) for error in errors} == {pyps.WaitTimeoutError}
    assert {str(error) for error in errors} == {
        f"the cluster did not start: {nodes} did not come within 0.5 s"
    }
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        ({"num_keys": 31}, "num_keys is 30 at nodes 0, 2, but 31 at node 1"),
        ({"value_length": 3}, "value_length is 2 at nodes 0, 2, but 3 at node 1"),
        (
            {"value_length": [2] * 29 + [1]},
            r"value_length is 2 at .*, but 30 lengths, 59 in all .* at node 1",
        ),
        ({"dtype": "int64"}, "dtype is float32 at nodes 0, 2, but int64 at node 1"),
        ({"lost_after": 4.0}, "lost_after is the default at nodes 0, 2, but 4.0 at node 1"),
        ({"on_loss": "continue"}, "on_loss is fail at nodes 0, 2, but continue at node 1"),
        ({"server_threads": 2}, "server_threads is 1 at nodes 0, 2, but 2 at node 1"),
        ({"compression": "top_k"}, "compression is none at nodes 0, 2, but top_k:share=0.1 at node 1"),
        ({"optimizer": "sgd:lr=2"}, "optimizer is none at nodes 0, 2, but sgd:lr=2,weight_decay=0,"),
        (
            {"initializer": "normal:std=2"},
            "initializer is zeros at nodes 0, 2, but normal:mean=0,std=2,seed=0 at",
        ),
        ({"techniques": "replication_only"}, "techniques is auto at .*, but replication_only at node 1"),
    ],
)
def test_all_nodes_name_what_differs(one: dict[str, Any], expected: str) -> None:
    store = HashStore()
    usual: dict[str, Any] = {"num_keys": 30, "value_length": 2}
    errors = together(
        3,
        lambda rank: pyps.init(
            **(usual | (one if rank == 1 else {})), rendezvous=store, num_nodes=3, rank=rank, timeout=TIMEOUT
        ),
    )
    assert [type(error) for error in errors] == [ValueError] * 3
    assert len({str(error) for error in errors}) == 1
    with pytest.raises(ValueError, match=f"the nodes disagree: {expected}"):
        raise errors[0]


def test_equal_lengths_agree_however_they_are_given() -> None:
    store = HashStore()
    lengths = [2, np.full(30, 2), [2.0]]
    with ExitStack() as stack:
        for node in together(
            3,
            lambda rank: pyps.init(
                30, lengths[rank], rendezvous=store, num_nodes=3, rank=rank, timeout=TIMEOUT
            ),
        ):
            stack.enter_context(node)


def test_versions_that_differ_are_named() -> None:
    mine = offers.describe(2, 30, np.array([2]), "float32", None, {})
    pair = [
        offers.Offer(node, "here", "tcp://127.0.0.1:1", "", "", agreed)
        for node, agreed in enumerate((mine, {**mine, "version": "0.0.1"}))
    ]
    assert str(offers.find_disagreement(pair)).endswith("but 0.0.1 at node 1")


def test_a_loopback_is_no_endpoint_for_nodes_of_another_host() -> None:
    agreed = offers.describe(2, 30, np.array([2]), "float32", None, {})
    pair = [offers.Offer(node, f"host {node}", "tcp://127.0.0.1:1", "", "", agreed) for node in range(2)]
    assert "node 1 on another host cannot reach: name an interface" in str(offers.find_disagreement(pair))


def test_a_node_that_fails_ends_the_start_of_all() -> None:
    store = HashStore()
    begin = time.monotonic()
    errors = together(
        3,
        lambda rank: pyps.init(
            30,
            2,
            rendezvous=store,
            num_nodes=3,
            rank=rank,
            timeout=TIMEOUT,
            memory_limit=1 if rank == 1 else None,
        ),
    )
    assert [type(error) for error in errors] == [pyps.StartError, MemoryError, pyps.StartError]
    assert str(errors[0]) == str(errors[2]) == f"the cluster did not start: node 1: {errors[1]}"
    assert time.monotonic() - begin < TIMEOUT / 2


@pytest.mark.slow
def test_a_rendezvous_that_nobody_serves_is_named() -> None:
    where = f"tcp://{OWN}:{free_port(OWN)}"
    with pytest.raises(pyps.StartError, match=f"nobody serves the rendezvous at {where[6:]} after 0.3 s"):
        pyps.init(30, 2, rendezvous=where, num_nodes=2, rank=1, timeout=0.3)


@pytest.mark.slow
def test_a_rank_that_is_there_already_is_refused() -> None:
    where = f"tcp://{OWN}:{free_port(OWN)}"
    with ExitStack() as stack:
        for node in start(2, where):
            stack.enter_context(node)
        with pytest.raises(pyps.StartError, match="has the process already that this one would be"):
            pyps.init(30, 2, rendezvous=where, num_nodes=2, rank=1, timeout=0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rank": 0}, "say nothing without nodes"),
        ({"num_nodes": 2}, "say nothing without nodes"),
        ({"rendezvous": "tcp://127.0.0.1:5000", "rank": 0}, "num_nodes is missing"),
        ({"rendezvous": "tcp://127.0.0.1:5000", "num_nodes": 2}, "rank is missing"),
        (
            {"rendezvous": "tcp://127.0.0.1:5000", "num_nodes": 2, "rank": 2},
            r"rank is 2; it must be in \[0, 2\)",
        ),
        ({"rendezvous": "tcp://127.0.0.1:0", "num_nodes": 2, "rank": 0}, "all nodes must know its port"),
        ({"rendezvous": "127.0.0.1:5000", "num_nodes": 2, "rank": 0}, "must be like 'tcp://host:port'"),
        ({"nodes": ["tcp://127.0.0.1:5000", "here"], "rank": 1}, r"nodes\[1\] is 'here'"),
        ({"nodes": ["tcp://127.0.0.1:*"] * 2, "rank": 0}, r"a port of \* leaves open where the nodes meet"),
        ({"nodes": ["tcp://0.0.0.0:5000"] * 2, "rank": 0}, "means all interfaces"),
        ({"nodes": ["tcp://127.0.0.1:1"], "num_nodes": 2, "rank": 0}, "nodes has 1 endpoints"),
    ],
)
def test_arguments_that_say_too_little_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyps.init(30, 2, **arguments)


def test_one_string_is_no_list_of_nodes() -> None:
    with pytest.raises(TypeError, match="it must be a sequence with one endpoint per node"):
        pyps.init(30, 2, nodes="tcp://127.0.0.1:5000", rank=0)


def test_two_environments_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {
        "RANK": "0",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "1",
        "DMLC_ROLE": "server",
        "DMLC_NUM_SERVER": "2",
        "DMLC_PS_ROOT_URI": "127.0.0.1",
        "DMLC_PS_ROOT_PORT": "1",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match="both DMLC_\\* and torchrun's variables"):
        pyps.init(30, 2)


def test_the_start_leaves_one_thread_per_node() -> None:
    before = threading.active_count()
    with ExitStack() as stack:
        for node in start(3, f"tcp://{OWN}:{free_port(OWN)}"):
            stack.enter_context(node)
        names = [thread.name for thread in threading.enumerate() if thread.name.startswith("pyps")]
        assert names == ["pyps-watch"] * 3
    assert threading.active_count() == before


def test_an_orderly_end_of_the_host_is_no_loss(caplog: pytest.LogCaptureFixture) -> None:
    first, second = start(2, f"tcp://{OWN}:{free_port(OWN)}")
    first.shutdown()
    time.sleep(0.1)
    second.shutdown()
    assert caplog.records == []


def test_node_0_serves_the_rendezvous_at_its_address_alone() -> None:
    port = free_port(OWN)
    store: Any = serve_store(OWN, port)
    assert store.host == OWN
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 5)


@pytest.mark.parametrize("interface", ["lo", "127.0.0.3"])
def test_a_node_listens_at_the_interface_that_was_named(interface: str) -> None:
    with ExitStack() as stack:
        nodes = [stack.enter_context(node) for node in start(2, interface=interface)]
        place = "tcp://127.0.0.1:" if interface == "lo" else "tcp://127.0.0.3:"
        assert all(cast(Any, node).endpoint.startswith(place) for node in nodes)


def test_nodes_meet_and_work_over_ipv6() -> None:
    with socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        where = f"tcp://[::1]:{probe.getsockname()[1]}"
    with ExitStack() as stack:
        nodes = [stack.enter_context(node) for node in start(2, where, interface="::1")]
        assert all(cast(Any, node).endpoint.startswith("tcp://[::1]:") for node in nodes)
        check_that_they_share(nodes)


def test_a_node_that_anybody_reaches_without_keys_says_so(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyps.rendezvous.start.is_loopback", lambda endpoint: False)
    with caplog.at_level(logging.WARNING), ExitStack() as stack:
        for node in start(2):
            stack.enter_context(node)
    assert sum("without CURVE keys" in record.message for record in caplog.records) == 2
