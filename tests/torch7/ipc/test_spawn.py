"""ipc.spawn: child processes, what they read and what they write."""

from __future__ import annotations

import os
import time

import pytest

import bridge

pytestmark = pytest.mark.timeout(30)


@pytest.mark.parametrize(("program", "code"), [("true", 0), ("false", 1)])
def test_wait_gives_the_exit_code(ipc: bridge.Lua, program: str, code: int) -> None:
    assert ipc.eval(f"ipc.spawn{{file = '{program}'}}:wait()") == code


def test_arguments_arrive_as_they_are_and_output_comes_by_line(ipc: bridge.Lua) -> None:
    ipc.execute("""p = ipc.spawn{file = 'echo', args = {'no need\\nto "escape" $HOME'}}""")
    assert ipc.eval("{p:stdout('*line'), p:stdout(), p:wait()}") == ["no need", 'to "escape" $HOME', 0]


def test_the_environment_is_replaced_when_given(ipc: bridge.Lua) -> None:
    ipc.execute(
        "p = ipc.spawn{file = 'env', env = {'A=1', 'B=two'}} text = p:stdout('*all') rest = p:stdout() p:wait()"
    )
    assert ipc.eval("text, rest") == ("A=1\nB=two\n", None)


def test_what_is_written_to_its_input_comes_back(ipc: bridge.Lua) -> None:
    ipc.execute("""
        p = ipc.spawn{file = 'cat'}
        p:stdin('abc')
        part = p:stdout(2) .. p:stdout(100)
        p:stdin(('x'):rep(10000))
        p:stdin()
        all, code = p:stdout('*all'), p:wait()
    """)
    assert ipc.eval("part, #all, code") == ("abc", 10000, 0)


def test_a_signal_ends_it(ipc: bridge.Lua) -> None:
    started = time.monotonic()
    ipc.execute("p = ipc.spawn{file = 'sleep', args = {60}} running = p:running() p:wait('TERM')")
    assert ipc.eval("running") is True
    assert time.monotonic() - started < 10


def test_a_child_that_nobody_has_any_more_is_ended(ipc: bridge.Lua) -> None:
    ipc.execute("p = ipc.spawn{file = 'sleep', args = {60}}")
    child = ipc.eval("p:pid()")
    ipc.execute("p = nil collectgarbage() collectgarbage()")
    for _ in range(500):
        try:
            if os.waitpid(child, os.WNOHANG)[0]:
                return
        except ChildProcessError:
            return
        time.sleep(0.01)
    pytest.fail("it runs on")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("ipc.spawn{file = 'no-such-program'}", "ipc.spawn: no-such-program: No such file or directory"),
        ("ipc.spawn('true')", "a table with the name of a program in `file` expected, got string"),
        ("ipc.spawn{file = 'true', args = {{}}}", "args: string expected at 1, got table"),
        ("local p = ipc.spawn{file = 'true'} p:wait() p:pid()", "this process has been waited for"),
        ("local p = ipc.spawn{file = 'true'} p:wait('HUP')", "'TERM' or 'KILL' expected, got HUP"),
    ],
)
def test_a_wrong_call_is_told(ipc: bridge.Lua, call: str, words: str) -> None:
    with pytest.raises(bridge.LuaError) as caught:
        ipc.execute(call)
    assert words in str(caught.value)
