"""torch.CmdLine: options, arguments, help, names of runs, logs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import bridge

PROGRAM = """
cmd = torch.CmdLine()
cmd:text()
cmd:text('Train a model')
cmd:argument('-data', 'where the data are')
cmd:option('-lr', 0.1, 'learning rate')
cmd:option('-name', 'net', 'name of the run')
cmd:option('-gpu', true, 'use a GPU')
cmd:option('-quiet', false)
"""

HELP = """\
Usage: [options] <data>

Train a model
  <data> where the data are
  -lr    learning rate [0.1]
  -name  name of the run [net]
  -gpu   use a GPU [true]
  -quiet [false]
"""

DEFAULTS = {"data": "x", "lr": 0.1, "name": "net", "gpu": True, "quiet": False}


@pytest.fixture
def program(lua: bridge.Lua) -> bridge.Lua:
    lua.execute(PROGRAM)
    return lua


def parse(lua: bridge.Lua, *words: str) -> dict[str, Any]:
    parsed: dict[str, Any] = lua.execute("return cmd:parse{...}", *words)
    return parsed


def test_defaults_stand_for_what_is_not_given(program: bridge.Lua) -> None:
    assert parse(program, "x") == DEFAULTS


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["-lr", "1e-3"], {"lr": 0.001}),
        (["-lr", "0x10"], {"lr": 16}),
        (["-name", "-lr"], {"name": "-lr"}),
        (["-gpu"], {"gpu": False}),
        (["-quiet"], {"quiet": True}),
        (["-quiet", "-quiet"], {"quiet": True}),
        (["-lr", "1", "-lr", "2"], {"lr": 2}),
    ],
)
def test_options_are_read_as_their_default_is(
    program: bridge.Lua, words: list[str], changed: dict[str, Any]
) -> None:
    assert parse(program, *words, "x") == {**DEFAULTS, **changed}


def test_options_and_arguments_may_mix(program: bridge.Lua) -> None:
    program.execute("cmd:argument('out', 'where to')")
    assert parse(program, "-lr", "3", "x", "-quiet", "y") == {
        **DEFAULTS,
        "lr": 3,
        "quiet": True,
        "out": "y",
    }


def test_a_type_may_be_named(lua: bridge.Lua) -> None:
    lua.execute("cmd = torch.CmdLine() cmd:option('-n', 5, 'a number', 'number')")
    assert parse(lua, "-n", "7") == {"n": 7}


def test_long_dashes_leave_the_name(lua: bridge.Lua) -> None:
    lua.execute("cmd = torch.CmdLine() cmd:option('--batch-size', 5)")
    assert parse(lua, "--batch-size", "7") == {"batch-size": 7}


def test_help_shows_every_line_in_order(program: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    program.execute("cmd:help()")
    assert capsys.readouterr().out == HELP


@pytest.mark.parametrize("word", ["-h", "-help", "--help"])
def test_asking_for_help_ends_the_program(
    program: bridge.Lua, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    with pytest.raises(SystemExit) as left:
        program.execute("cmd:parse{[0] = 'train.lua', 'x', ...}", word)
    assert left.value.code == 0
    assert capsys.readouterr().out == HELP.replace("Usage:", "Usage: train.lua")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x", "y"], "invalid argument: y"),
        (["-nonsense"], "not enough arguments"),
        ([], "not enough arguments"),
        (["x", "-lr"], "missing argument for option -lr"),
        (["x", "-lr", "fast"], "invalid type for option -lr (should be number)"),
    ],
)
def test_a_wrong_command_line_ends_the_program_with_help(
    program: bridge.Lua, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    if words == ["-nonsense"]:  # no option of that name: it is the argument, and one more is missing
        program.execute("cmd:argument('second')")
    with pytest.raises(SystemExit) as left:
        parse(program, *words)
    assert left.value.code == 1
    printed = capsys.readouterr()
    assert printed.err == message
    assert printed.out.startswith("\n\nUsage: [options] <data>")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("cmd:option('-x')", "option -x has no default value"),
        ("cmd:option('-x', 5, 'help', 'string')", "option -x has wrong default type value"),
        ("cmd:text(5)", "assertion failed!"),
        ("cmd:addTime('x', 5)", "Argument has to be string"),
        ("cmd:log('/no/such/place')", "cannot write the log: /no/such/place: No such file or directory"),
    ],
)
def test_wrong_declarations_are_told(program: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=re.escape(message)):
        program.execute(code)


@pytest.mark.parametrize(
    ("params", "ignore", "name"),
    [
        ("{lr = 0.1}", "{}", "runs"),
        ("{lr = 1, name = 'a', quiet = true}", "{}", "runs,lr=1,name=a,quiet=t"),
        ("{lr = 1, gpu = false}", "{lr = true}", "runs,gpu=f"),
        ("{lr = 0.1}", "{lr = false}", "runs,lr=0.1"),
        ("{data = 'x', lr = 1}", "{}", "runs,data=x,lr=1"),
        ("{data = 'x'}", "{}", "runs,data=x,"),
        ("{other = 1}", "{}", "runs"),
    ],
)
def test_a_run_is_named_after_what_is_not_default(
    program: bridge.Lua, params: str, ignore: str, name: str
) -> None:
    assert program.execute(f"return cmd:string('runs', {params}, {ignore})") == name


def test_naming_a_run_prints_what_differs(program: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    program.execute("cmd:string('runs', {gpu = false}, {}) cmd:string('runs', {lr = 1}, {lr = true})")
    program.execute("cmd:string('runs', {lr = 1}, {}) cmd:string('runs', {other = 1}, {})")
    assert capsys.readouterr().out == (
        "gpu\tf\ttrue\n-- ignore option lr\nlr\t1\t0.1\n"
        "WARNING: unknown option/argument: other IGNORING for DIRECTORY NAME\n"
    )


def test_what_is_ignored_must_be_said(program: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="attempt to index local 'ignore'"):
        program.execute("cmd:string('runs', {lr = 1})")


@pytest.mark.parametrize(("arguments", "usage"), [([], ""), (["-a", "b"], " <a> <b>")])
def test_the_usage_names_each_argument(
    lua: bridge.Lua, capsys: pytest.CaptureFixture[str], arguments: list[str], usage: str
) -> None:
    lua.execute(
        "cmd = torch.CmdLine() for _, name in ipairs{...} do cmd:argument(name) end cmd:help()", *arguments
    )
    assert capsys.readouterr().out.startswith(f"Usage: [options]{usage}\n")


def test_separators_may_be_chosen(lua: bridge.Lua) -> None:
    code = "local cmd = torch.CmdLine(';', ':') cmd:option('-a', 1) return cmd:string('r', {a = 2}, {})"
    assert lua.execute(code) == "r;a:2"


def test_a_log_gets_what_is_printed(
    program: bridge.Lua, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.execute("cmd:log(..., {lr = 1}) print('hello', 5)", str(tmp_path / "log"))
    logged = (tmp_path / "log").read_text().splitlines()
    assert re.fullmatch(r"\[program started on .*\] ", logged[0])
    assert logged[1:] == ["[command line arguments] ", "lr 1 ", "[----------------------] ", "hello 5 "]
    assert capsys.readouterr().out.endswith("hello\t5\n")


def test_a_silent_program_prints_to_its_log_only(
    program: bridge.Lua, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.execute("cmd:silent() cmd:log(...) print('hello')", str(tmp_path / "log"))
    assert capsys.readouterr().out == ""
    assert (tmp_path / "log").read_text().endswith("hello \n")


def test_lines_of_a_log_may_tell_the_time(program: bridge.Lua, tmp_path: Path) -> None:
    program.execute("cmd:addTime('me', '%Y') cmd:silent() cmd:log(...) print('hello')", str(tmp_path / "log"))
    assert re.fullmatch(r"\d{4}\[me\]:  hello ", (tmp_path / "log").read_text().splitlines()[-1])


def test_an_open_file_may_be_the_log(program: bridge.Lua, tmp_path: Path) -> None:
    code = "local f = io.open(..., 'w') cmd:silent() cmd:log(f) print('hello') f:close()"
    program.execute(code, str(tmp_path / "log"))
    assert (tmp_path / "log").read_text().endswith("hello \n")
