"""torch.save, torch.load and kin: objects of every class, functions, references."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import bridge

DATA = Path(__file__).parents[1] / "data" / "torch7"
FILES = DATA / "files"
NAMES = [line.split("\t")[0] for line in (FILES / "MANIFEST.txt").read_text().splitlines()]
ENCODINGS = {".t7": "binary", ".ascii.t7": "ascii", ".ser.bin": "binary", ".ser.txt": "ascii"}
ENTRY = re.compile(r"^=== (\w+) --[^\n]*\n(.*?)(?=^=== |\Z)", re.DOTALL | re.MULTILINE)
PRINTED = dict(ENTRY.findall((DATA / "PRINTED.txt").read_bytes().decode("latin-1")))
# Written in the order of a hash table, which differs from one state to the next.
HASHED = {"shared_storage", "table_map", "table_cycle", "table_tablekey", "function_shared_upvalue"}
HASHED |= {"class_animal", "class_dog", "class_shared", "class_unwritable_field", "cmdline_tester_timer"}
FUNCTIONS = {
    "function_upvalues": 20,
    "function_recursive": 120,
    "function_shared_upvalue": None,
    "function_noup": None,
}


def compact(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


@pytest.fixture(scope="module")
def printed(module: bridge.Lua) -> Callable[..., str]:
    module.printed = module.execute((Path(__file__).parent / "printed.lua").read_text())

    def load(name: str, mode: str) -> str:
        text = module.eval("printed(torch.load(...))", name, mode)
        return compact(text.decode("latin-1") if isinstance(text, bytes) else text.encode().decode("latin-1"))

    return load


def resaved(state: bridge.Lua, name: str, mode: str) -> bytes:
    text = state.execute("local n, m = ... return (torch.serialize(torch.load(n, m), m))", name, mode)
    return text if isinstance(text, bytes) else str(text).encode()


@pytest.mark.parametrize("suffix", ENCODINGS)
@pytest.mark.parametrize("name", NAMES)
def test_an_object_of_torch7_loads_equal(printed: Callable[..., str], name: str, suffix: str) -> None:
    expected = re.sub(r"\ncalled with.*", "", PRINTED[name])
    assert printed(str(FILES / (name + suffix)), ENCODINGS[suffix]) == compact(expected)


@pytest.mark.parametrize("suffix", ENCODINGS)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in HASHED])
def test_an_object_of_torch7_is_written_byte_by_byte(module: bridge.Lua, name: str, suffix: str) -> None:
    path = FILES / (name + suffix)
    assert resaved(module, str(path), ENCODINGS[suffix]) == path.read_bytes()


@pytest.mark.parametrize("suffix", ENCODINGS)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in HASHED])
def test_a_function_that_ran_is_written_byte_by_byte(running: bridge.Lua, name: str, suffix: str) -> None:
    path = FILES / (name + suffix)
    assert resaved(running, str(path), ENCODINGS[suffix]) == path.read_bytes()


@pytest.mark.parametrize("name", sorted(HASHED))
def test_an_object_in_hash_order_is_written_as_long_and_loads_equal(
    module: bridge.Lua, printed: Callable[..., str], tmp_path: Path, name: str
) -> None:
    for suffix, mode in (("", "binary"), (".ascii", "ascii")):
        path, again = FILES / f"{name}{suffix}.t7", tmp_path / "again.t7"
        module.execute(
            "local n, to, m = ... torch.save(to, torch.load(n, m), m)", str(path), str(again), mode
        )
        assert len(again.read_bytes()) == len(path.read_bytes())
        assert printed(str(again), mode) == printed(str(path), mode)


# ---- functions


@pytest.mark.parametrize(("name", "result"), [("function_upvalues", 20), ("function_recursive", 120)])
def test_a_stored_function_runs_where_that_is_allowed(running: bridge.Lua, name: str, result: int) -> None:
    assert running.execute("return torch.load(...)(5, 6)", str(FILES / f"{name}.t7")) == result


def test_stored_functions_share_upvalues(running: bridge.Lua) -> None:
    code = "local t = torch.load(...) t.inc() t.inc() return t.get()"
    assert running.execute(code, str(FILES / "function_shared_upvalue.t7")) == 2


def test_a_stored_function_raises_when_called(module: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="allow_functions=True"):
        module.execute("torch.load(...)(5, 6)", str(FILES / "function_upvalues.t7"))


def test_bytecode_of_another_luajit_raises_only_when_called(running: bridge.Lua) -> None:
    blob = (FILES / "function_noup.t7").read_bytes().replace(b"\x1bLJ\x02", b"\x1bLJ\x01")
    running.blob = blob
    assert running.eval("type(torch.deserialize(blob))") == "function"
    with pytest.raises(bridge.LuaError, match="this LuaJIT cannot load it"):
        running.execute("torch.deserialize(blob)(1)")
    assert running.eval("torch.serialize(torch.deserialize(blob)) == blob") is True


@pytest.mark.slow
def test_th_runs_stored_functions(tmp_path: Path) -> None:
    program = tmp_path / "p.lua"
    program.write_text(
        "local n = 4\ntorch.save('f.t7', function(x) return x + n end)\nprint(torch.load('f.t7')(3))"
    )
    run = [sys.executable, "-m", "bridge.th", str(program)]
    root = str(Path(bridge.__file__).parents[1])
    done = subprocess.run(
        run,
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert (done.stdout, done.stderr) == ("7\t\n", "")


# ---- references


ROUND_TRIPS = {
    "a cycle": "local t = {} t.t = t local u = again(t) return u.t == u",
    "a shared table": "local s = {} local u = again{s, s} return u[1] == u[2]",
    "a table as a key": "local k = {1} local u = again{[k] = 'v', k = k} return u[u.k] == 'v'",
    "a shared storage": (
        "local t = torch.zeros(4) local u = again{t, t:narrow(1, 2, 2)} u[1][2] = 7 return u[2][1] == 7"
    ),
    "a shared tensor": "local t = torch.zeros(4) local u = again{t, t} return rawequal(u[1], u[2])",
    "keys of every kind": (
        "local u = again{[true] = 1, [1.5] = 2, [-1] = 3, x = 4, [2^40] = 5} "
        "return u[true] == 1 and u[1.5] == 2 and u[-1] == 3 and u.x == 4 and u[2^40] == 5"
    ),
    "false in an array": "local u = again{false, true} return u[1] == false and u[2] == true",
    "a tensor that is a view of a column": (
        "local t = torch.range(1, 6):resize(2, 3):select(2, 2) local u = again(t) "
        "return u[1] == 2 and u[2] == 5 and u:stride(1) == 3 and u:storage():size() == 6"
    ),
    "a long string": "local s = ('x'):rep(1e6) return again(s) == s",
    "a table with pairs of its own": (
        "local t = setmetatable({}, {__pairs = function() return next, {a = 1}, nil end}) "
        "local u = again{t, t} return u[1].a == 1 and u[1] == u[2]"
    ),
    "a tensor type": "return torch.type(again(torch.HalfTensor{1.5})) == 'torch.HalfTensor'",
    "depth": (
        "local t = {} local u = t for i = 1, 2000 do u[1] = {} u = u[1] end "
        "u = again(t) for i = 1, 2000 do u = u[1] end return next(u) == nil"
    ),
}


@pytest.mark.parametrize("mode", ["binary", "ascii"])
@pytest.mark.parametrize("what", ROUND_TRIPS)
def test_round_trips(lua: bridge.Lua, what: str, mode: str) -> None:
    again = f"local function again(x) return torch.deserialize(torch.serialize(x, '{mode}'), '{mode}') end "
    assert lua.execute(again + ROUND_TRIPS[what]) is True


def test_a_second_object_of_a_file_refers_to_the_first(lua: bridge.Lua) -> None:
    code = """
        local f, t = torch.MemoryFile(), {1}
        f:writeObject(t) f:writeObject(t) f:seek(1)
        local a, b = f:readObject(), f:readObject()
        return a == b, a[1]
    """
    assert lua.execute(code) == (True, 1)


def test_a_hook_replaces_objects_while_they_are_written(lua: bridge.Lua) -> None:
    code = """
        local f = torch.MemoryFile()
        f:writeObject({1, {2}}, 'x', function(o) return type(o) == 'number' and o * 10 or o end)
        f:seek(1)
        local t = f:readObject()
        return t[10], t[20][10]
    """
    assert lua.execute(code) == (10, 20)


def test_a_storage_is_read_in_place(lua: bridge.Lua) -> None:
    code = """
        local s = torch.serializeToStorage({1, 'x'})
        local t = torch.deserializeFromStorage(s)
        return torch.type(s), t[1], t[2]
    """
    assert lua.execute(code) == ("torch.CharStorage", 1, "x")


CHAINS: dict[str, str] = {
    "tables": "return {next = t}",
    "classes": "local o = Chain() o.next = t return o",
    "modules": "local o = nn.Sequential() o.next = t return o",
}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["binary", "ascii"])
@pytest.mark.parametrize("link", CHAINS)
def test_objects_nest_as_deeply_as_there_is_memory(lua: bridge.Lua, link: str, mode: str) -> None:
    code = f"""
        require 'nn'
        torch.class('Chain')
        local function link(t) {CHAINS[link]} end
        local t = 'end'
        for _ = 1, 20000 do t = link(t) end
        t = torch.deserialize(torch.serialize(t, '{mode}'), '{mode}')
        local n = 0
        while t ~= 'end' do n, t = n + 1, t.next end
        return n
    """
    assert lua.execute(code) == 20000


def test_tables_that_are_keys_of_tables_that_are_keys_keep_their_values(lua: bridge.Lua) -> None:
    code = """
        local t = torch.deserialize(torch.serialize({[{[{1, {2}}] = {x = 3}}] = {y = 4}, z = 5}))
        local n = {}
        for key, value in pairs(t) do
           if key == 'z' then n[3] = value else
              n[2] = value.y
              for inner, deep in pairs(key) do n[1] = inner[1] + inner[2][1] + deep.x end
           end
        end
        return n
    """
    assert lua.execute(code) == [6, 4, 5]


def test_tables_around_deep_ones_go_on_where_they_were(lua: bridge.Lua) -> None:
    code = """
        local t = {1}
        for i = 2, 50 do t = {i, t, {i, {{i}}}, x = {t}} end
        local again = torch.deserialize(torch.serialize(t))
        local shared = again.x[1] == again[2] and again[2].x[1] == again[2][2]
        for i = 50, 2, -1 do
           assert(again[1] == i and again[3][1] == i and again[3][2][1][1] == i)
           again = again[2]
        end
        return shared, again[1]
    """
    assert lua.execute(code) == (True, 1)


def test_the_way_to_what_cannot_be_written_is_told_by_its_ends(lua: bridge.Lua) -> None:
    code = "t = {io.stdout} for i = 40, 1, -1 do t = {['k' .. i] = t} end torch.serialize(t)"
    with pytest.raises(bridge.LuaError, match=r"at <\?>\.k1\..*\.k10 \.\.\. \.k32\..*\.k40\.1\n"):
        lua.execute(code)


def test_modules_nest_deeply(lua: bridge.Lua) -> None:
    code = """
        require 'nn'
        local net = nn.Identity()
        for _ = 1, 3000 do net = nn.Sequential():add(net) end
        local again, n = torch.deserialize(torch.serialize(net)), 0
        while again.modules do n, again = n + 1, again.modules[1] end
        return n, again:forward(torch.ones(2)):sum()
    """
    assert lua.execute(code) == (3000, 2)


# ---- classes


def test_a_class_with_its_own_format_is_asked(module: bridge.Lua) -> None:
    code = "local o = torch.deserialize(torch.serialize(Truth.Custom{5})) return o.v[1], o.marker, o.version, o.cache"
    assert module.execute(code) == (5, 77, 1, None)


def test_fields_that_cannot_be_written_are_told_and_left_out(
    module: bridge.Lua, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "local d = Truth.Dog('rex', 3) d.f = io.stdout return torch.deserialize(torch.serialize(d)).f"
    assert module.execute(code) is None
    assert capsys.readouterr().out == "$ Warning: cannot write object field <f> of <Truth.Dog>\n"


def test_a_table_that_cannot_be_written_is_an_error_that_says_where(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"Unwritable object <userdata> at <\?>\.a\.2"):
        lua.execute("torch.serialize{a = {1, io.stdout}}")


def test_a_class_that_does_not_exist_is_named(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"unknown Torch class <Truth\.Dog>"):
        lua.execute("torch.load(...)", str(FILES / "class_dog.t7"))


def test_a_class_may_be_made_when_a_file_asks_for_its_factory(lua: bridge.Lua) -> None:
    code = """
        local kept = torch.factory
        local function make()
           local Dog = torch.class('Late.Dog')
           function Dog:__init(name) self.name = name end
           return Late.Dog
        end
        Late = {}
        local text = torch.serialize(make()('rex')):gsub('Late', 'Load')
        Load, asked = {}, {}
        torch.factory = function(name)
           table.insert(asked, name)
           if not kept(name) then
              torch.class(name)
           end
           return kept(name)
        end
        local dog = torch.deserialize(text)
        return torch.type(dog), dog.name, asked
    """
    assert lua.execute(code) == ("Load.Dog", "rex", ["Load.Dog"])


@pytest.mark.parametrize("kind", ["", "Double", "Long", "Byte", "Half"])
def test_a_cuda_tensor_loads_as_one_of_this_machine(lua: bridge.Lua, kind: str) -> None:
    host = kind or "Float"
    text = lua.execute(f"return (torch.serialize(torch.{host}Tensor{{1, 2}}, 'ascii'))")
    for what in ("Tensor", "Storage"):
        old, new = f"torch.{host}{what}", f"torch.Cuda{kind}{what}"
        assert f"{len(old)}\n{old}" in text
        text = text.replace(f"{len(old)}\n{old}", f"{len(new)}\n{new}")
    code = "local t = torch.deserialize(..., 'ascii') return torch.type(t), t:totable()"
    assert lua.execute(code, text) == (f"torch.{host}Tensor", [1, 2])
