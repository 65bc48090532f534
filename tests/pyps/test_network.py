"""Nodes on hosts of their own, over links that can be cut. Collected where this process may make such hosts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.pyps.network import Network
from tests.pyps.nodes import Cluster

pytestmark = pytest.mark.slow

LIMIT = 5.0  # seconds until a cut link is known everywhere
NUM_KEYS = 30


@pytest.fixture
def network() -> Iterator[Network]:
    """Three hosts."""
    with Network(3) as network:
        yield network


def cluster(network: Network, **options: Any) -> Cluster:
    return Cluster(len(network.hosts), network.hosts, num_keys=NUM_KEYS, **options)


def test_values_are_exact_over_a_real_network(network: Network) -> None:
    keys = list(range(NUM_KEYS))
    with cluster(network) as nodes:
        for node in nodes.nodes:
            node.write(
                f"[kv.push({keys}, values({keys}), asynchronous=True) for _ in range(200)] and kv.waitall()"
            )
        for node in nodes.nodes:
            assert "value" in node.read()
        nodes.nodes[1].value(f"kv.localize({keys[:20]})")
        for node in nodes.nodes:
            assert node.value(f"pull({keys})") == [600] * NUM_KEYS
        for node in nodes.nodes:
            node.leave()
        for node in nodes.nodes:
            assert node.read() == "ended"


@pytest.mark.long
def test_a_cut_link_is_a_lost_node_on_both_sides_within_seconds(network: Network) -> None:
    """And stays so when it is whole again: each side has gone on without the other."""
    with cluster(network) as nodes:
        began = time.monotonic()
        network.cut(2)
        for rank, key in ((0, 2), (1, 2), (2, 0)):
            nodes.nodes[rank].write(f"pull([{key}])")
        reports = [node.read() for node in nodes.nodes]
        assert time.monotonic() - began < LIMIT
        assert [report["error"] for report in reports] == ["NodeLost"] * 3
        assert [report["node"] for report in reports[:2]] == [2, 2]
        assert reports[2]["node"] in (0, 1)
        network.heal(2)
        time.sleep(1)
        for rank, key in ((0, 2), (1, 2), (2, 0)):
            report = nodes.nodes[rank].do(f"kv.push([{key}], values([{key}]))")
            assert report["error"] == "NodeLost"


@pytest.mark.long
def test_a_link_that_is_cut_for_less_than_the_limit_loses_nothing(network: Network) -> None:
    with cluster(network) as nodes:
        for node in nodes.nodes:
            node.write("[kv.push([0, 1, 2], values([0, 1, 2])) for _ in range(400)] and None")
        for _ in range(2):
            network.cut(1)
            time.sleep(0.5)
            network.heal(1)
            time.sleep(0.5)
        for node in nodes.nodes:
            assert "value" in node.read()
        for node in nodes.nodes:
            assert node.value("pull([0, 1, 2])") == [1200] * 3


@pytest.mark.long
@pytest.mark.parametrize("cut", [0, 2])
def test_the_larger_side_of_a_cut_goes_on_and_the_other_cannot_write(network: Network, cut: int) -> None:
    """In the middle of pushes; when the link is whole again there is still one owner of each key, or none."""
    rest = [rank for rank in range(3) if rank != cut]
    moved = rest[0]  # a key whose home goes on, but not its owner
    lost = [key for key in range(NUM_KEYS) if key % 3 == cut or key == moved]
    living = [key for key in range(NUM_KEYS) if key not in lost]
    push = f"kv.push({living}, values({living}))"
    with cluster(network, on_loss="continue", heartbeat=0.1, lost_after=1.0) as nodes:
        gone, others = nodes.nodes[cut], [nodes.nodes[rank] for rank in rest]
        gone.value(f"kv.localize([{moved}])")
        for actor in nodes.nodes:
            actor.write(f"[(outcome(lambda: {push}), time.sleep(0.005))[0] for _ in range(400)]")
        time.sleep(0.5)
        network.cut(cut)
        done, failed = 0, 0
        for actor in nodes.nodes:
            for report in actor.read()["value"]:
                assert report.get("error", "NodeLost") == "NodeLost"
                assert report["seconds"] < LIMIT
                done, failed = (done, failed + 1) if "error" in report else (done + 1, failed)
        assert "may go on without it" in gone.until("pull([0])", "NodeLost")["text"]
        for actor in others:
            for key in lost:
                assert actor.until(f"pull([{key}])", "NodeLost")["node"] == cut
        network.heal(cut)
        time.sleep(1)
        for key in range(NUM_KEYS):
            assert gone.do(f"kv.push([{key}], values([{key}]))")["error"] == "NodeLost"
        before = others[0].value(f"pull({living})")
        assert all(done <= value <= done + failed for value in before)
        for actor in others:
            actor.value(push)
        for actor in others:
            assert actor.value(f"pull({living})") == [value + 2 for value in before]
        owners = [
            actor.value(f"[kv.pull_if_local([key], values([key])) for key in {living}]") for actor in others
        ]
        assert [sum(map(bool, here)) for here in zip(*owners, strict=True)] == [1] * len(living)
        for actor in others:
            for key in lost:
                assert actor.do(f"pull([{key}])")["node"] == cut


@pytest.mark.long
@pytest.mark.parametrize("cut", [0, 2])
def test_with_replicas_the_larger_side_of_a_cut_has_every_key(network: Network, cut: int) -> None:
    """With each push that either side was told of; calls on the larger side only wait."""
    keys = list(range(NUM_KEYS))
    push = f"kv.push({keys}, values({keys}))"
    with cluster(network, replicas=1, on_loss="continue", heartbeat=0.1, lost_after=1.0) as nodes:
        gone, others = nodes.nodes[cut], [actor for rank, actor in enumerate(nodes.nodes) if rank != cut]
        for actor in nodes.nodes:
            actor.write(f"[(outcome(lambda: {push}), time.sleep(0.005))[0] for _ in range(400)]")
        time.sleep(0.5)
        network.cut(cut)
        for actor in others:
            assert [report for report in actor.read()["value"] if "error" in report] == []
        reports = gone.read()["value"]
        done = 2 * 400 + sum("error" not in report for report in reports)
        assert reports[-1]["error"] == "NodeLost"
        network.heal(cut)
        for actor in others:
            assert all(done <= value <= done + 1 for value in actor.value(f"pull({keys})"))
