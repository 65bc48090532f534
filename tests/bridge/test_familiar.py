"""The rows of docs/names.md on python2torch, lutorpy, torchfile: what is the same runs, the rest says what to write."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from bridge.familiar import LUTORPY, PYTHON2TORCH, TORCHFILE, Program
from tests.pages import keywords, rows

PROGRAM = "function f(x) return x * 2, 'done' end"


@dataclass
class World:
    """What the rows speak of."""

    lua: Any
    net: Any
    x: np.ndarray[Any, Any]
    model: Any
    lua_file: str
    t7_file: str
    obj: Any


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    lua_file, t7_file = tmp_path / "file.lua", tmp_path / "x.t7"
    lua_file.write_text(PROGRAM)
    with bridge.Lua() as lua, bridge.PyTorch(lua_file) as model:
        net = lua.execute("require 'nn' return nn.Linear(4, 3)")
        lua.execute("torch.save(..., nn.Linear(4, 3))", str(t7_file))
        obj = bridge.t7.load(t7_file)
        yield World(lua, net, np.arange(4.0), model, str(lua_file), str(t7_file), obj)


Row = Callable[[World], object]
# What runs, with a look at what comes of it; what is refused, with the words that say what to write.
Rows = dict[str, Row | tuple[Row, str]]


def loaded(world: World, value: Any, **options: Any) -> Any:
    bridge.t7.save(value, world.t7_file)
    return bridge.t7.load(world.t7_file, **options)


def check(condition: object) -> None:
    assert condition


def made(world: World, **options: Any) -> None:
    """Make a state with these options and look at what texts and tuples become."""
    with bridge.Lua(**options) as lua:
        first = lua.eval("function(f) local a, b = f() return b end")
        assert (lua.eval("'text'"), first(lambda: (1, 2))) == ("text", 2)


def executed(world: World) -> None:
    assert world.lua.execute("local x = ... return x * 2", 4) == 8
    assert world.lua.eval("1 + 1") == 2


def counted_from_zero(world: World) -> None:
    torch = world.lua.require("torch")
    t = torch.DoubleTensor(10, 3)
    t[0][1] = 24
    assert t[0, 1] == 24
    assert world.lua.eval("{11, 22}")[0] == 11
    world.lua.execute("list = {11, 22}")
    assert world.lua.globals["list"][1] == 11


def of_classes(world: World) -> None:
    nn, torch = world.lua.require("nn"), world.lua.require("torch")
    assert nn.Linear(4, 3).weight.shape == (3, 4)
    assert torch.randn(2, 2).shape == (2, 2)


def written_by_parts(world: World) -> None:
    """What the row sends to."""
    parts = """
       local name = ...
       local file = torch.DiskFile(name, 'w'):binary()
       file:writeBool(false) file:writeObject({hello = 123}) file:writeInt(456) file:close()
       file = torch.DiskFile(name):binary()
       return file:readBool(), file:readObject(), file:readInt()
    """
    assert world.lua.execute(parts, world.t7_file) == (False, {"hello": 123}, 456)
    bridge.t7.T7Reader  # type: ignore[attr-defined]  # noqa: B018


def as_torchfile(world: World) -> None:
    from bridge import t7 as torchfile

    layer: Any = torchfile.load(world.t7_file)
    assert layer.bias.shape == (3,)


def of_torchfile(*names: str) -> Row:
    """Look for names of torchfile, each of which points to the same."""

    def row(world: World) -> None:
        for name in names[1:]:
            with pytest.raises(
                AttributeError, match=f"which is torchfile's: {re.escape(TORCHFILE.names[name])}"
            ):
                getattr(bridge.t7, name)
        getattr(bridge.t7, names[0])

    return row


def of_lutorpy(*names: str) -> Row:
    """Look for names of lutorpy in a state and in the package, all of which point to the same."""

    def row(world: World) -> None:
        for name in names:
            for place in (world.lua, bridge):
                with pytest.raises(
                    AttributeError, match=f"which is lutorpy's: {re.escape(LUTORPY.names[name])}"
                ):
                    getattr(place, name)
        getattr(world.lua, names[0])

    return row


def from_array(world: World) -> None:
    with pytest.raises(AttributeError, match="pass the array itself"):
        world.lua.array2tensor(world.x)
    world.lua.torch.fromNumpyArray(world.x)


OF_PYTHON2TORCH: Rows = {
    '`python2torch.PyTorch("file.lua")`': lambda world: bridge.PyTorch(world.lua_file).close(),
    "`model.f(x)`": lambda world: check(world.model.f(3) == [6, "done"]),
    '`model("f", [x])`': lambda world: check(world.model("f", [3]) == [6, "done"]),
    "`model.function_names`, `dir(model)`": lambda world: check(
        "f" in world.model.function_names and "f" in dir(world.model)
    ),
    '`PyTorch(script_name="file.lua")`': (
        lambda world: bridge.PyTorch(script_name=world.lua_file),  # type: ignore[call-arg]
        "PyTorch(file)",
    ),
    "`PyTorchExtension`": (lambda world: getattr(bridge, "PyTorchExtension"), "bridge.PyTorch"),  # noqa: B009
}

OF_LUTORPY: Rows = {
    "`import lutorpy as lua`": made,
    '`require("nn")`, `lua.require("nn")`': lambda world: check(world.lua.require("nn").Tanh()),
    "`lua.execute(text)`, `lua.eval(text)`": executed,
    "`nn.Linear(4, 3)`, `net.weight`, `torch.randn(2, 2)`": of_classes,
    "`net._forward(x)`": lambda world: check(
        world.net._forward(world.x, copy=True).tolist() == world.net.forward(world.x).tolist()
    ),
    "`t[0][1]`, counted from 0": counted_from_zero,
    "`net.forward(net, x)`": (
        lambda world: world.net.forward(world.net, world.x),
        "the first argument is the module itself",
    ),
    "`lua.LuaRuntime(...)`": (of_lutorpy("LuaRuntime"), "bridge.Lua()"),
    "`lua.luaRuntime.globals()`": (of_lutorpy("luaRuntime"), "bridge.Lua()"),
    "`lua.set_globals(globals(), __builtins__)`, `lua.update_globals()`": (
        of_lutorpy("set_globals", "update_globals"),
        "lua.nn after lua.require('nn')",
    ),
    "`lua.table_from(x)`": (of_lutorpy("table_from"), "a list or a dict"),
    "`lua.table(1, 2)`": (lambda world: world.lua.table(1, 2), "attempt to call a table value"),
    '`lua.bs(net, "forward")`, `lua.boostrap_self(net, "forward")`': (
        of_lutorpy("bs", "boostrap_self"),
        "methods need no self",
    ),
    "`torch.fromNumpyArray(x)`, `lua.array2tensor(x)`": (
        from_array,
        "pass the array itself",
    ),
    "`x.asNumpyArray()`": (lambda world: world.net.weight.asNumpyArray(), "asNumpyArray"),
    "`lua.lua_type(x)`": (of_lutorpy("lua_type"), "isinstance(x, bridge.LuaTable)"),
    "`lua.LuaSyntaxError`": (of_lutorpy("LuaSyntaxError"), "bridge.LuaError"),
    "`zero_based_index=True`": (lambda world: made(world, zero_based_index=True), "bridge.index"),
    '`encoding="UTF-8"`, `source_encoding="UTF-8"`': lambda world: made(
        world, encoding="UTF-8", source_encoding="UTF-8"
    ),
    "`encoding=None`": (lambda world: made(world, encoding=None), 'strings="bytes"'),
    '`source_encoding="latin-1"`': (lambda world: made(world, source_encoding="latin-1"), "as bytes"),
    "`unpack_returned_tuples=True`": lambda world: made(world, unpack_returned_tuples=True),
    "`unpack_returned_tuples=False`": (
        lambda world: made(world, unpack_returned_tuples=False),
        "a list is a table",
    ),
    "`attribute_filter=f`": (lambda world: made(world, attribute_filter=print), "opaque"),
    "`attribute_handlers=(f, g)`": (
        lambda world: made(world, attribute_handlers=(print, print)),
        "functions",
    ),
    "`register_eval=False`, `register_builtins=False`": lambda world: made(
        world, register_eval=False, register_builtins=False
    ),
    "`register_eval=True`, `register_builtins=True`": (
        lambda world: made(world, register_eval=True, register_builtins=True),
        "pass it the functions",
    ),
    "`overflow_handler=f`": (lambda world: made(world, overflow_handler=float), "pass float(x) or str(x)"),
    "`max_memory=2**30`": (lambda world: made(world, max_memory=2**30), "bridge.serve.ModelProcess"),
}

OF_TORCHFILE: Rows = {
    '`torchfile.load("x.t7")`': as_torchfile,
    "`obj.torch_typename()`": lambda world: check(world.obj.torch_typename() == "nn.Linear"),
    '`obj.weight`, `obj["weight"]`': lambda world: check(world.obj.weight is world.obj["weight"]),
    '`obj[b"weight"]`': (lambda world: world.obj[b"weight"], "texts that are UTF-8 are str here, 'weight'"),
    "`T7Reader(f).read_obj()`": (written_by_parts, "torch.DiskFile"),
    "`T7ReaderException`": (of_torchfile("T7ReaderException"), "bridge.t7.T7Error"),
    "`LuaFunction`": (of_torchfile("LuaFunction"), "bridge.t7.TorchFunction"),
    "`hashable_uniq_dict`": (of_torchfile("hashable_uniq_dict"), "bridge.t7.Key"),
    "`torch_readers`, `add_tensor_reader`, `add_storage_reader`, `add_notimpl_reader`": (
        of_torchfile("torch_readers", "add_tensor_reader", "add_storage_reader", "add_notimpl_reader"),
        "layouts=",
    ),
    "reading alone": lambda world: check(loaded(world, {"a": 1}) == {"a": 1}),
    "`force_8bytes_long=True`": lambda world: check(
        loaded(world, np.zeros((2, 3)), force_8bytes_long=True).shape == (2, 3)
    ),
    "`use_list_heuristic=False`": lambda world: check(
        (loaded(world, [5, 6], use_list_heuristic=False), loaded(world, [5, 6], use_list_heuristic=True))
        == ({1: 5, 2: 6}, [5, 6])
    ),
    "`use_int_heuristic=True`": lambda world: check(type(loaded(world, 2.0, use_int_heuristic=True)) is int),
    "`use_int_heuristic=False`": (lambda world: loaded(world, 2.0, use_int_heuristic=False), "float(x)"),
    "`utf8_decode_strings=True`": lambda world: check(
        loaded(world, ["é", b"\xff"], utf8_decode_strings=True) == ["é", b"\xff"]
    ),
    "`utf8_decode_strings=False`": (
        lambda world: loaded(world, "é", utf8_decode_strings=False),
        "x.encode()",
    ),
    "`force_deserialize_classes=False`": (
        lambda world: loaded(world, 1, force_deserialize_classes=False),
        "always read",
    ),
    '`filename="x.t7"`, `fileobj=f`': (
        lambda world: bridge.t7.load(filename=world.t7_file),  # type: ignore[call-arg]
        "the path comes first",
    ),
}

SECTIONS = {
    "From python2torch": OF_PYTHON2TORCH,
    "From lutorpy": OF_LUTORPY,
    "From torchfile": OF_TORCHFILE,
}
EACH = [pytest.param(section, there, id=there) for section, table in SECTIONS.items() for there in table]


@pytest.mark.parametrize("section", SECTIONS)
def test_each_row_has_a_test(section: str) -> None:
    assert list(rows("docs/names.md", section)) == list(SECTIONS[section])


@pytest.mark.parametrize(("section", "there"), EACH)
def test_what_is_the_same_runs_and_the_rest_says_what_to_write(
    world: World, section: str, there: str
) -> None:
    row = SECTIONS[section][there]
    refused = rows("docs/names.md", section)[there].startswith("refused")
    if not isinstance(row, tuple):
        assert not refused
        row(world)
        return
    assert refused
    call, words = row
    with pytest.raises((TypeError, AttributeError, KeyError, bridge.LuaError)) as caught:
        call(world)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("program", "section", "taken"),
    [
        (PYTHON2TORCH, "From python2torch", set()),
        (LUTORPY, "From lutorpy", set()),
        (TORCHFILE, "From torchfile", {"force_8bytes_long", "use_list_heuristic"}),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_the_page_names_what_the_tables_name(program: Program, section: str, taken: set[str]) -> None:
    there = rows("docs/names.md", section)
    assert {name for cell in there for name in keywords(cell)} == {*program.keywords, *taken}
    code = " ".join(there)
    assert [name for name in program.names if not re.search(rf"\b{name}\b", code)] == []
    assert taken <= set(inspect.signature(bridge.t7.load).parameters)


def test_what_has_no_name_anywhere_is_refused_as_ever() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'codec'"):
        bridge.Lua(codec="utf-8")  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match=r"^module 'bridge.t7' has no attribute 'lod'$"):
        bridge.t7.lod  # type: ignore[attr-defined]  # noqa: B018


def test_a_value_is_the_same_only_with_its_type() -> None:
    with pytest.raises(TypeError, match="register_eval"):
        bridge.Lua(register_eval=0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="encoding"):
        bridge.Lua(encoding=np.zeros(3))  # type: ignore[call-arg]


def test_the_signatures_stay() -> None:
    assert "busy_timeout" in inspect.signature(bridge.Lua).parameters
    assert list(inspect.signature(bridge.PyTorch).parameters) == ["file", "options"]
    assert next(iter(inspect.signature(bridge.t7.load).parameters)) == "file"
