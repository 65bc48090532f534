"""`pyps.init(join=...)`: invitations, what is told at the door, and what is refused there."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import zmq

import pyps
from pyps.rendezvous import door
from pyps.rendezvous.door import Invitation
from pyps.rendezvous.start import ClusterServer
from tests.ports import OWN, free_port
from tests.waiting import wait_until

KEYS = np.arange(300)
OPTIONS: dict[str, Any] = {"replicas": 1, "heartbeat": 0.1, "lost_after": 1.0}


@contextlib.contextmanager
def begun(places: int = 3, **options: Any) -> Iterator[ClusterServer]:
    """Give the first node of a cluster, in which each key is 1."""
    node = pyps.init(len(KEYS), 4, places=places, **OPTIONS, **options)
    assert isinstance(node, ClusterServer)
    with node:
        with node.worker() as kv:
            kv.push(KEYS, np.ones((len(KEYS), 4), np.float32))
        yield node


def join(invitation: str, **options: Any) -> ClusterServer:
    node = pyps.init(len(KEYS), 4, join=invitation, timeout=20, **{**OPTIONS, **options})
    assert isinstance(node, ClusterServer)
    return node


def wait_for_members(nodes: Sequence[pyps.Node], expected: list[int]) -> None:
    """Wait until all have heard of the epoch: the node that joins may be the first."""
    wait_until(lambda: [node.members for node in nodes] == [expected] * len(nodes))


def ask(invitation: str, line: bytes) -> dict[str, Any]:
    """Say something at a door; return what it answers."""
    where = Invitation.read(invitation)
    with socket.create_connection((where.host, where.port), 10) as talk:
        talk.sendall(line)
        received = b""
        while part := talk.recv(4096):
            received += part
    answer: dict[str, Any] = json.loads(received)
    return answer


def test_a_node_joins_the_only_one_and_passes_the_invitation_on() -> None:
    with begun() as first:
        assert first.num_nodes == 1
        second = join(first.invitation)
        third = join(second.invitation)
        assert (second.rank, third.rank) == (1, 2)
        wait_for_members((first, second, third), [0, 1, 2])
        with third.worker() as kv:
            np.testing.assert_array_equal(kv.pull(KEYS), np.ones((len(KEYS), 4)))
        with pytest.raises(
            pyps.StartError, match="has had nodes for all of its 3 places: start it with more"
        ):
            join(first.invitation)
        first.leave()
        wait_for_members((second, third), [1, 2])
        with third.worker() as kv:
            np.testing.assert_array_equal(kv.pull(KEYS), np.ones((len(KEYS), 4)))
        ending = threading.Thread(target=second.shutdown)
        ending.start()
        third.shutdown()
        ending.join(20)
        assert not ending.is_alive()


def test_a_node_joins_one_that_has_met_others_at_a_rendezvous() -> None:
    port = free_port(OWN)
    where: dict[str, Any] = {"rendezvous": f"tcp://{OWN}:{port}", "num_nodes": 2, "places": 3, **OPTIONS}
    found: list[ClusterServer] = []

    def start(rank: int) -> None:
        node = pyps.init(len(KEYS), 4, rank=rank, timeout=20, **where)
        assert isinstance(node, ClusterServer)
        found.append(node)

    other = threading.Thread(target=start, args=(1,))
    other.start()
    start(0)
    other.join(20)
    found.append(join(found[0].invitation))
    wait_for_members(found, [0, 1, 2])
    for node in found:
        node.shutdown(0)


def test_the_environment_invites_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    with begun() as first:
        monkeypatch.setenv("PYPS_JOIN", first.invitation)
        node = pyps.init(len(KEYS), 4, timeout=20, **OPTIONS)
        assert (node.rank, node.num_nodes) == (1, 1)
        with pytest.raises(ValueError, match="leave nodes, rendezvous, num_nodes and rank out"):
            pyps.init(len(KEYS), 4, join=first.invitation, rank=1)
        node.shutdown(0)


def test_nodes_with_keys_are_joined_by_those_with_the_same() -> None:
    keys, others = zmq.curve_keypair(), zmq.curve_keypair()
    same, different = ((public.decode(), secret.decode()) for public, secret in (keys, others))
    with begun(curve=same) as first:
        with pytest.raises(ValueError, match="CURVE key is None here"):
            join(first.invitation)
        with pytest.raises(ValueError, match=r"CURVE key is .* here and .* at node 0"):
            join(first.invitation, curve=different)
        node = join(first.invitation, curve=same)
        wait_for_members((first, node), [0, 1])
        node.shutdown(0)


def test_a_node_with_other_arguments_is_told_which() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"replicas": 0}, "replicas is 0 here and 1 at node 0"),
        ({"dtype": "int32"}, "dtype is int32 here and float32 at node 0"),
        ({"optimizer": "sgd:lr=0.1"}, "optimizer is sgd.* here and none at node 0"),
    ]
    with begun() as first:
        for wrong, message in cases:
            with pytest.raises(ValueError, match=f"this node disagrees with the cluster: {message}"):
                join(first.invitation, **wrong)
        node = join(first.invitation)
        assert node.rank == 1  # the place was not given away
        node.shutdown(0)


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1:5", "tcp://127.0.0.1:5", "http://h:1/a", "tcp://h:x/a", "tcp://h:1/x"]
)
def test_what_is_no_invitation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"it must be the `invitation` of a node of the cluster"):
        pyps.init(10, join=text or " ")


def test_an_invitation_is_written_as_it_is_read() -> None:
    for text in ("tcp://127.0.0.1:5000/00000000000000ff", "tcp://[fd00::1]:5000/7fffffffffffffff"):
        assert str(Invitation.read(text)) == text


def test_a_node_that_nobody_answers_says_so() -> None:
    port = free_port(OWN)
    with pytest.raises(pyps.StartError, match=f"no node of the cluster answers at {OWN}:{port}"):
        pyps.init(10, join=f"tcp://{OWN}:{port}/ff", timeout=2)


def test_another_clusters_invitation_is_refused() -> None:
    with begun() as first:
        where = Invitation.read(first.invitation)
        with pytest.raises(pyps.StartError, match="the invitation is another cluster's"):
            join(str(Invitation(where.host, where.port, where.cluster ^ 1)))


def test_nonsense_at_the_door_changes_nothing() -> None:
    lines = [
        b"\n",
        b"{}\n",
        b"[1]\n",
        b"\xff\xfe\n",
        b'{"cluster": "x", "agreed": {}}\n',
        b'{"cluster": 5}\n',
        b"x" * 20_000,
    ]
    with begun() as first:
        for line in lines:
            assert ask(first.invitation, line) == {"error": "this is no question of a node that joins"}
        node = join(first.invitation)
        assert node.rank == 1
        node.shutdown(0)


def test_the_secret_is_asked_for_before_anything_is_told() -> None:
    with begun() as first:
        question = door.encode({"cluster": 1, "agreed": {}})
        assert ask(first.invitation, question) == {"error": "the invitation is another cluster's"}


def test_the_door_closes_with_its_node() -> None:
    with begun() as first:
        invitation = first.invitation
    start = time.monotonic()
    with pytest.raises(pyps.StartError, match="no node of the cluster answers"):
        join(invitation)
    assert time.monotonic() - start < 5


def test_a_cluster_without_places_has_no_invitation() -> None:
    with pytest.raises(ValueError, match="others can join only where keys have replicas, so pass replicas=1"):
        pyps.init(10, places=4)
    with pytest.raises(ValueError, match=r"places is 1; it must be in \[2, "):
        pyps.Server(10, num_nodes=2, places=1, replicas=1)
    with pyps.init(10) as node:
        assert getattr(node, "invitation", "") == ""


def test_two_that_ask_two_members_at_once_get_two_numbers() -> None:
    with begun(places=4) as first, join(first.invitation) as second:
        wait_for_members((first, second), [0, 1])
        with ThreadPoolExecutor() as pool:
            others = list(pool.map(join, (first.invitation, second.invitation)))
        assert sorted(node.rank for node in others) == [2, 3]
        wait_for_members((first, second, *others), [0, 1, 2, 3])
        for node in others:
            node.shutdown(0)


def test_a_number_is_given_once_whichever_node_gives_it() -> None:
    with begun(places=40) as first, join(first.invitation) as second:
        wait_for_members((first, second), [0, 1])
        with ThreadPoolExecutor(16) as pool:  # most at a node that does not decide by itself
            taken = list(
                pool.map(lambda node: node.take_place(20), [second, second, first, second] * 9 + [second] * 2)
            )
            assert sorted(taken) == list(range(2, 40))
        for node in (first, second):
            with pytest.raises(
                RuntimeError, match="has had nodes for all of its 40 places: start it with more"
            ):
                node.take_place()
        with pyps.attach(second.address) as attached, pytest.raises(ValueError, match="process that created"):
            attached.take_place()
