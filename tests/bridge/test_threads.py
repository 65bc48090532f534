"""Several states in threads, one state in several threads, and the GIL."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import bridge

WORK = "local x = 0 for i = 1, 2e8 do x = x + i % 7 end return x"


@pytest.mark.slow
def test_python_runs_while_lua_runs(lua: bridge.Lua) -> None:
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.perf_counter()
    lua.execute(WORK)
    ended = time.perf_counter()
    done.set()
    thread.join()
    assert sum(began < t < ended for t in ticks) > 20


def test_states_in_threads_compute_in_parallel() -> None:
    def work(n: int) -> int:
        with bridge.Lua() as lua:
            return int(lua.execute("local x = 0 for i = 1, 1e6 do x = x + ... end return x", n))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == [n * 10**6 for n in range(8)]


def test_threads_take_turns_in_one_state(lua: bridge.Lua) -> None:
    lua.execute("n = 0 function count() for i = 1, 1000 do n = n + 1 end end")
    count = lua.count

    def work() -> None:
        for _ in range(100):
            count()

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(work) for _ in range(4)]:
            future.result(timeout=30)
    assert lua.eval("n") == 400_000


@pytest.mark.slow
def test_a_busy_state_is_an_error_after_its_timeout() -> None:
    with bridge.Lua(busy_timeout=0.2) as lua:
        inside, release = threading.Event(), threading.Event()

        def hold() -> None:
            inside.set()
            release.wait(10)

        thread = threading.Thread(target=lua.eval("function(f) f() end"), args=(hold,))
        thread.start()
        inside.wait(10)
        began = time.perf_counter()
        with pytest.raises(bridge.StateBusy, match=r"after 0\.2 s"):
            lua.eval("1")
        assert 0.15 < time.perf_counter() - began < 2
        release.set()
        thread.join()
        assert lua.eval("1") == 1


@pytest.mark.slow
def test_a_callback_that_waits_for_its_own_state_ends_in_an_error() -> None:
    with bridge.Lua(busy_timeout=0.3) as lua, ThreadPoolExecutor(1) as pool:

        def wait_for_another_thread() -> str:
            try:
                pool.submit(lua.eval, "1").result(timeout=10)
            except bridge.StateBusy as error:
                return str(error)
            return "no error"

        assert "must not wait" in lua.eval("(...)()", wait_for_another_thread)


def test_a_pool_serves_more_callers_than_states() -> None:
    square_maker = "function(x) return x * x end"
    with bridge.LuaPool(2, lambda lua: lua.eval(square_maker)) as pool, ThreadPoolExecutor(6) as callers:
        squares = list(callers.map(lambda n: pool.run(lambda square: square(n)), range(50)))
    assert squares == [n * n for n in range(50)]


def test_a_pool_without_a_free_state_times_out() -> None:
    with (
        bridge.LuaPool(1, timeout=0.1) as pool,
        pool.lend(),
        pytest.raises(bridge.StateBusy, match="larger size="),
    ):
        pool.run(lambda lua: lua)


def test_a_closed_pool_says_so() -> None:
    pool = bridge.LuaPool(1)
    pool.close()
    with pytest.raises(bridge.StateClosed):
        pool.run(lambda lua: lua)


def test_objects_dropped_by_lua_in_a_thread_are_released() -> None:
    import weakref

    class Thing: ...

    thing = Thing()
    gone = weakref.ref(thing)

    def work(value: object) -> None:
        with bridge.Lua() as lua:
            lua.execute("local x = ...", value)

    thread = threading.Thread(target=work, args=(thing,))
    thread.start()
    thread.join()
    del thread, thing
    assert gone() is None


def test_the_main_thread_enters_a_state_while_its_former_one_runs_elsewhere() -> None:
    work = """function(n)
       local t, s = {1, 2, 3}, 0
       for i = 1, n do for _, v in ipairs(t) do s = s + v end end
       return s
    end"""
    with bridge.Lua() as first, bridge.Lua() as second, ThreadPoolExecutor(1) as pool:
        here, there = first.eval(work), second.eval(work)
        for _ in range(100):
            there(100)  # the main thread's, so it has the ticks
            future = pool.submit(there, 20_000)
            assert here(20_000) == 120_000
            assert future.result(timeout=30) == 120_000


FORWARD = """
local input = torch.FloatTensor(16, 64):fill(0.5)
local weight1, bias1 = torch.FloatTensor(64, 128):fill(0.01), torch.FloatTensor(16, 128):fill(0.1)
local weight2, bias2 = torch.FloatTensor(128, 10):fill(0.01), torch.FloatTensor(16, 10):fill(0.1)
local hidden, output = torch.FloatTensor(16, 128), torch.FloatTensor(16, 10)
return function(n)
   for i = 1, n do
      hidden:addmm(0, hidden, 1, input, weight1)
      hidden:add(bias1)
      hidden:tanh()
      output:addmm(0, output, 1, hidden, weight2)
      output:add(bias2)
   end
end
"""


@pytest.fixture
def one_kernel_thread() -> Iterator[None]:
    """Keep torch's kernels to the calling thread: a second one would wait for the busy Python thread's core."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.slow
@pytest.mark.usefixtures("one_kernel_thread")
def test_a_forward_pass_is_not_slowed_by_a_busy_python_thread(lua: bridge.Lua) -> None:
    """An operation that needed the GIL would cost milliseconds here: 1000 times as much."""
    forward = lua.execute(FORWARD)
    forward(2000)

    def seconds() -> float:
        began = time.perf_counter()
        forward(5000)
        return time.perf_counter() - began

    alone = min(seconds() for _ in range(3))
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(100))

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        beside = min(seconds() for _ in range(3))
    finally:
        stop.set()
        thread.join()
    assert beside < 10 * alone


def test_an_exclusive_block_keeps_other_threads_out_and_lets_its_own_in(lua: bridge.Lua) -> None:
    lua.execute("n = 0")
    add = lua.eval("function(k) n = n + k return n end")
    torn: list[int] = []

    def work() -> None:
        for _ in range(200):
            with lua.exclusive():
                before = add(1)
                with lua.exclusive():
                    if add(-1) != before - 1:
                        torn.append(before)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert torn == []
    assert lua.eval("n") == 0


def test_a_state_that_is_not_held_cannot_be_let_go(lua: bridge.Lua) -> None:
    with pytest.raises(RuntimeError, match="does not hold the Lua state"):
        lua.exclusive().__exit__(None, None, None)
