"""States in a forked child: what another thread was in the middle of is nobody's any more."""

from __future__ import annotations

import subprocess
import sys

import pytest

PRELUDE = """
import os, sys, threading, time
import bridge

def child(work):
    pid = os.fork()
    if pid == 0:
        began = time.monotonic()
        try:
            work()
            assert time.monotonic() - began < 5, time.monotonic() - began
        except BaseException as error:
            print("child:", type(error).__name__, error, flush=True)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0

lua = bridge.Lua()
inside, go_on = threading.Event(), threading.Event()

def hold():
    lua.eval("(...)()", lambda: (inside.set(), go_on.wait(30)))
"""
IN_USE = """
thread = threading.Thread(target=hold)
thread.start()
inside.wait(10)

def work():
    try:
        lua.eval("1")
    except bridge.StateClosed as error:
        assert "in use by another thread when the process forked" in str(error)
    else:
        raise AssertionError("the state answered")
    lua.close()
    with bridge.Lua() as other:
        assert other.eval("6 * 7") == 42

child(work)
go_on.set()
thread.join()
assert lua.eval("6 * 7") == 42
"""
WAITED_FOR = """
thread = threading.Thread(target=hold)
thread.start()
inside.wait(10)
waiter = threading.Thread(target=lua.eval, args=("1",))
waiter.start()

def work():
    try:
        lua.eval("1")
    except bridge.StateClosed:
        return
    raise AssertionError("the state answered")

time.sleep(0.2)
child(work)
go_on.set()
thread.join()
waiter.join()
"""
IN_A_CALLBACK = """
waiters = []

def fork():
    waiters.append(threading.Thread(target=lua.eval, args=("1",)))
    waiters[0].start()
    time.sleep(0.2)
    child(lambda: [lua.eval("6 * 7") for _ in range(3)])

lua.eval("(...)()", fork)
waiters[0].join()
"""
IDLE = """
child(lambda: (lua.eval("6 * 7"), lua.close()))
"""
POOL = """
pool = bridge.LuaPool(2, timeout=30)
def borrow():
    with pool.lend() as state:
        inside.set()
        go_on.wait(30)

thread = threading.Thread(target=borrow)
thread.start()
inside.wait(10)

def work():
    assert pool.run(lambda state: state.eval("6 * 7")) == 42
    with pool.lend() as state:
        try:
            pool.run(lambda state: None)
        except bridge.StateBusy as error:
            assert "1 of them were lent when the process forked" in str(error), error
        else:
            raise AssertionError("a state that the parent lent came free")
    pool.close()

child(work)
go_on.set()
thread.join()
pool.close()
"""
PROGRAMS = {
    "a state in use by another thread": IN_USE,
    "a state that threads wait for": WAITED_FOR,
    "a fork in a callback": IN_A_CALLBACK,
    "an idle state": IDLE,
    "a pool with a borrower": POOL,
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:This process")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_child_is_told_at_once_what_it_cannot_use(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PRELUDE + PROGRAMS[name]],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
