"""Simulated clusters: what must be so whatever the costs are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.network.hosts import Link
from benchmarks.simulate.program import Seen, simulate
from benchmarks.simulate.settings import Costs, Run, Zipf, load_costs
from examples.apps.management import MANAGEMENTS
from tests.pyps.native import native

WORK = Zipf(batches=6, batch_keys=200, compute=0.002)
RUN = Run(keys=2000, work=WORK)
LIMIT = 60.0


def seen(run: Run) -> Seen:
    found = simulate(run, LIMIT)
    assert found.refused.most == 0
    return found


def free() -> Costs:
    """Costs of nothing: only links take time."""
    costs = load_costs()
    none = replace(costs.turn, once=0.0, key=0.0, byte=0.0)
    names = ("turn", "local", "asked", "send", "receive", "io")
    return replace(
        costs,
        taken=dict.fromkeys(costs.taken, none),
        **dict.fromkeys(names, none),  # type: ignore[arg-type]
        **dict.fromkeys(("system", "call", "tell", "sleep", "wake"), 0.0),  # type: ignore[arg-type]
    )


@native
@pytest.mark.parametrize("management", MANAGEMENTS)
@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_every_push_arrives_once(nodes: int, management: str) -> None:
    found = seen(replace(RUN, nodes=nodes, workers=2, management=management))
    assert found.pushed == found.total > 0
    assert found.messages.mean == found.messages_received.mean
    assert found.bytes.mean == found.bytes_received.mean
    assert (found.messages.mean > 0) == (nodes > 1)


@native
def test_keys_may_be_any_numbers() -> None:
    found = seen(replace(RUN, nodes=3, keys=10**9, capacity=20_000))
    few = seen(replace(RUN, nodes=3, keys=10**4, capacity=20_000))
    assert found.messages.mean > 0
    assert found.memory.most < 4 * few.memory.most


@native
def test_a_seed_decides_all() -> None:
    once, again, other = (seen(replace(RUN, nodes=3, seed=seed)) for seed in (1, 1, 2))
    real = {"took": 0.0, "measured": {}}  # what is of this machine
    assert replace(once, **real) == replace(again, **real)  # type: ignore[arg-type]
    assert once.barriers != other.barriers


@native
def test_a_node_alone_needs_nobody() -> None:
    found = seen(replace(RUN, nodes=1, costs=free()))
    assert found.messages.most == found.taken.most == 0
    assert found.share_local == 1
    assert found.epochs()[-1] == pytest.approx(WORK.batches * WORK.compute)


@native
@pytest.mark.parametrize("delay", [0.001, 0.002])
@pytest.mark.parametrize("written", [0.0, WORK.written])
def test_a_pull_takes_two_delays(delay: float, written: float) -> None:
    """Also where batches have keys in common: it goes behind the pushes, and does not wait for their answers."""
    work = replace(WORK, written=written)
    run = replace(RUN, management="classic", link=Link(delay), costs=free(), work=work)
    expected = work.batches * (work.compute + 2 * delay) + 2 * delay  # as much for the barrier
    expected += 2 * delay if written else 0.0  # and for the last push
    assert seen(run).epochs()[-1] == pytest.approx(expected, rel=0.01)


@native
def test_a_link_carries_no_more_than_its_rate() -> None:
    run = replace(RUN, management="classic", link=Link(0.0, 1e7), costs=free())
    found = seen(run)
    assert 8 * found.bytes.most / 1e7 <= sum(found.epochs())
    assert 8 * found.bytes.most / 1e7 > 0.5 * sum(found.epochs())


@native
def test_what_links_have_in_common_takes_its_time_for_each_batch() -> None:
    """And as long for what confirms it: so it is busy at least so long."""
    once = 0.001
    run = replace(RUN, management="classic", link=Link(0.0), costs=free())
    found = seen(replace(run, shared_once=once))
    sent = found.batches.mean * RUN.nodes
    assert found.barriers[-1] - found.barriers[0] == pytest.approx(2 * once * sent, rel=0.2)
    assert seen(run).barriers[-1] < found.barriers[-1]


@native
def test_management_by_intents_makes_accesses_local() -> None:
    shares = {way: seen(replace(RUN, management=way)).share_local for way in ("classic", "intent")}
    assert shares["classic"] < 0.6
    assert shares["intent"] > 0.95


@native
def test_a_quota_bounds_what_is_computed() -> None:
    run = replace(RUN, nodes=1, costs=free())
    whole = seen(run).epochs()[-1]
    half = seen(replace(run, quota=0.001, period=0.002)).epochs()[-1]
    assert half == pytest.approx(2 * whole, rel=0.1)


@native
def test_nodes_of_one_machine_share_its_processors() -> None:
    work = replace(WORK, written=0.0)
    run = replace(RUN, management="classic", link=Link(0.0), costs=free(), work=work)
    alone, shared = (seen(replace(run, machine=machine)).epochs()[-1] for machine in (0, 1))
    assert shared == pytest.approx(2 * alone, rel=0.1)


@native
def test_keys_of_short_intents_stay_where_they_are_on_many_nodes() -> None:
    moved = {nodes: seen(replace(RUN, nodes=nodes, management="intent")).relocations.mean for nodes in (4, 6)}
    assert moved[6] < 0.1 * moved[4]


def carried(run: Run) -> float:
    """Return the part of what ZeroMQ's threads of a node compute that the busiest one does."""
    found = seen(run)
    return found.carrier_seconds.mean / found.socket_seconds.mean


@native
def test_a_worker_has_a_thread_for_its_connections_beside_its_nodes() -> None:
    """A pull or push is two messages for that of the worker, and two for that of the other node."""
    assert carried(replace(RUN, management="classic")) == pytest.approx(1 / 2, rel=0.2)


@native
@pytest.mark.parametrize(("nodes", "processors", "threads"), [(32, 4, 1), (33, 2, 1), (33, 4, 2)])
def test_many_nodes_have_more_threads_for_connections_where_processors_are_left(
    nodes: int, processors: int, threads: int
) -> None:
    """With intents nearly all messages are between servers."""
    work = replace(WORK, batches=2, batch_keys=100)
    run = replace(RUN, nodes=nodes, processors=processors, management="intent", work=work)
    assert carried(run) == pytest.approx(1 / threads, rel=0.1)
