"""The rows of docs/names.md on Lapse and AdaPM: what is the same runs, by keywords too; the rest says what to write."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import pyps
from pyps import adapm, lapse, originals
from pyps.familiar import LAPSE, NODE, ORIGINALS
from tests.conftest import descriptors
from tests.pages import keywords, rows

SECTION = "From Lapse and AdaPM"
TIMEOUT = 50.0
HOST = "127.0.0.1"
KEYS, LENGTH = 20, 2


def start_scheduler(kind: Any, patch: pytest.MonkeyPatch) -> threading.Thread:
    """Start the module's scheduler, and make this process its only node."""
    with closing(socket.create_server((HOST, 0))) as probe:
        port = probe.getsockname()[1]
    variables = {
        "DMLC_NUM_SERVER": "1",
        "DMLC_ROLE": "scheduler",
        "DMLC_PS_ROOT_URI": HOST,
        "DMLC_PS_ROOT_PORT": str(port),
        "DMLC_NODE_HOST": HOST,
        "DMLC_INTERFACE": "lo",
        "DMLC_NUM_WORKER": "0",
        "DMLC_LOCAL": "0",
    }
    for name, value in variables.items():
        patch.setenv(name, value)
    scheduler = threading.Thread(target=kind.scheduler, args=(KEYS, 1))
    scheduler.start()
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            socket.create_connection((HOST, port), 1).close()
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    patch.setenv("DMLC_ROLE", "server")
    return scheduler


def wait_for_connections() -> None:
    """The scheduler takes a node's connection when it comes to it: it is none that a test leaves behind."""
    found, since = descriptors(), time.monotonic()
    while time.monotonic() - since < 0.5:
        time.sleep(0.02)
        if descriptors() != found:
            found, since = descriptors(), time.monotonic()


def node(kind: Any, create: Callable[[], Any]) -> Iterator[Any]:
    """Let a server of a module work until the caller comes back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(originals, "_setup", None)
        scheduler = start_scheduler(kind, patch)
        kind.setup(num_keys=KEYS, num_threads=1)
        server = create()
    wait_for_connections()
    yield server
    server.shutdown()
    scheduler.join(TIMEOUT)
    assert not scheduler.is_alive()


@pytest.fixture(scope="module")
def of_lapse() -> Iterator[Any]:
    yield from node(lapse, lambda: lapse.Server(num_keys=KEYS, value_length=LENGTH))


@pytest.fixture(scope="module")
def of_adapm() -> Iterator[Any]:
    for server in node(adapm, lambda: adapm.Server(LENGTH)):
        server.enable_sampling_support(
            scheme="naive", with_replacement=True, distribution="uniform", min=5, max=KEYS
        )
        yield server


class World:
    """A server of each module, and their workers while a row asks for them."""

    def __init__(self, of_lapse: Any, of_adapm: Any) -> None:
        self.of_lapse = of_lapse
        self.of_adapm = of_adapm
        self.open: list[Any] = []

    def lapse(self) -> Any:
        self.open.append(lapse.Worker(app_id=0, customer_id=1, server=self.of_lapse))
        return self.open[-1]

    def adapm(self) -> Any:
        self.open.append(adapm.Worker(customer_id=0, server=self.of_adapm))
        return self.open[-1]

    def workers(self) -> list[Any]:
        return [self.lapse(), self.adapm()]


@pytest.fixture
def world(of_lapse: Any, of_adapm: Any) -> Iterator[World]:
    made = World(of_lapse, of_adapm)
    yield made
    for worker in made.open:
        worker.finalize()


def ones() -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.ones(2 * LENGTH, np.float32)


def set_up(world: World) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(originals, "_setup", None)
        lapse.setup(num_keys=KEYS, num_threads=1)
        adapm.setup(KEYS, 1, "relocation_only", 4)
        assert originals.required_setup() == originals.Setup(KEYS, 1, "relocation_only", 4)
        adapm.setup(num_keys=KEYS, num_threads=1, use_techniques="replication_only", num_channels=-1)
        assert originals.required_setup() == originals.Setup(KEYS, 1, "replication_only")
    with pyps.init(num_keys=KEYS, value_length=LENGTH, num_workers=1) as node:
        assert node.num_keys == KEYS


def by_lengths(world: World) -> None:
    lengths = torch.ones(KEYS)
    lengths[5] = 10
    for kind in (lapse, adapm):
        for server in node(kind, partial(kind.Server, value_lengths=lengths)):
            assert (server.node.get_key_size(5), server.node.get_key_size(6)) == (10, 1)


def by_servers(world: World) -> None:
    for server in (world.of_lapse, world.of_adapm):
        assert server.my_rank() == 0
        server.barrier()


def moved(world: World) -> None:
    keys = torch.tensor([1, 4])
    for kv in world.workers():
        out = torch.zeros(2 * LENGTH)
        kv.set(keys=keys, vals=torch.ones(2 * LENGTH))
        kv.push(keys=keys, vals=torch.ones(2 * LENGTH))
        kv.pull(keys=keys, vals=out)
        assert out.tolist() == [2] * 4


def asynchronously(world: World) -> None:
    keys, buffer = np.array([2, 3]), ones()
    for kv in world.workers():
        kv.set(keys, ones())
        for done in (
            kv.push(keys, ones(), True),
            kv.push(keys, ones(), **{"async": True}),
            kv.push(keys, ones(), asynchronous=True),
            kv.pull(keys=keys, vals=buffer, **{"async": True}),
        ):
            kv.wait(done)
        assert buffer.tolist() == [4] * 4


def localized(world: World) -> None:
    for kv in world.workers():
        kv.wait(kv.localize([1, 2], True))
        kv.localize(keys=np.array([1, 2]))
        assert kv.pull_if_local([1, 2], ones())


def intended(world: World) -> None:
    for kv in world.workers():
        kv.intent(keys=np.array([1]), start=kv.current_clock() + 1, end=kv.current_clock() + 3)
        kv.advance_clock()
        assert kv.current_clock() == 1


def sampled(world: World) -> None:
    kv, keys, values = world.adapm(), np.zeros(8, np.int64), np.zeros(8 * LENGTH, np.float32)
    sample = kv.prepare_sample(K=8, start=kv.current_clock(), end=0)
    kv.wait(kv.pull_sample(id=sample, keys=keys, vals=values, **{"async": True}))
    assert ((keys >= 5) & (keys < KEYS)).all()


def of_pyps(world: World) -> None:
    with pyps.Server(KEYS, LENGTH) as server, server.worker() as kv:
        server.enable_sampling_support("naive", True, "uniform", 5, KEYS, seed=1)
        kv.pull_sample(kv.prepare_sample(n=2, start=0), np.zeros(2, np.int64), ones())
    sampled(world)


def waited(world: World) -> None:
    for kv in world.workers():
        kv.wait(kv.push([1], ones()[:LENGTH], True))
        kv.waitall()
        kv.wait_sync()
        kv.barrier()
        kv.finalize()


def warned(world: World) -> None:
    with pytest.warns(DeprecationWarning, match="wait_sync"):
        world.adapm().wait_replica_sync()


def in_setup(world: World) -> None:
    for kv in world.workers():
        kv.begin_setup()
        kv.end_setup()


def sized(world: World) -> None:
    for kv in world.workers():
        assert (kv.get_key_size(), kv.get_key_size(key_id=3), kv.num_keys) == (LENGTH, LENGTH, KEYS)


def derived(world: World) -> None:
    class Mine(adapm.Worker):
        def __init__(self, size: int) -> None:
            super().__init__(0, world.of_adapm)
            self.size = size

        def pull(self, keys: Any, vals: Any = None, asynchronous: bool = False, **options: bool) -> Any:
            vals = np.empty((len(keys), self.size), np.float32) if vals is None else vals
            super().pull(keys, vals, asynchronous, **options)
            return vals

    with Mine(LENGTH) as kv:
        assert kv.pull([1, 2]).shape == (2, LENGTH)


def handled(world: World) -> None:
    handle = lapse.Handle(KEYS, LENGTH)
    assert (handle.num_keys, handle.value_length) == (KEYS, LENGTH)


def by_options(world: World) -> None:
    options, rest = adapm.split_arguments(["--sys.techniques=all", "--sampling.reuse", "2", "--epochs=3"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(originals, "_setup", None)
        adapm.setup(KEYS, 1, options=options)
        assert originals.required_setup().options == {"sys.techniques": "all", "sampling.reuse": 2}
    assert rest == ["--epochs=3"]


def traced(world: World) -> None:
    with pyps.Server(KEYS, trace_keys=[3]) as server:
        assert [(event.key, event.event) for event in server.trace()] == [(3, "here")]


def in_periods(world: World) -> None:
    for kv in world.workers():
        periods = pyps.Periods(kv)
        kv.push([1], np.ones(LENGTH, np.float32))
        assert periods.end()["local_share"] == 1


def of_every_dtype(world: World) -> None:
    for name in ("float32", "float64", "float16", "bfloat16", "int32", "int64"):
        with pyps.init(num_keys=2, value_length=1, dtype=name) as node:
            assert node.dtype.name == name


def refused(call: Callable[..., object], **named: Any) -> Callable[[World], object]:
    """Return a row that makes a call."""
    return lambda _: call(**named)


Row = Callable[[World], object]
ROWS: dict[str, Row | tuple[Row, str]] = {
    "`lapse.Handle(num_keys, value_length)`": handled,
    "`lapse.setup(num_keys, num_threads)`": set_up,
    "`adapm.setup(num_keys=, num_threads=, use_techniques=, num_channels=)`": set_up,
    "`scheduler(num_keys, num_threads)`": lambda world: None,  # the fixtures call it
    "`lapse.Server(num_keys, value_length)`, `adapm.Server(value_length)`": lambda world: (
        None
    ),  # so with these
    "`Server(value_lengths=)`": by_lengths,
    "`server.my_rank()`, `server.barrier()`, `server.shutdown()`": by_servers,
    "`server.enable_sampling_support(scheme=, with_replacement=, distribution=, min=, max=)`": sampled,
    "`lapse.Worker(app_id, customer_id, server)`, `adapm.Worker(customer_id, server)`": World.workers,
    "`kv.pull(keys=, vals=)`, `kv.push(keys=, vals=)`, `kv.set(keys=, vals=)`": moved,
    "`kv.pull(keys, vals, True)`, `async=True`": asynchronously,
    "`kv.localize(keys=)`, `kv.localize(keys, True)`": localized,
    "`kv.intent(keys=, start=, end=)`, `kv.advance_clock()`, `kv.current_clock()`": intended,
    "`kv.prepare_sample(K=, start=, end=)`": of_pyps,
    "`kv.pull_sample(id=, keys=, vals=)`": sampled,
    "`kv.wait(timestamp)`, `kv.waitall()`, `kv.wait_sync()`, `kv.barrier()`, `kv.finalize()`": waited,
    "`kv.wait_replica_sync()`": warned,
    "`kv.begin_setup()`, `kv.end_setup()`": in_setup,
    "`kv.get_key_size(key_id=)`, `kv.num_keys`": sized,
    "`class Mine(adapm.Worker)`": derived,
    "DMLC_NUM_SERVER, DMLC_ROLE, DMLC_PS_ROOT_URI, DMLC_PS_ROOT_PORT, DMLC_NODE_HOST, DMLC_INTERFACE": by_servers,
    "`--sys.techniques`, `--sampling.reuse` and other arguments": by_options,
    "`PS_TRACE_KEYS`, `--sys.trace.keys`": traced,
    "`PS_LOCALITY_STATS`": in_periods,
    "float32 alone": of_every_dtype,
    "`pyps.init(num_threads=2)`": (refused(pyps.init, num_keys=1, num_threads=2), "write num_workers="),
    '`pyps.init(use_techniques="all")`': (
        refused(pyps.init, num_keys=1, use_techniques="all"),
        "write techniques=",
    ),
    "`pyps.init(num_channels=4)`": (
        refused(pyps.Server, num_keys=1, num_channels=4),
        "write server_threads=",
    ),
    "`pyps.init(value_lengths=[2, 3])`": (
        refused(pyps.local, num_keys=2, value_lengths=[2, 3]),
        "write value_length=",
    ),
    "`adapm.Server(value_length=2)`": (refused(adapm.Server, value_length=2), "write value_lengths="),
    "`adapm.Server(num_keys=20)`": (refused(adapm.Server, num_keys=20), "setup(num_keys, num_threads)"),
    '`lapse.setup(use_techniques="all", num_channels=4)`': (
        refused(lapse.setup, use_techniques="all", num_channels=4),
        "from pyps import adapm",
    ),
}


def test_each_row_has_a_test() -> None:
    assert list(rows("docs/names.md", SECTION)) == list(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("there", ROWS)
def test_what_is_the_same_runs_and_the_rest_says_what_to_write(world: World, there: str) -> None:
    row = ROWS[there]
    assert rows("docs/names.md", SECTION)[there].startswith("refused") == isinstance(row, tuple)
    if isinstance(row, tuple):
        call, words = row
        with pytest.raises(TypeError) as caught:
            call(world)
        assert words in str(caught.value)
    else:
        row(world)


def test_the_page_names_what_the_tables_name() -> None:
    there = [cell for cell, here in rows("docs/names.md", SECTION).items() if here.startswith("refused")]
    assert {name for cell in there for name in keywords(cell)} == {*NODE, *ORIGINALS, *LAPSE}


@pytest.mark.parametrize("keyword", NODE)
@pytest.mark.parametrize("call", [pyps.init, pyps.Server, pyps.local], ids=lambda call: call.__name__)
def test_all_that_make_a_node_answer_alike(call: Callable[..., object], keyword: str) -> None:
    with pytest.raises(TypeError, match=f"has no {keyword}=: {NODE[keyword]}"):
        call(1, **{keyword: 1})


def test_lapse_wants_lengths_once() -> None:
    for arguments, named in (((), {}), ((20,), {}), ((), {"num_keys": 20})):
        with pytest.raises(TypeError, match="has no value length"):
            lapse.Server(*arguments, **named)
    with pytest.raises(TypeError, match="num_keys and value_length, or value_lengths"):
        lapse.Server([2, 3], 2, num_keys=2)
