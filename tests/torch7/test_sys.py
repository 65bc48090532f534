"""The sys package: clocks, commands, colours, splitting."""

from __future__ import annotations

import io
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge

EXPRESSIONS: list[tuple[str, Any]] = [
    ("sys.execute('printf \" hello \\\\n\"')", "hello"),
    ("sys.execute('{ echo out; echo wrong >&2; }')", "out\nwrong"),
    ("sys.fexecute('echo hello')", "hello"),
    ("sys.OS", "linux"),
    ("sys.uname()", "linux"),
    ("sys.isNaN(0/0)", True),
    ("sys.isNaN(1)", False),
    ("sys.concat('/a', '../b')", "/b"),
    ("sys.dirname('/a/b')", "/a"),
    (
        "sys.COLORS.none .. sys.COLORS.red .. sys.COLORS.Red .. sys.COLORS._red",
        "\x1b[0m\x1b[0;31m\x1b[1;31m\x1b[41m",
    ),
    ("sys.COLORS.white", "\x1b[0;37m"),
    ("sys.split('a,b,,c,', ',')", ["a", "b", "", "c"]),
    ("sys.split(',a', ',')", ["a"]),
]


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("sys")
        yield state


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(lua: bridge.Lua, expression: str, value: Any) -> None:
    assert lua.eval(expression) == value


@pytest.mark.parametrize("name", ["ls", "ll", "la", "lla"])
def test_listings_name_the_files(lua: bridge.Lua, name: str, tmp_path: Path) -> None:
    (tmp_path / "found").touch()
    assert "found" in lua.execute(f"return sys.{name}(...)", str(tmp_path))


def test_the_clock_is_the_wall_clock(lua: bridge.Lua) -> None:
    assert lua.eval("sys.clock()") == pytest.approx(time.time(), abs=1)


def test_tic_and_toc_measure_what_lies_between(lua: bridge.Lua) -> None:
    assert 0.05 <= lua.execute("sys.tic() sys.sleep(0.05) return sys.toc()") < 5


def test_a_file_knows_where_it_is(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "me.lua").write_text("local directory, name = sys.fpath() return directory, name")
    assert lua.execute("local a, b = dofile(...) return a, b", str(tmp_path / "me.lua")) == (
        str(tmp_path),
        "me.lua",
    )


@pytest.mark.slow
def test_signals_do_not_shorten_a_pause(lua: bridge.Lua) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        elapsed = lua.execute("sys.tic() sys.sleep(0.3) return sys.toc()")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert 0.3 <= elapsed < 5
    assert len(seen) >= 3


class Closed(io.StringIO):
    """An output that fails where it is flushed, as a pipe that nobody reads does."""

    def flush(self) -> None:
        raise BrokenPipeError("nobody reads")


@pytest.mark.slow
@pytest.mark.parametrize("interruptible", [True, False])
def test_a_pause_leaves_the_output_alone(monkeypatch: pytest.MonkeyPatch, interruptible: bool) -> None:
    with bridge.Lua(interruptible=interruptible) as state, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Closed())
        assert 0.15 <= state.execute("sys = require 'sys' sys.tic() sys.sleep(0.15) return sys.toc()") < 5
