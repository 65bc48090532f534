"""`pyps.lapse` and `pyps.adapm`: what their programs call, on nodes of the DMLC_* environment in this process."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pyps import adapm, lapse, originals
from pyps.rendezvous import dmlc
from pyps.rendezvous.environment import Dmlc, Environment
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
TIMEOUT = 50.0
HOST = "127.0.0.1"

Start = Callable[..., Any]


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Dmlc]:
    """Make this process a node of so many; return what the scheduler has to know."""

    def prepare(nodes: int) -> Dmlc:
        port = free_port(HOST)
        for name, value in (
            ("NUM_SERVER", nodes),
            ("ROLE", "server"),
            ("PS_ROOT_URI", HOST),
            ("PS_ROOT_PORT", port),
        ):
            monkeypatch.setenv(f"DMLC_{name}", str(value))
        return Dmlc(is_scheduler=True, num_servers=nodes, host=HOST, port=port)

    return prepare


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what other tests told `setup`."""
    monkeypatch.setattr(originals, "_setup", None)


@pytest.fixture
def start(environment: Callable[[int], Dmlc]) -> Iterator[Start]:
    """Start a scheduler and so many nodes; `create` makes a server. They end together with the test."""
    with ExitStack() as stack:

        def nodes(count: int, create: Callable[[], Any]) -> list[Any]:
            pool = stack.enter_context(ThreadPoolExecutor(count + 1))
            place = Environment(None, environment(count), None, None)
            over = pool.submit(dmlc.scheduler, environment=place)
            stack.callback(over.result, TIMEOUT)
            servers = list(pool.map(lambda _: create(), range(count)))
            stack.callback(lambda: list(pool.map(lambda server: server.shutdown(), servers)))
            return sorted(servers, key=lambda server: server.my_rank())

        yield nodes


def lengths() -> torch.Tensor:
    """As their programs give them: whole numbers in floats, one key of another length."""
    values = torch.ones(20) * 2
    values[5] = 10
    return values


@pytest.fixture(params=["lapse", "adapm"])
def kind(request: pytest.FixtureRequest) -> Any:
    """Either module."""
    return {"lapse": lapse, "adapm": adapm}[request.param]


def worker(kind: Any, number: Any, server: Any) -> Any:
    """Make the node's worker of this number, from 0."""
    return lapse.Worker(0, number + 1, server) if kind is lapse else adapm.Worker(number, server)


def test_what_one_node_pushes_the_other_pulls(kind: Any, start: Start) -> None:
    kind.setup(20, 1)
    first, second = start(2, lambda: kind.Server(lengths()))
    with worker(kind, 0, first) as here, worker(kind, 0, second) as there:
        assert (first.my_rank(), second.my_rank(), here.num_keys) == (0, 1, 20)
        assert (here.get_key_size(), here.get_key_size(5), here.get_key_size(key_id=5)) == (2, 10, 10)
        here.push(np.array([1, 4, 5]), np.arange(14, dtype=np.float32))
        here.set(torch.tensor([4]), torch.tensor([7.0, 8.0]))
        out = torch.zeros(14)
        there.pull(torch.tensor([5, 4, 1]), out)
        assert out.tolist() == [*range(4, 14), 7, 8, 0, 1]


@pytest.mark.slow
def test_async_is_the_third_argument_or_a_name(kind: Any, start: Start) -> None:
    kind.setup(20, 1)
    first, _ = start(2, lambda: kind.Server(2)) if kind is adapm else start(2, lambda: kind.Server(20, 2))
    with worker(kind, 0, first) as kv:
        keys, buffer = np.array([1, 3]), np.ones(4, np.float32)
        for _ in range(20):
            kv.push(keys, buffer, True)  # what was pulled before
            pulled = kv.pull(keys, buffer, **{"async": True})
        kv.wait(pulled)
        kv.wait(pulled)
        kv.wait(-1)
        kv.waitall()
        assert buffer.tolist() == [2**19] * 4
        kv.wait(kv.localize(keys, True))
        assert kv.pull_if_local(keys, buffer)


def test_calls_that_this_node_answered_return_minus_one(kind: Any, start: Start) -> None:
    kind.setup(20, 1)
    first, _ = start(2, lambda: kind.Server(2)) if kind is adapm else start(2, lambda: kind.Server(20, 2))
    with worker(kind, 0, first) as kv:
        keys, buffer = [0], np.ones(2, np.float32)
        calls = [call(keys, buffer) for call in (kv.pull, kv.push, kv.set, kv.staggered_push)]
        assert [*calls, kv.localize(keys)] == [-1] * 5
        assert all(isinstance(timestamp, int) for timestamp in calls)
        if kind is adapm:
            assert kv.intent([1], 0) == -1


def test_a_barrier_waits_for_all_workers_of_all_nodes(kind: Any, start: Start) -> None:
    kind.setup(20, 2)
    servers = start(2, lambda: kind.Server(torch.ones(20)))
    seen = []

    def work(kv: Any) -> None:
        out = np.zeros(1, np.float32)
        for _ in range(10):
            kv.push([3], np.ones(1, np.float32))
            kv.barrier()
            kv.pull([3], out)
            seen.append(out[0])
            kv.barrier()
        kv.finalize()

    workers = [worker(kind, number, server) for server in servers for number in range(2)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, workers, timeout=TIMEOUT))
    assert sorted(seen) == sorted(4 * list(range(4, 41, 4)))


def test_finalize_and_shutdown_may_come_from_any_thread_and_again(kind: Any, start: Start) -> None:
    kind.setup(20, 2)
    (server,) = start(1, lambda: kind.Server(torch.ones(20)))
    workers = [worker(kind, number, server) for number in range(2)]
    calls = [call for kv in workers for call in (kv.finalize, kv.finalize)] + 2 * [server.shutdown]
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert not any(thread.is_alive() for thread in threads)
    workers[0].finalize()
    server.shutdown()


def test_a_number_is_free_again_when_its_worker_has_left(kind: Any, start: Start) -> None:
    kind.setup(20, 2)
    (server,) = start(1, lambda: kind.Server(torch.ones(20)))
    first = worker(kind, 0, server)
    with pytest.raises(ValueError, match="which another worker of this server has"):
        worker(kind, 0, server)
    first.finalize()
    second = worker(kind, 0, server)
    del second
    assert worker(kind, 0, server).num_keys == 20


@pytest.mark.slow
@pytest.mark.parametrize("number", [-1, 2, 100])
def test_a_worker_beyond_those_announced_is_refused(kind: Any, start: Start, number: int) -> None:
    kind.setup(20, 2)
    (server,) = start(1, lambda: kind.Server(torch.ones(20)))
    first = 1 if kind is lapse else 0
    message = f"customer_id is {number + first}; .*num_threads=2.* has workers {first} to {first + 1}"
    with pytest.raises(ValueError, match=message):
        worker(kind, number, server)
    with pytest.raises(TypeError, match="server must be a Server, not str"):
        worker(kind, 0, "server")
    with pytest.raises(TypeError, match="customer_id must be an integer, not float"):
        worker(kind, 0.5, server)


BAD = {
    "wait of what was never issued": (lambda kv: kv.wait(99), ValueError, "timestamp 99 was not returned"),
    "wait of a negative": (lambda kv: kv.wait(-2), ValueError, "timestamp -2"),
    "a negative key": (lambda kv: kv.pull([-1], np.zeros(1, np.float32)), ValueError, "key -1 at position 0"),
    "a large key": (lambda kv: kv.push([20], np.zeros(1, np.float32)), ValueError, "key 20 at position 0"),
    "a float64 buffer": (lambda kv: kv.pull([1], torch.zeros(1, dtype=torch.float64)), TypeError, "float64"),
    "a wrong size": (lambda kv: kv.pull([1], np.zeros(2, np.float32)), ValueError, "2 elements"),
    "a read-only buffer": (
        lambda kv: kv.pull([1], np.broadcast_to(np.float32(1), 1)),
        ValueError,
        "read-only",
    ),
    "a key size of none": (lambda kv: kv.get_key_size(20), ValueError, "key 20"),
    "an unknown keyword": (lambda kv: kv.push([1], np.zeros(1, np.float32), sync=True), TypeError, "'sync'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("call", BAD)
def test_what_ended_their_process_is_an_error(kind: Any, start: Start, call: str) -> None:
    use, error, message = BAD[call]
    kind.setup(20, 1)
    (server,) = start(1, lambda: kind.Server(torch.ones(20)))
    with worker(kind, 0, server) as kv, pytest.raises(error, match=message):
        use(kv)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 1), ValueError, "num_keys is 0; it must be at least 1"),
        ((1, 0), ValueError, "num_threads is 0; it must be at least 1"),
        ((1.5, 1), TypeError, "num_keys must be an integer, not float"),
        ((1, "2"), TypeError, "num_threads must be an integer, not str"),
    ],
)
def test_a_bad_setup_is_refused(
    kind: Any, arguments: tuple[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kind.setup(*arguments)
    with pytest.raises(error, match=message):
        kind.scheduler(*arguments)


def test_a_server_before_setup_is_refused(kind: Any) -> None:
    with pytest.raises(RuntimeError, match="call setup\\(num_keys, num_threads\\) in this process"):
        kind.Server(torch.ones(20))


def test_without_the_environment_it_is_named(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DMLC_ROLE", "DMLC_PS_ROOT_URI"):
        monkeypatch.delenv(name, raising=False)
    kind.setup(20, 1)
    with pytest.raises(ValueError, match="DMLC_ROLE"):
        kind.Server(torch.ones(20))
    with pytest.raises(ValueError, match="DMLC_ROLE"):
        kind.scheduler(20, 1)


def test_lapse_says_how_many_keys_twice(start: Start) -> None:
    lapse.setup(20, 1)
    with pytest.raises(ValueError, match="num_keys is 21, but setup was told 20"):
        lapse.Server(21, 2)
    with pytest.raises(TypeError, match=r"Server\(20\) has no value length"):
        lapse.Server(20)
    (server,) = start(1, lambda: lapse.Server(20, 3))
    assert server.node.value_length == 3


def test_as_many_lengths_as_keys_or_one(kind: Any, start: Start) -> None:
    kind.setup(20, 1)
    (server,) = start(1, lambda: kind.Server(torch.tensor([3.0])))
    assert server.node.value_length == 3
    assert server.node.dtype.name == "float32"


REMOTE = [1, 3]  # keys of the second of two nodes


def test_what_another_node_answered_has_a_timestamp_also_if_it_has_ended(kind: Any, start: Start) -> None:
    kind.setup(20, 1)
    first, _ = start(2, lambda: kind.Server(torch.ones(20)))
    values = np.full(2, 5, np.float32)
    with worker(kind, 0, first) as kv:
        pushed = kv.push(REMOTE, values)
        was_set, pulled = kv.set(REMOTE, 2 * values), kv.pull(torch.tensor(REMOTE), values)
        assert values.tolist() == [10, 10]
        assert all(kv.is_finished(timestamp) and timestamp >= 0 for timestamp in (pushed, was_set, pulled))
        kv.wait(pushed, was_set, pulled)
        assert len({pushed, was_set, pulled}) == 3
        localized = kv.localize(REMOTE)
        assert localized > max(pushed, was_set, pulled)
        assert kv.pull_if_local(REMOTE, values)
        kv.wait(localized)
        assert kv.pull(REMOTE, values, **{"async": False}) == kv.push(REMOTE, values) == -1
        assert kv.set(REMOTE, values) == kv.localize(REMOTE) == -1


def test_lapse_has_a_handle_that_says_what_a_server_keeps(start: Start) -> None:
    handle = lapse.Handle(20, 3)
    assert (handle.num_keys, handle.value_length) == (20, 3)
    with pytest.raises(ValueError, match="num_keys is 0; it must be at least 1"):
        lapse.Handle(0, 3)
    with pytest.raises(TypeError, match="value_length must be an integer, not float"):
        lapse.Handle(20, 1.5)  # type: ignore[arg-type]
    lapse.setup(20, 1)
    with pytest.raises(ValueError, match="num_keys is 21, but setup was told 20"):
        lapse.Server(lapse.Handle(21, 3))
    (server,) = start(1, lambda: lapse.Server(handle))
    assert (server.node.num_keys, server.node.value_length) == (20, 3)


@pytest.mark.slow
def test_importing_them_starts_nothing_and_needs_no_environment() -> None:
    source = (
        "import threading, sys; from pyps import adapm, lapse\n"
        "assert threading.active_count() == 1 and 'torch' not in sys.modules and 'zmq' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", source], cwd=ROOT, check=True, timeout=TIMEOUT)
