"""A pool of states: what its callers get is theirs, whoever has the state afterwards."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import bridge


def network(lua: bridge.Lua) -> Any:
    return lua.execute(
        "require 'nn' torch.manualSeed(3) return nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh())"
    )


@pytest.fixture
def pool() -> Iterator[bridge.LuaPool]:
    with bridge.LuaPool(2, network) as made:
        yield made


INPUTS = [np.random.default_rng(i).standard_normal((2, 4)) for i in range(8)]


@dataclass(frozen=True)
class Answer:
    output: Any
    name: str


class Pair(NamedTuple):
    first: Any
    second: Any


FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "the array": (lambda y: y, lambda r: r),
    "a view of it": (lambda y: y[:, ::2].T, lambda r: r.T),
    "a list": (lambda y: [y], lambda r: r[0]),
    "a tuple": (lambda y: (1, y), lambda r: r[1]),
    "a named tuple": (lambda y: Pair(y, y), lambda r: r.second),
    "a dict": (lambda y: {"y": [y]}, lambda r: r["y"][0]),
    "a dataclass": (lambda y: Answer(y, "y"), lambda r: r.output),
    "a torch tensor": (torch.from_numpy, lambda r: r.numpy()),
}


@pytest.mark.parametrize("read", ["a call's result", "a field"])
@pytest.mark.parametrize("form", FORMS)
def test_a_result_stays_what_it_was(pool: bridge.LuaPool, form: str, read: str) -> None:
    wrap, unwrap = FORMS[form]

    def forward(net: Any, x: Any) -> Any:
        y = net.forward(x)
        return wrap(y if read == "a call's result" else net.output)

    first = pool.run(lambda net: forward(net, INPUTS[0]))
    before = unwrap(first).copy()
    for x in INPUTS:
        pool.run(lambda net, x=x: forward(net, x))
    np.testing.assert_array_equal(unwrap(first), before)


def test_results_inside_one_run_are_apart(pool: bridge.LuaPool) -> None:
    together = pool.run(lambda net: [net.forward(x) for x in INPUTS])
    alone = [pool.run(lambda net, x=x: net.forward(x)) for x in INPUTS]
    np.testing.assert_array_equal(together, alone)


def test_what_was_shared_in_a_result_stays_shared(pool: bridge.LuaPool) -> None:
    first, second = pool.run(lambda net: (net.output, [net.output] * 2))
    assert second[0] is second[1]
    assert first is not second[0]  # two reads of the field are two arrays


def test_an_array_of_numpys_own_is_passed_on(pool: bridge.LuaPool) -> None:
    mine = np.arange(3)
    assert pool.run(lambda net: mine) is mine


def test_fields_are_lua_memory_while_the_function_runs(pool: bridge.LuaPool) -> None:
    def zero(net: Any) -> Any:
        net.get(1).weight[:] = 0
        net.get(1).bias[:] = 0
        return net.forward(INPUTS[0])

    assert not pool.run(zero).any()


def test_a_call_may_ask_for_the_memory_itself(pool: bridge.LuaPool) -> None:
    def zero(net: Any) -> Any:
        weights, _ = net.getParameters(copy=False)
        weights[:] = 0
        return net.forward(INPUTS[0])

    assert not pool.run(zero).any()


def test_lend_shares_as_the_states_do(pool: bridge.LuaPool) -> None:
    with pool.lend() as net:
        first, second = net.forward(INPUTS[0]), net.forward(INPUTS[1])
        assert np.shares_memory(first, second)


@pytest.mark.parametrize("kind", ["a generator", "a coroutine"])
def test_work_still_to_be_done_is_refused(pool: bridge.LuaPool, kind: str) -> None:
    async def later(net: Any) -> Any:
        return net

    def function(net: Any) -> Any:
        return (net.forward(x) for x in INPUTS) if kind == "a generator" else later(net)

    with pytest.raises(TypeError, match=r"would use the Lua state after it was given back"):
        pool.run(function)


# ---- tasks


@pytest.mark.slow
def test_64_tasks_get_their_own_answers(pool: bridge.LuaPool) -> None:
    wanted = [pool.run(lambda net, x=x: net.forward(x)).tolist() for x in INPUTS]

    async def client(k: int) -> int:
        wrong = 0
        for _ in range(25):
            y = await pool.arun(lambda net: net.forward(INPUTS[k]))
            await asyncio.sleep(0)
            wrong += y.tolist() != wanted[k]
        return wrong

    async def main() -> int:
        return sum(await asyncio.gather(*(client(k % 8) for k in range(64))))

    assert asyncio.run(main()) == 0


def test_threads_that_others_made_get_their_own_answers(pool: bridge.LuaPool) -> None:
    wanted = [pool.run(lambda net, x=x: net.forward(x)).tolist() for x in INPUTS]

    async def client(k: int) -> int:
        wrong = 0
        for _ in range(50):
            y = await asyncio.to_thread(pool.run, lambda net: net.forward(INPUTS[k]))
            wrong += y.tolist() != wanted[k]
        return wrong

    async def main() -> int:
        return sum(await asyncio.gather(*(client(k) for k in range(8))))

    assert asyncio.run(main()) == 0


@pytest.mark.slow
def test_the_loop_goes_on_while_lua_runs() -> None:
    spin = "function() local t = os.clock() while os.clock() - t < 0.4 do end end"

    async def main(pool: bridge.LuaPool) -> int:
        ticks = 0
        task = asyncio.create_task(pool.arun(lambda work: work()))
        while not task.done():
            await asyncio.sleep(0.005)
            ticks += 1
        return ticks

    with bridge.LuaPool(1, lambda lua: lua.eval(spin)) as pool:
        assert asyncio.run(main(pool)) > 10


def test_who_waits_occupies_no_thread() -> None:
    async def main(pool: bridge.LuaPool) -> None:
        entered, go_on = threading.Event(), threading.Event()

        def hold(_: Any) -> None:
            entered.set()
            go_on.wait(10)

        before = threading.active_count()
        tasks = [asyncio.create_task(pool.arun(hold)) for _ in range(50)]
        await asyncio.to_thread(entered.wait, 10)
        assert threading.active_count() - before <= 2  # the pool's and to_thread's
        go_on.set()
        await asyncio.gather(*tasks)

    with bridge.LuaPool(1) as pool:
        asyncio.run(main(pool))


@pytest.mark.slow
def test_a_task_without_a_state_times_out() -> None:
    async def main(pool: bridge.LuaPool) -> None:
        with pool.lend(), pytest.raises(bridge.StateBusy, match="larger size= or timeout="):
            await pool.arun(lambda lua: lua)
        assert await pool.arun(lambda lua: lua.eval("6 * 7")) == 42

    with bridge.LuaPool(1, timeout=0.2) as pool:
        asyncio.run(main(pool))


@pytest.mark.parametrize("running", [False, True])
def test_a_cancelled_task_gives_its_state_back(running: bool) -> None:
    async def main(pool: bridge.LuaPool) -> None:
        entered, go_on = threading.Event(), threading.Event()

        def hold(_: Any) -> None:
            entered.set()
            go_on.wait(10)

        tasks = [asyncio.create_task(pool.arun(hold)) for _ in range(2)]
        await asyncio.to_thread(entered.wait, 10)
        tasks[0 if running else 1].cancel()
        go_on.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert sum(isinstance(result, asyncio.CancelledError) for result in done) == 1
        assert await pool.arun(lambda lua: lua.eval("6 * 7")) == 42

    with bridge.LuaPool(1, timeout=10) as pool:
        asyncio.run(main(pool))


def test_an_error_in_a_task_comes_out_of_it(pool: bridge.LuaPool) -> None:
    with pytest.raises(bridge.LuaError, match="size mismatch"):
        asyncio.run(pool.arun(lambda net: net.forward(np.ones((2, 5)))))
    assert asyncio.run(pool.arun(lambda net: 1)) == 1


# ---- closing


@pytest.mark.slow
def test_closing_waits_for_a_borrower() -> None:
    pool = bridge.LuaPool(1, timeout=10)
    entered = threading.Event()
    answers = []

    def borrow() -> None:
        with pool.lend() as lua:
            entered.set()
            time.sleep(0.3)
            answers.append(lua.eval("6 * 7"))

    with ThreadPoolExecutor(1) as threads:
        borrower = threads.submit(borrow)
        entered.wait(10)
        pool.close()
        borrower.result(10)
    assert answers == [42]


@pytest.mark.slow
def test_a_borrower_that_stays_is_named_and_its_state_closed_in_the_end() -> None:
    pool = bridge.LuaPool(2, timeout=0.2)
    entered, go_on = threading.Event(), threading.Event()
    states = []

    def borrow() -> None:
        with pool.lend() as lua:
            states.append(lua)
            entered.set()
            go_on.wait(10)
            assert lua.eval("6 * 7") == 42

    with ThreadPoolExecutor(1) as threads:
        borrower = threads.submit(borrow)
        entered.wait(10)
        with pytest.raises(
            bridge.StateBusy, match=r"1 Lua states of the pool were still in use 0\.2 s after"
        ):
            pool.close()
        go_on.set()
        borrower.result(10)
    assert states[0].closed


def test_who_waits_for_a_state_is_told_that_the_pool_closes() -> None:
    pool = bridge.LuaPool(1, timeout=10)
    with ThreadPoolExecutor(1) as threads, pool.lend():
        waiter = threads.submit(pool.run, lambda lua: lua)
        while not pool._waiting:
            time.sleep(0.01)
        pool.close()
        with pytest.raises(bridge.StateClosed, match="was closed while a caller waited"):
            waiter.result(10)


def test_a_thread_that_asks_itself_is_told_at_once() -> None:
    with bridge.LuaPool(1, timeout=60) as pool, pool.lend():
        began = time.monotonic()
        with pytest.raises(bridge.StateBusy, match="this thread has all 1 Lua states"):
            pool.run(lambda lua: lua)
        assert time.monotonic() - began < 5
