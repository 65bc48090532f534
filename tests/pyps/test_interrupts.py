"""Signals end calls that wait for another node, and leave the worker and the buffers as they should be."""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Iterator

import pytest

from tests.pyps.nodes import Actor, Cluster

NUM_KEYS = 2000
IN_FLIGHT = 1000  # bytes
SOON = 1.0  # seconds

# What a node's process runs besides: waits for key `k`, which lives on the other node. Some have `out` for a buffer.
SOURCE = """
import signal

class Refused(Exception):
    pass

def refuse(number, frame):
    raise Refused

handled = []
HANDLERS = {
    "KeyboardInterrupt": signal.default_int_handler,
    "Refused": refuse,
    None: lambda number, frame: handled.append(number),
}
node.enable_sampling_support("naive", True, "uniform", 1000, 2000)
out = values([0], 7)

def fill(k):
    for _ in range(1000):
        kv.push([k], values([k]), asynchronous=True)

def mix(k):
    kv.push([k, 0] * 20, values([k, 0] * 20))

WAITS = {
    "pull": lambda k: kv.pull([k], out),
    "push": lambda k: kv.push([k], out),
    "set": lambda k: kv.set([k], out),
    "localize": lambda k: kv.localize([k]),
    "pull_sample": lambda k: kv.pull_sample(kv.prepare_sample(30, 0), np.zeros(30, np.int64), values(range(30))),
    "wait": lambda k: kv.wait(kv.push([k], out, asynchronous=True)),
    "waitall": lambda k: (kv.push([k], out, asynchronous=True), kv.waitall()),
    "timestamp.wait": lambda k: kv.push([k], out, asynchronous=True).wait(),
    "order": lambda k: (kv.set([k], out, asynchronous=True), kv.pull([k], values([k]), asynchronous=True)),
    "room": fill,
    "wait_sync": lambda k: (kv.push([k], out, asynchronous=True), kv.wait_sync()),
    "quiesce": lambda k: (kv.push([k], out, asynchronous=True), kv.quiesce()),
    "end_setup": lambda k: kv.end_setup(),
    "barrier": lambda k: kv.barrier(),
    "nodes' barrier": lambda k: node.barrier(),
    "finalize": lambda k: (lambda other: (other.push([k], out, asynchronous=True), other.finalize()))(node.worker()),
}

def wait(name, k, expected):
    out.fill(7)
    signal.signal(signal.SIGINT, HANDLERS[expected])
    say("waits")
    try:
        WAITS[name](k)
    except (KeyboardInterrupt, Refused) as error:
        return type(error).__name__
    return "ended"
"""


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    with Cluster(2, num_keys=NUM_KEYS, lost_after=60.0, in_flight=IN_FLIGHT) as cluster:
        cluster.nodes[0].value(f"exec({SOURCE!r}, globals())")
        cluster.nodes[1].value(f"kv.push(list(range({NUM_KEYS})), values(range({NUM_KEYS})))")
        yield cluster


@pytest.fixture
def stopped(nodes: Cluster) -> Iterator[Actor]:
    """The node that the other one waits for; it is gone on with after the test."""
    nodes.nodes[1].stop()
    yield nodes.nodes[1]
    nodes.nodes[1].send_signal(signal.SIGCONT)


_keys = itertools.count(5, 2)


@pytest.fixture
def key() -> int:
    """A key of the second node that no other test has used."""
    return next(_keys)


WAITS = [
    "pull",
    "push",
    "set",
    "localize",
    "pull_sample",
    "wait",
    "waitall",
    "timestamp.wait",
    "order",
    "room",
    "wait_sync",
    "quiesce",
    "end_setup",
    "barrier",
    "nodes' barrier",
    "finalize",
]


def interrupt(actor: Actor, name: str, key: int, expected: str) -> None:
    """Have it wait, interrupt it, and check that it raises what was expected soon."""
    actor.write(f"wait({name!r}, {key}, {expected!r})")
    assert actor.read() == "waits"
    time.sleep(0.2)
    start = time.monotonic()
    actor.send_signal(signal.SIGINT)
    report = actor.read()
    assert report.get("value") == expected, report
    assert time.monotonic() - start < SOON


@pytest.mark.slow
@pytest.mark.parametrize("expected", ["KeyboardInterrupt", "Refused"])
@pytest.mark.parametrize("name", WAITS)
def test_a_signal_ends_a_wait_for_a_stopped_node(
    nodes: Cluster, stopped: Actor, key: int, name: str, expected: str
) -> None:
    here = nodes.nodes[0]
    interrupt(here, name, key, expected)
    stopped.send_signal(signal.SIGCONT)
    here.value("kv.waitall(20)")
    assert here.value("out.tolist()") == [[7, 7, 7]]
    assert here.value(f"kv.push([{key}, 0], values([0, 0])) or pull([2, 3])") == [1, 1]


@pytest.mark.slow
def test_a_buffer_that_an_interrupted_pull_gave_back_can_be_filled_by_another(
    nodes: Cluster, stopped: Actor, key: int
) -> None:
    here = nodes.nodes[0]
    stopped.send_signal(signal.SIGCONT)
    stopped.value(f"kv.set([{key}], values([0], 5))")
    stopped.stop()
    interrupt(here, "pull", key, "KeyboardInterrupt")
    here.value(f"kv.pull([{next(_keys)}], out, asynchronous=True)")
    stopped.send_signal(signal.SIGCONT)
    assert here.value("(kv.waitall(20), out.tolist())")[1] == [[1, 1, 1]]


@pytest.mark.slow
def test_an_operation_that_waited_for_room_has_done_nothing(nodes: Cluster, stopped: Actor, key: int) -> None:
    """Not even for its keys on this node, of which there are some behind the first one on the other."""
    here = nodes.nodes[0]
    before = here.value("pull([0])")
    interrupt(here, "room", key, "KeyboardInterrupt")
    here.value("WAITS.update(mix=mix)")
    interrupt(here, "mix", key, "KeyboardInterrupt")
    stopped.send_signal(signal.SIGCONT)
    here.value("kv.waitall(20)")
    assert here.value("pull([0])") == before
    assert here.value(f"(mix({key}), pull([0]))")[1] == [before[0] + 20]


@pytest.mark.slow
def test_a_signal_that_is_handled_does_not_end_a_wait(nodes: Cluster, stopped: Actor, key: int) -> None:
    here = nodes.nodes[0]
    here.write(f"wait('pull', {key}, None)")
    assert here.read() == "waits"
    for _ in range(3):
        time.sleep(0.1)
        here.send_signal(signal.SIGINT)
    stopped.send_signal(signal.SIGCONT)
    assert here.read()["value"] == "ended"
    assert here.value("(len(handled), out.tolist())") == [3, [[1, 1, 1]]]


@pytest.mark.slow
def test_waits_of_other_threads_go_on(nodes: Cluster, stopped: Actor, key: int) -> None:
    here = nodes.nodes[0]
    here.value(
        "globals().update(reports={}, other=threading.Thread(target=lambda:"
        f" reports.update(everything([{key}], ['pull', 'wait', 'localize'])))) or other.start()"
    )
    interrupt(here, "push", key, "KeyboardInterrupt")
    assert here.value("other.is_alive()")
    stopped.send_signal(signal.SIGCONT)
    reports = here.value("other.join(20) or reports")
    assert sorted(reports) == ["localize", "pull", "wait"]
    assert all("value" in report for report in reports.values()), reports


def test_a_wait_that_a_thread_shares_holds_up_neither_python_nor_short_calls(
    nodes: Cluster, stopped: Actor, key: int
) -> None:
    """Both threads use one worker; the clock's calls keep the GIL."""
    here = nodes.nodes[0]
    here.value(f"globals().update(other=threading.Thread(target=lambda: pull([{key}]))) or other.start()")
    report = here.do("[kv.advance_clock() for _ in range(5)] and other.is_alive()")
    assert report["value"]
    assert report["seconds"] < SOON
    stopped.send_signal(signal.SIGCONT)
    assert not here.value("other.join(20) or other.is_alive()")
