"""What the package shows of itself: names, texts, signatures, types."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bridge
import pyps
from bridge import legacy

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "package", [bridge, legacy, bridge.nn, bridge.t7, pyps], ids=lambda package: package.__name__
)
def test_dir_is_the_public_names(package: object) -> None:
    public = package.__all__  # type: ignore[attr-defined]
    assert dir(package) == sorted(public)
    assert [name for name in public if not hasattr(package, name)] == []


def test_a_file_and_a_layer_have_two_names(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "one.lua").write_text("function one() return 1 end")
    assert type(lua.load(tmp_path / "one.lua")) is bridge.LuaFile
    assert bridge.LuaFile is not bridge.nn.LuaModule
    assert bridge.LuaModule is bridge.LuaFile  # its name of before
    assert "LuaModule" not in dir(bridge)


def test_the_repr_of_a_network_shows_its_layers(lua: bridge.Lua) -> None:
    net = lua.execute("require 'nn' return nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh())")
    assert repr(net) == str(net)
    assert "(1): nn.Linear(4 -> 3)\n  (2): nn.Tanh\n}" in repr(net)
    assert repr(net.forward).startswith("<method forward <LuaFunction ")
    with pytest.raises(
        AttributeError, match=r"^<LuaObject nn.Sequential 0x\w+> has no field or method 'fly'$"
    ):
        _ = net.fly


def test_the_repr_of_another_object_is_one_line(lua: bridge.Lua) -> None:
    made = lua.execute("require 'torch' test = {} torch.class('test.A', test) return test.A()")
    assert repr(made).startswith("<LuaObject test.A 0x")


def test_the_repr_of_what_belongs_to_a_closed_state_says_so() -> None:
    with bridge.Lua() as lua:
        net = lua.execute("require 'nn' return nn.Tanh()")
    assert repr(net) == "<LuaObject of a closed Lua state>"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("function(x, factor) end", "(x, factor, /, *, returns=None, copy=None)"),
        ("function(x, ...) end", "(x, /, *args, returns=None, copy=None)"),
        ("function() end", "(*, returns=None, copy=None)"),
        ("function(from, class) end", "(from, class, /, *, returns=None, copy=None)"),
        ("math.sin", "(*args, returns=None, copy=None)"),
    ],
)
def test_the_signature_of_a_function_has_its_parameters(lua: bridge.Lua, code: str, shown: str) -> None:
    assert str(inspect.signature(lua.eval(code))) == shown


def test_the_signature_of_a_method_leaves_out_the_object(lua: bridge.Lua) -> None:
    net = lua.execute("require 'nn' return nn.Linear(2, 3)")
    assert str(inspect.signature(net.updateGradInput)) == "(input, gradOutput, /, *, returns=None, copy=None)"
    assert net.updateGradInput.__name__ == "updateGradInput"


def test_the_signature_of_python2torchs_functions(tmp_path: Path) -> None:
    (tmp_path / "one.lua").write_text("function add(a, b) return a + b end")
    with bridge.PyTorch(tmp_path / "one.lua") as program:
        assert str(inspect.signature(program.add)) == "(a, b, /)"


# ---- options


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("busy_timout", ("did you mean busy_timeout?", "bridge.Lua(busy_timeout=...)")),
        ("busy_timeout", ("bridge.Lua(busy_timeout=...)",)),
        ("allow_function", ("allow_functions",)),
        ("strings", ("bridge.Lua(strings=...)",)),
        ("execute", ("cannot be set",)),
        ("global_function", ("global_functions",)),
    ],
)
def test_an_option_that_is_set_later_is_an_error(lua: bridge.Lua, name: str, words: tuple[str, ...]) -> None:
    with pytest.raises(AttributeError) as caught:
        setattr(lua, name, 3)
    for word in (*words, f'lua.globals["{name}"] = ...'):
        assert word in str(caught.value)
    assert lua.eval(name) is None


def test_other_names_are_globals(lua: bridge.Lua) -> None:
    lua.greeting, lua.tensor, lua.timeout, lua.net = "hello", 1, 2, 3
    assert lua.eval("greeting, tensor, timeout, net") == ("hello", 1, 2, 3)
    lua.globals["strings"] = 4
    lua.strings = 5  # a global of Lua already
    assert lua.eval("strings") == 5


def test_strings_come_back_as_bytes() -> None:
    with bridge.Lua(strings="bytes") as lua:
        assert lua.eval("'text', '\\255', {'a', x = 'b'}") == (b"text", b"\xff", {1: b"a", b"x": b"b"})
        assert lua.execute("local f = ... return f('given')", lambda text: text + b"!") == b"given!"
        assert lua.eval("{...}", "text") == [b"text"]
        lua.greeting = "hello"
        assert lua.greeting == b"hello"
        with pytest.raises(bridge.LuaError, match="no such layer") as caught:
            lua.execute("error{message = 'no such layer'}")
        assert caught.value.value == {b"message": b"no such layer"}


def test_with_bytes_python_s_own_texts_stay_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.lua").write_text("-- Adds.\nfunction add(a, b) return a + b end")
    with bridge.Lua(strings="bytes", tensors="torch") as lua:
        file = lua.load(tmp_path / "one.lua")
        assert dir(file) == ["add"]
        assert (file.add.__name__, str(inspect.signature(file.add))) == (
            "add",
            "(a, b, /, *, returns=None, copy=None)",
        )
        assert file.add.__doc__.startswith("Adds.")
        net = lua.execute("require 'nn' return nn.Sequential():add(nn.Linear(2, 3))")
        assert (net.typename, "nn.Linear(2 -> 3)" in repr(net)) == ("nn.Sequential", True)
        assert "forward" in dir(net)
        assert "torch" in dir(lua)
        assert "add" in lua.global_functions()
        lua.execute("print('printed')")
        assert capsys.readouterr().out == "printed\n"
        assert bridge.to_lua(bridge.to_torch(net), lua).typename == "nn.Sequential"
        with pytest.raises(ValueError, match='strings="text"'):
            bridge.nn.LuaModule(net)


# ---- types

TYPED = """
import numpy
import torch

import bridge
from bridge import legacy
from bridge.legacy import nn, optim

lua = bridge.Lua(strings="bytes")
net = bridge.to_lua(torch.nn.Linear(2, 3), lua)
reveal_type(net)
reveal_type(bridge.t7.load("model.t7"))
reveal_type(legacy.load("model.t7"))
reveal_type(nn.Linear(2, 3))
reveal_type(optim.adam)
reveal_type(legacy.state())
reveal_type(bridge.LuaModule)
bridge.to_tourch
bridge.t7.lod
legacy.sate
nn.Liner
nn.Linear("2", 3)
optim.adamm
bridge.Lua(string="bytes")
bridge.Lua(strings="byte")
"""


@pytest.mark.slow
def test_a_type_checker_knows_what_there_is_and_what_is_not(tmp_path: Path) -> None:
    file = tmp_path / "typed.py"
    file.write_text(TYPED)
    cache = tmp_path / "cache"
    if (ROOT / ".mypy_cache").is_dir():  # what `make lint` has found out about torch takes a while
        shutil.copytree(ROOT / ".mypy_cache", cache)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--no-error-summary",
            "--cache-dir",
            cache,
            file,
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=240,
    )
    told = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    revealed = [line.split('"')[1] for line in told if "Revealed type" in line]
    errors = [line for line in told if line.startswith("error")]
    assert "bridge._boundary.LuaObject" in revealed[0]
    assert not any(kind == "Any" for kind in revealed), revealed
    for name in ("to_tourch", "lod", "sate", "Liner", "adamm"):
        assert any(f'no attribute "{name}"' in error for error in errors), (name, errors)
    assert any('"string"' in error for error in errors)
    assert any('"strings"' in error and "byte" in error for error in errors)
    assert any('"Linear" has incompatible type "str"' in error for error in errors)
    assert len(errors) == 8
