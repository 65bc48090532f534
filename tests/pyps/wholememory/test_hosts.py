"""Rows across hosts of their own, over a real network; collected where this process may make such hosts."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.pyps.network import Network
from tests.pyps.nodes import Actor, Cluster

pytestmark = pytest.mark.slow

HOSTS, ROWS, LENGTH = 3, 30, 6
LIMIT = 5.0  # seconds until an end is known everywhere
BEGIN = f"""
import torch
from pyps import wholememory as wm
table = wm.ChunkedTensor(node, place=True)
def rows(indices, value=1):
    return torch.full((len(indices), {LENGTH}), value)
def gather(indices):
    return wm.gather(table, torch.tensor(indices))[:, 0].tolist()
def add(indices, value=1):
    wm.scatter_add(table, torch.tensor(indices), rows(indices, value))
def write(indices, value=1):
    wm.scatter(table, torch.tensor(indices), rows(indices, value))
"""


@pytest.fixture
def network() -> Iterator[Network]:
    with Network(HOSTS) as network:
        yield network


def cluster(network: Network, **options: Any) -> Cluster:
    return Cluster(HOSTS, network.hosts, num_keys=ROWS, value_length=LENGTH, **options)


def begin(nodes: Cluster) -> list[Actor]:
    """Have every node place its rows."""
    for node in nodes.nodes:
        node.write(f"exec({BEGIN!r}, globals())")
    for node in nodes.nodes:
        assert "value" in node.read()
    return nodes.nodes


@pytest.mark.long
def test_rows_are_placed_written_added_and_gathered_over_a_real_network(network: Network) -> None:
    everything = list(range(ROWS))
    with cluster(network) as nodes:
        actors = begin(nodes)
        assert [actor.value("table.local_rows[0]") for actor in actors] == [0, 10, 20]
        for actor in actors:
            own = f"list(table.local_rows), np.empty((10, {LENGTH}), np.int64)"
            assert actor.value(f"kv.pull_if_local({own})")
        actors[0].value(f"write({everything}, 7)")
        for actor in actors:
            actor.write(f"[add({everything}) for _ in range(100)] and None")
        for actor in actors:
            assert "value" in actor.read()
        for actor in actors:
            assert actor.value(f"gather({everything})") == [7 + 100 * HOSTS] * ROWS
            actor.value("table.close()")
        for actor in actors:
            actor.leave()
        for actor in actors:
            assert actor.read() == "ended"


@pytest.mark.long
@pytest.mark.parametrize("call", ["gather", "write", "add"])
def test_a_host_that_is_killed_in_the_middle_is_named_in_time(network: Network, call: str) -> None:
    with cluster(network) as nodes:
        *others, victim = begin(nodes)
        for actor in (*others, victim):
            actor.write(f"[{call}([0, 10, 20]) for _ in range(1 << 30)] and None")
        time.sleep(0.3)
        victim.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        for actor in others:
            report = actor.read()
            assert (report["error"], report["node"]) == ("NodeLost", 2)
            assert "node 2" in report["text"]
        assert time.monotonic() - killed < LIMIT


@pytest.mark.long
def test_the_rows_of_the_hosts_that_stay_stay_where_nodes_go_on(network: Network) -> None:
    with cluster(network, on_loss="continue") as nodes:
        *others, victim = begin(nodes)
        others[0].value(f"add({list(range(ROWS))}, 5)")
        victim.send_signal(signal.SIGKILL)
        for actor in others:
            assert actor.until("gather([25])", "NodeLost", LIMIT)["node"] == 2
            assert "node 2" in actor.do("add([1, 25])")["text"]
        for actor in others:
            assert actor.value("gather([0, 9, 10, 19])") == [5] * 4
        others[1].value("write([0, 19], 8)")
        for actor in others:
            assert actor.value("gather([0, 19])") == [8, 8]
