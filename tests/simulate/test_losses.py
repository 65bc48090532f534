"""Losses in simulated clusters."""

from __future__ import annotations

import math

import pytest

from benchmarks.simulate.losses import lose
from tests.pyps.native import native

HEARTBEAT, LOST_AFTER = 0.5, 3.0  # seconds: of few nodes


@native
@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("lost", [0, -1])
@pytest.mark.parametrize("nodes", [3, 20])
def test_all_others_learn_of_it_at_once(nodes: int, lost: int, goes_on: bool) -> None:
    loss = lose(nodes, goes_on=goes_on, lost=lost)
    assert loss.known == nodes - 1
    assert 0 < loss.seconds < HEARTBEAT
    assert loss.messages >= nodes - 1


@native
def test_a_silent_node_is_lost_in_time() -> None:
    loss = lose(20, refused=False)
    assert loss.known == 19
    assert LOST_AFTER - 2 * HEARTBEAT < loss.seconds <= LOST_AFTER + HEARTBEAT


@native
def test_a_loss_is_the_same_again() -> None:
    assert lose(10).messages == lose(10).messages
    assert lose(10).seconds == lose(10).seconds


@native
@pytest.mark.parametrize("goes_on", [True, False])
def test_messages_grow_as_nodes_times_their_logarithm(goes_on: bool) -> None:
    sent = {nodes: lose(nodes, goes_on=goes_on).messages for nodes in (32, 256)}
    assert all(messages < 3 * nodes * math.log2(nodes) for nodes, messages in sent.items())
