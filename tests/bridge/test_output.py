"""print and io.write go through Python's streams."""

from __future__ import annotations

import sys

import pytest

import bridge


def test_print_writes_to_sys_stdout(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute("print('a', 1, nil, true, 0.5) print()")
    assert capsys.readouterr().out == "a\t1\tnil\ttrue\t0.5\n\n"


def test_print_uses_the_global_tostring(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute("print(setmetatable({}, {__tostring = function() return 'thing' end}))")
    assert capsys.readouterr().out == "thing\n"


def test_io_write_and_streams(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute(
        "io.write('a', 1, 2.5):write('b') io.stdout:write('c') io.stderr:write('oops') io.stdout:flush()"
    )
    assert capsys.readouterr() == ("a12.5bc", "oops")


def test_io_write_refuses_what_is_no_text(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"bad argument #2 to 'write' \(string expected, got table\)"):
        lua.execute("io.write('x', {})")


def test_output_to_a_file_is_untouched(lua: bridge.Lua, tmp_path: object) -> None:
    assert lua.execute("local f = io.tmpfile() f:write('x', 5) f:seek('set') return f:read('*a')") == "x5"


def test_bytes_that_are_not_utf8_are_written(
    lua: bridge.Lua, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lua.execute("io.write('\\255\\0x')")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"\xff\0x"
