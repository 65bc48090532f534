"""Objects in files: everything that a real Torch7 wrote loads, and is written again byte by byte."""

from __future__ import annotations

import os
import re
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
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


def prepared(state: bridge.Lua) -> bridge.Lua:
    state.require("torch")
    state.execute((FILES / "truth_classes.lua").read_text())
    state.execute("if not torch.Tester then torch.class('torch.Tester') end")
    return state


@pytest.fixture(scope="module")
def module() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        yield prepared(state)


@pytest.fixture(scope="module")
def running() -> Iterator[bridge.Lua]:
    """Provide a state in which stored functions run."""
    with bridge.Lua(allow_functions=True) as state:
        yield prepared(state)


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


# ---- variants of the format


@pytest.mark.parametrize("size", [4, 8])
def test_the_size_of_longs_is_found_out(lua: bridge.Lua, size: int) -> None:
    code = "local t = torch.load(...) return t[1]:totable(), t[2]:totable(), t[3]:totable()"
    assert lua.execute(code, str(FILES / f"longsize{size}.t7")) == ([1, 2, -3], [9, 8], [1, 2, 3])


# Objects whose sizes a wrong guess could read as something else; each is written with longs of 4 bytes, then of 8.
AMBIGUOUS = [
    "torch.Tensor()",
    "{torch.Tensor(), torch.Tensor(), 'x'}",
    "torch.ByteStorage(8):fill(0)",
    "{torch.ByteStorage(8):fill(0), 1, 2, true}",
    "{torch.FloatStorage(), torch.IntStorage(4):fill(0), torch.LongStorage{0, 0, 5}}",
    "torch.LongTensor(2, 3):zero()",
    "torch.zeros(3):resize(0)",
    "{a = torch.zeros(2, 2):t(), b = {torch.LongTensor{1}, torch.LongTensor{0}}}",
]


@pytest.mark.parametrize("mode", ["b32", "b64"])
@pytest.mark.parametrize("expression", AMBIGUOUS)
def test_no_guess_of_the_size_of_longs_goes_wrong(lua: bridge.Lua, expression: str, mode: str) -> None:
    lua.printed = lua.execute((Path(__file__).parent / "printed.lua").read_text())
    code = (
        f"local o = {expression} return printed(o), printed(torch.deserialize(torch.serialize(o, '{mode}')))"
    )
    expected, found = lua.execute(code)
    assert found == expected


@pytest.mark.parametrize(("mode", "size"), [("b32", 4), ("b64", 8)])
def test_longs_are_written_in_the_size_asked_for(
    lua: bridge.Lua, tmp_path: Path, mode: str, size: int
) -> None:
    path, again = FILES / f"longsize{size}.t7", tmp_path / "again.t7"
    lua.execute("local n, to, m = ... torch.save(to, torch.load(n), m)", str(path), str(again), mode)
    assert again.read_bytes() == path.read_bytes()


def test_a_file_of_the_other_byte_order_is_read_and_written(lua: bridge.Lua, tmp_path: Path) -> None:
    code = """
        local from, to = ...
        local object = torch.DiskFile(from):binary():bigEndianEncoding():readObject()
        local f = torch.DiskFile(to, 'w'):binary():bigEndianEncoding()
        f:writeObject(object)
        f:close()
        return object[1], object[2], object[3]:totable()
    """
    assert lua.execute(code, str(FILES / "bigendian.t7"), str(tmp_path / "b")) == (1.5, "x", [1, 2])
    assert (tmp_path / "b").read_bytes() == (FILES / "bigendian.t7").read_bytes()


@pytest.mark.parametrize(
    ("name", "mode"), [("unreferenced.t7", "binary"), ("unreferenced.ascii.t7", "ascii")]
)
def test_without_references_everything_is_written_again(
    lua: bridge.Lua, tmp_path: Path, name: str, mode: str
) -> None:
    again = tmp_path / "again"
    code = """
        local to, mode = ...
        local t = torch.Tensor{1, 2, 3}
        torch.save(to, {t, t}, mode, false)
        local u = torch.load(to, mode, false)
        return u[1] == u[2], u[1]:totable(), u[2]:totable()
    """
    assert lua.execute(code, str(again), mode) == (False, [1, 2, 3], [1, 2, 3])
    assert again.read_bytes() == (FILES / name).read_bytes()


def test_a_generator_keeps_its_place(lua: bridge.Lua) -> None:
    code = """
        local kept = torch.load(...)
        torch.setRNGState(kept.state)
        local generator = torch.deserialize(torch.serialize(torch._gen))
        return torch.equal(torch.DoubleTensor(5):uniform(generator), kept.next), kept.next:totable()
    """
    same, expected = lua.execute(code, str(FILES / "rngstate_after_1000.t7"))
    assert (same, len(expected)) == (True, 5)


@pytest.mark.parametrize("name", ["criterions", "optim"])
def test_lists_of_results_load(lua: bridge.Lua, name: str) -> None:
    code = "local n = 0 for _ in pairs(torch.load(...)) do n = n + 1 end return n"
    assert lua.execute(code, str(FILES / f"{name}.t7")) > 5


def test_a_trained_model_loads_and_runs(lua: bridge.Lua) -> None:
    code = """
        require 'nn'
        local r = torch.load(...)
        return (r.model:forward(r.input) - r.output):abs():max()
    """
    assert lua.execute(code, str(FILES / "model_mlp_float.t7")) < 1e-6


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


def test_what_was_written_can_be_read_however_deep(lua: bridge.Lua) -> None:
    code = """
        torch.class('Chain')
        local function chain(n)
            local o = Chain()
            for _ = 1, n do local next = Chain() next.o = o o = next end
            return o
        end
        local o = torch.deserialize(torch.serialize(chain(2500)))
        local n = 0
        while o.o do n, o = n + 1, o.o end
        return n, pcall(torch.serialize, chain(10000))
    """
    depth, written, message = lua.execute(code)
    assert (depth, written) == (2500, False)
    assert "nested too deeply (2600)" in message


def test_modules_nest_deeply(lua: bridge.Lua) -> None:
    code = """
        require 'nn'
        local net = nn.Identity()
        for _ = 1, 150 do net = nn.Sequential():add(net) end
        local again = torch.deserialize(torch.serialize(net))
        return again:forward(torch.ones(2)):sum()
    """
    assert lua.execute(code) == 2


# ---- classes


def test_a_class_with_its_own_format_is_asked(lua: bridge.Lua) -> None:
    prepared(lua)
    code = "local o = torch.deserialize(torch.serialize(Truth.Custom{5})) return o.v[1], o.marker, o.version, o.cache"
    assert lua.execute(code) == (5, 77, 1, None)


def test_fields_that_cannot_be_written_are_told_and_left_out(
    lua: bridge.Lua, capsys: pytest.CaptureFixture[str]
) -> None:
    prepared(lua)
    code = "local d = Truth.Dog('rex', 3) d.f = io.stdout return torch.deserialize(torch.serialize(d)).f"
    assert lua.execute(code) is None
    assert capsys.readouterr().out == "$ Warning: cannot write object field <f> of <Truth.Dog>\n"


def test_a_table_that_cannot_be_written_is_an_error_that_says_where(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"Unwritable object <userdata> at <\?>\.a\.2"):
        lua.execute("torch.serialize{a = {1, io.stdout}}")


def test_a_class_that_does_not_exist_is_named(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"unknown Torch class <Truth\.Dog>"):
        lua.execute("torch.load(...)", str(FILES / "class_dog.t7"))


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


# ---- saving


def test_a_failed_save_leaves_the_file_as_it_was(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "f.t7"
    lua.execute("torch.save(..., 'old')", str(path))
    with pytest.raises(bridge.LuaError, match="Unwritable object"):
        lua.execute("torch.save(..., {io.stdout})", str(path))
    assert lua.execute("return torch.load(...)", str(path)) == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_keeps_permissions_and_links(lua: bridge.Lua, tmp_path: Path) -> None:
    path, link = tmp_path / "f.t7", tmp_path / "link.t7"
    path.touch(mode=0o640)
    link.symlink_to(path)
    lua.execute("torch.save(..., 'new')", str(link))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert lua.execute("return torch.load(...)", str(path)) == "new"


def test_a_device_is_written_directly(lua: bridge.Lua) -> None:
    lua.execute("torch.save('/dev/null', {1, 2})")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_full_disk_is_an_error(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="No space left on device"):
        lua.execute("torch.save('/dev/full', torch.zeros(1e5))")
    with pytest.raises(bridge.LuaError, match="No space left on device"):
        lua.execute("torch.save('/dev/full', 1)")


def test_a_file_that_cannot_be_opened_is_named(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="cannot open </nonexistent/f> in mode  w"):
        lua.execute("torch.save('/nonexistent/f', 1)")


@pytest.mark.parametrize("call", ["save('f', 1, 'xml')", "load('f', 'xml')", "serialize(1, 'xml')"])
def test_an_unknown_mode_is_refused(lua: bridge.Lua, call: str) -> None:
    with pytest.raises(bridge.LuaError, match='"binary", "b32", "b64" or "ascii"'):
        lua.execute("torch." + call)


# ---- what is no file of Torch7, or a damaged one


FOREIGN = {
    "a Python pickle": b"\x80\x04\x95\x10\x00\x00\x00",
    "a zip archive": b"PK\x03\x04\x14\x00\x00\x00",
    "looks like text": b"hello world, this is a text",
    "it is empty": b"",
    "an HDF5 file": b"\x89HDF\r\n\x1a\n",
    "a NumPy array": b"\x93NUMPY\x01\x00",
    "compressed by gzip": b"\x1f\x8b\x08\x00",
    "an HTML or XML page": b"<!DOCTYPE html>",
    "in ascii: load it with mode 'ascii'": b"1\n1.5\n",
    "the other byte order": b"\x00\x00\x00\x01?\xf0\x00\x00\x00\x00\x00\x00",
    "begins with the bytes ff fe 00 01": b"\xff\xfe\x00\x01",
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_refused_by_what_it_is(lua: bridge.Lua, tmp_path: Path, what: str) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(FOREIGN[what])
    with pytest.raises(bridge.LuaError, match=f"no file of Torch7, it .*{what.removeprefix('it ')}"):
        lua.execute("torch.load(...)", str(path))


def test_a_binary_file_read_as_text_is_told(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="a Torch7 file in binary"):
        lua.execute("torch.load(..., 'ascii')", str(FILES / "table_array.t7"))


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def named(name: str) -> bytes:
    return ints(4, 1, 3) + b"V 1" + ints(len(name)) + name.encode()


HOSTILE: dict[str, tuple[bytes, str]] = {
    "negative string": (ints(2, -5), "the length of a string is negative"),
    "huge string": (ints(2, 2**31 - 1) + b"abc", "read error"),
    "negative table": (ints(3, 1, -1), "the size of a table is negative"),
    "huge table": (ints(3, 1, 2**31 - 1), "read error"),
    "nil key": (ints(3, 1, 1, 0, 0), "a key of a table is nil"),
    "nan key": (ints(3, 1, 1, 1) + struct.pack("<d", float("nan")) + ints(0), "is not a number"),
    "unknown type inside": (ints(3, 1, 1, 99), "corrupt file: unknown object"),
    "endless nesting": (
        ints(3, 1, 1) + b"".join(ints(1, 0, 0, 3, i, 1) for i in range(2, 9000)),
        "nested too deeply",
    ),
    "negative name": (ints(4, 1, -3), "of -3 bytes"),
    "huge name": (ints(4, 1, 2**31 - 1), "read error"),
    "no such class": (named("os.execute"), "unknown Torch class <os.execute>"),
    "negative storage": (named("torch.IntStorage") + struct.pack("<q", -1), "a storage of -1 elements"),
    "huge storage": (named("torch.IntStorage") + struct.pack("<q", 2**60), "read error"),
    "endless storage": (named("torch.ByteStorage") + struct.pack("<q", 2**63 - 1), "read error"),
    "dimensions": (named("torch.IntTensor") + ints(2**30), "a tensor of 1073741824 dimensions"),
    "negative dimensions": (named("torch.IntTensor") + ints(-1), "a tensor of -1 dimensions"),
    "no storage": (
        named("torch.IntTensor") + ints(1) + struct.pack("<3q", 5, 1, 1) + ints(0),
        "reaches past the 0 elements",
    ),
    "storage of another type": (
        named("torch.IntTensor")
        + ints(1)
        + struct.pack("<3q", 1, 1, 1)
        + named("torch.ByteStorage").replace(ints(4, 1, 3), ints(4, 2, 3))
        + struct.pack("<q", 1)
        + b"x",
        "whose storage is a torch.ByteStorage",
    ),
    "itself as storage": (
        named("torch.IntTensor") + ints(1) + struct.pack("<3q", 1, 1, 1) + ints(4, 1),
        "whose storage is a torch.IntTensor",
    ),
    "past its storage": (
        named("torch.IntTensor")
        + ints(1)
        + struct.pack("<3q", 9, 2**40, 1)
        + named("torch.IntStorage").replace(ints(4, 1, 3), ints(4, 2, 3))
        + struct.pack("<q", 1)
        + ints(7),
        "reaches past the 1 elements",
    ),
    "upvalues that are none": (ints(8, 1, 1) + b"x" + ints(1) + struct.pack("<d", 1), ""),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_an_error_or_harmless(lua: bridge.Lua, what: str) -> None:
    blob, message = HOSTILE[what]
    begun = time.monotonic()
    if message:
        with pytest.raises(bridge.LuaError, match=message):
            lua.execute("torch.deserialize(...)", blob)
    else:
        assert lua.execute("return type(torch.deserialize(...))", blob) == "function"
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "name", ["shared_storage.t7", "class_shared.t7", "function_upvalues.t7", "table_cycle.ascii.t7"]
)
def test_a_file_cut_anywhere_is_an_error(module: bridge.Lua, name: str) -> None:
    blob = (FILES / name).read_bytes()
    mode = "ascii" if "ascii" in name else "binary"
    module.execute("function survives(blob, mode) return (pcall(torch.deserialize, blob, mode)) end")
    whole = len(blob.rstrip()) if mode == "ascii" else len(blob)
    assert [n for n in range(1, whole) if module.survives(blob[:n], mode)] == []


@pytest.mark.parametrize(
    "name", ["shared_storage.t7", "class_shared.t7", "tensor_5d.t7", "table_map.t7", "storage_Half.t7"]
)
def test_a_file_with_any_byte_changed_is_an_error_or_an_object(module: bridge.Lua, name: str) -> None:
    blob = (FILES / name).read_bytes()
    module.execute(
        "function outcome(b) local ok, m = pcall(torch.deserialize, b) return ok or type(m) == 'string' end"
    )
    for i in range(len(blob)):
        for value in (0, 127, 255):
            assert module.outcome(blob[:i] + bytes([value]) + blob[i + 1 :])


@pytest.mark.parametrize("bits", [2**64 - 1, 0xFFFA << 48, 0xFFFA << 48 | 0xDEADBEEF, 0x7FF4 << 48])
def test_any_nan_of_an_object_is_a_number(lua: bridge.Lua, bits: int) -> None:
    blob = ints(1) + struct.pack("<Q", bits)
    assert lua.execute("local x = torch.deserialize(...) return type(x), x ~= x", blob) == ("number", True)


def test_loading_runs_no_code(module: bridge.Lua, tmp_path: Path) -> None:
    program = f"return io.open([[{tmp_path / 'made'}]], 'w')".encode()
    blob = ints(8, 1, len(program)) + program + ints(3, 2, 0)
    assert module.execute("return type(torch.deserialize(...))", blob) == "function"
    assert not (tmp_path / "made").exists()
