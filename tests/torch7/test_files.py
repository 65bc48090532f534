"""torch.DiskFile and what all files have: numbers, strings, places, options."""

from __future__ import annotations

import locale
from pathlib import Path

import pytest

import bridge

FILES = Path(__file__).parents[1] / "data" / "torch7" / "files"
NUMBERS = {"Byte": 200, "Char": -3, "Short": -300, "Int": 123456, "Long": 1234567890123, "Double": 1 / 3}
WRITE_RAW = """
local f = ...
f:writeByte(200) f:writeChar(-3) f:writeShort(-300) f:writeInt(123456) f:writeLong(1234567890123)
f:writeFloat(1/3) f:writeDouble(1/3) f:writeBool(true) f:writeString('some text\\n')
f:writeInt(torch.IntStorage{1, 2, 3}) f:writeDouble(torch.DoubleStorage{0.1, 1e-300, 1e300})
f:writeFloat(torch.FloatStorage{0.1, 1e-30, 1e30}) f:writeChar(torch.CharStorage():string('abc'))
f:writeByte(torch.ByteStorage{1, 2, 255}) f:writeObject{1, 'two'}
f:close()
"""
READ_RAW = """
local f = ...
local r = {f:readByte(), f:readChar(), f:readShort(), f:readInt(), f:readLong(), f:readFloat(), f:readDouble(),
   f:readBool(), f:readString('*l'), f:readInt(3):totable(), f:readDouble(3):totable(), f:readFloat(3):totable(),
   f:readChar(3):string(), f:readByte(3):totable(), f:readObject()}
f:close()
return r
"""


# ---- the format of numbers


@pytest.mark.parametrize("mode", ["ascii", "binary"])
def test_raw_writes_give_the_bytes_of_torch7(lua: bridge.Lua, tmp_path: Path, mode: str) -> None:
    lua.execute(
        f"assert(loadstring([==[{WRITE_RAW}]==]))(torch.DiskFile(..., 'w'):{mode}())", str(tmp_path / "raw")
    )
    assert (tmp_path / "raw").read_bytes() == (FILES / f"rawfile.{mode}").read_bytes()


@pytest.mark.parametrize("mode", ["ascii", "binary"])
def test_raw_bytes_of_torch7_are_read(lua: bridge.Lua, mode: str) -> None:
    path = str(FILES / f"rawfile.{mode}")
    found = lua.execute(f"return assert(loadstring([==[{READ_RAW}]==]))(torch.DiskFile(...):{mode}())", path)
    assert found[:9] == [200, -3, -300, 123456, 1234567890123, pytest.approx(1 / 3), 1 / 3, True, "some text"]
    assert found[9:11] == [[1, 2, 3], [0.1, 1e-300, 1e300]]
    assert found[11] == pytest.approx([0.1, 1e-30, 1e30], rel=1e-6)
    assert found[12:] == ["abc", [1, 2, 255], [1, "two"]]


@pytest.mark.parametrize("mode", ["ascii", "binary"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_a_number_comes_back(f: bridge.Lua, kind: str, mode: str) -> None:
    code = f"f:{mode}() f:write{kind}(...) f:seek(1) return f:read{kind}()"
    assert f.execute(code, NUMBERS[kind]) == NUMBERS[kind]


@pytest.mark.parametrize("mode", ["ascii", "binary"])
@pytest.mark.parametrize("kind", [*NUMBERS, "Float"])
def test_a_storage_comes_back(f: bridge.Lua, kind: str, mode: str) -> None:
    code = f"""
        f:{mode}()
        local written = f:write{kind}(torch.{kind}Storage{{1, 2, 3}})
        f:seek(1)
        local into = torch.{kind}Storage(2)
        local n = f:read{kind}(into)
        return written, n, into:totable(), f:read{kind}(1):totable()
    """
    assert f.execute(code) == (3, 2, [1, 2], [3])


def test_special_numbers_survive_text(f: bridge.Lua) -> None:
    code = """
        f:writeDouble(torch.DoubleStorage{1/0, -1/0, 0/0, 5e-324, -0.0}) f:seek(1)
        local s = f:readDouble(5)
        return s[1], s[2], s[3] ~= s[3], s[4], 1 / s[5]
    """
    assert f.execute(code) == (float("inf"), float("-inf"), True, 5e-324, float("-inf"))


@pytest.mark.parametrize(
    ("kind", "bits"), [("Double", "255, 255, 255, 255"), ("Float", ""), ("Double", "0, 0, 250, 255")]
)
def test_any_nan_of_a_file_is_a_number(f: bridge.Lua, kind: str, bits: str) -> None:
    code = f"""
        f:binary() f:writeByte(torch.ByteStorage{{0, 0, 208, 255, {bits}}}) f:seek(1)
        local x = f:read{kind}()
        return type(x), x ~= x
    """
    assert f.execute(code) == ("number", True)


def test_numbers_have_a_point_in_every_locale(f: bridge.Lua) -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", before):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
        except locale.Error:
            continue
        try:
            assert f.execute("f:seek(1) f:writeDouble(1.5) f:seek(1) return f:readDouble()") == 1.5
            assert f.execute("f:seek(1) return f:readString('*l')") == "1.5"
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)


@pytest.mark.parametrize(("spacing", "text"), [("autoSpacing", "1 2\n3\n"), ("noAutoSpacing", "123")])
def test_spacing_of_text(f: bridge.Lua, spacing: str, text: str) -> None:
    code = f"f:{spacing}() f:writeInt(torch.IntStorage{{1, 2}}) f:writeInt(3) f:seek(1) return f:readString('*a')"
    assert f.execute(code) == text


def test_text_with_the_line_ends_of_windows_is_read(lua: bridge.Lua) -> None:
    lua.blob = "2\r\n3\r\nabc\r\n"
    assert lua.execute("return torch.deserialize(blob, 'ascii')") == "abc"


@pytest.mark.parametrize(("size", "bytes_"), [(4, 4), (8, 8), (0, 8)])
def test_longs_take_the_bytes_asked_for(f: bridge.Lua, size: int, bytes_: int) -> None:
    code = (
        "f:binary():longSize(...) f:writeLong(-7) local n = f:position() - 1 f:seek(1) return n, f:readLong()"
    )
    assert f.execute(code, size) == (bytes_, -7)


def test_byte_order(lua: bridge.Lua, tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    lua.execute(
        "local f = torch.DiskFile(..., 'w'):binary():bigEndianEncoding() f:writeInt(1) f:writeByte(2) f:close()",
        path,
    )
    assert (tmp_path / "f").read_bytes() == b"\0\0\0\1\2"
    assert lua.execute("return torch.DiskFile(...):binary():bigEndianEncoding():readInt()", path) == 1
    assert lua.execute("return torch.DiskFile(...):binary():littleEndianEncoding():readInt()", path) == 2**24
    assert lua.eval("torch.DiskFile.isLittleEndianCPU() ~= torch.DiskFile.isBigEndianCPU()") is True


# ---- strings


def test_lines_and_the_rest(f: bridge.Lua) -> None:
    code = """
        f:writeString('one\\n\\nthree\\nfour\\0five') f:seek(1)
        return f:readString('*l'), f:readString('*l'), f:readString('*l'), f:readString('*a')
    """
    assert f.execute(code) == ("one", "", "three", "four\0five")


def test_the_last_line_needs_no_end(f: bridge.Lua) -> None:
    assert f.execute("f:writeString('x') f:seek(1) return f:readString('*l')") == "x"


@pytest.mark.parametrize("format_", ["*l", "*a"])
def test_nothing_is_left_to_read(f: bridge.Lua, format_: str) -> None:
    with pytest.raises(bridge.LuaError, match="read error: read 0 blocks instead of 1"):
        f.execute("f:readString(...)", format_)


def test_another_format_of_strings_is_refused(f: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"format must be '\*a' or '\*l'"):
        f.execute("f:readString('*n')")


def test_a_line_longer_than_any_buffer(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a" * 300_000 + b"\nb")
    code = "local f = torch.DiskFile(...) local l = f:readString('*l') return #l, f:readString('*l')"
    assert lua.execute(code, str(tmp_path / "f")) == (300_000, "b")


# ---- place


def test_position_and_seek(f: bridge.Lua) -> None:
    code = """
        f:binary() f:writeInt(torch.IntStorage{1, 2, 3})
        local last = f:position()
        f:seek(5)
        local two, at = f:readInt(), f:position()
        return last, two, at, f:seekEnd():position()
    """
    assert f.execute(code) == (13, 2, 9, 13)


@pytest.mark.parametrize(
    ("place", "message"), [(0, "position has to be greater than 0"), (9, "unable to seek at position 8")]
)
def test_a_place_that_does_not_exist(f: bridge.Lua, place: int, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        f.execute("f:seek(...)", place)


def test_reading_and_writing_one_file_in_turns(lua: bridge.Lua, tmp_path: Path) -> None:
    code = """
        local f = torch.DiskFile(..., 'rw'):binary()
        f:writeInt(torch.IntStorage(1000):fill(1))
        f:seek(5) f:writeInt(2)
        local third = f:readInt()
        f:seek(5)
        local second = f:readInt()
        f:writeInt(3) f:seek(9)
        local now = f:readInt()
        f:seekEnd() f:writeInt(4) f:seek(4001)
        return third, second, now, f:readInt(), f:position(), f:close() and 0
    """
    assert lua.execute(code, str(tmp_path / "f")) == (1, 2, 3, 4, 4005, 0)
    assert (tmp_path / "f").stat().st_size == 4004


def test_what_is_synchronized_is_on_disk(lua: bridge.Lua, tmp_path: Path) -> None:
    lua.execute("f = torch.DiskFile(..., 'w') f:writeInt(1) f:synchronize()", str(tmp_path / "f"))
    assert (tmp_path / "f").read_bytes() == b"1\n"
    lua.execute("f:noBuffer() f:writeInt(2)")
    assert (tmp_path / "f").read_bytes() == b"1\n2\n"
    lua.execute("f:close()")


# ---- options, modes, states


def test_options_and_questions(f: bridge.Lua) -> None:
    code = """
        local a = {f:isBinary(), f:isAutoSpacing(), f:isQuiet(), f:isReferenced(), f:isReadable(), f:isWritable()}
        f:binary():noAutoSpacing():quiet():referenced(false)
        return a, {f:isBinary(), f:isAutoSpacing(), f:isQuiet(), f:isReferenced(), f:hasError()}
    """
    assert f.execute(code) == ([False, True, False, True, True, True], [True, False, True, False, False])


def test_a_quiet_file_counts_and_remembers_its_errors(f: bridge.Lua) -> None:
    code = """
        f:binary():quiet() f:writeInt(1) f:seek(1)
        local s = f:readInt(3)
        local failed, size, zero = f:hasError(), s:size(), f:readInt()
        f:clearError()
        return failed, size, zero, f:hasError(), f:readObject(), f:hasError()
    """
    assert f.execute(code) == (True, 1, 0, False, None, True)


def test_a_pedantic_file_raises(f: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="read error: read 1 blocks instead of 3"):
        f.execute("f:binary() f:writeInt(1) f:seek(1) f:readInt(torch.IntStorage(3))")


WRONG: list[tuple[str, str]] = [
    ("torch.DiskFile('/nonexistent', 'r')", r"cannot open </nonexistent> in mode r "),
    ("torch.DiskFile('/nonexistent/x', 'w')", r"cannot open </nonexistent/x> in mode  w"),
    ("torch.DiskFile('/tmp', 'r')", r"cannot open </tmp> in mode r "),
    ("torch.DiskFile('/tmp/x', 'a')", "file mode should be 'r','w' or 'rw'"),
    ("torch.DiskFile(nil)", "string expected, got nil"),
    ("torch.DiskFile('a\\0b')", "cannot open"),
    ("torch.PipeFile('true', 'rw')", "file mode should be 'r','w'"),
    ("torch.MemoryFile('x')", "file mode should be 'r','w' or 'rw'"),
    ("torch.MemoryFile(torch.CharStorage{1, 2})", "provided CharStorage must be terminated by 0"),
    ("torch.MemoryFile('r'):writeInt(1)", "attempt to write in a read-only file"),
    ("torch.MemoryFile('w'):readInt()", "attempt to read in a write-only file"),
    ("torch.MemoryFile():close():readInt()", "attempt to use a closed file"),
    ("torch.MemoryFile():close():close()", "attempt to use a closed file"),
    ("torch.MemoryFile():longSize(3)", "Invalid long size specified"),
    ("torch.MemoryFile():writeInt('x')", "number, or IntStorage expected"),
    ("torch.MemoryFile():writeInt(torch.LongStorage(1))", "number, or IntStorage expected"),
    ("torch.MemoryFile():readInt({})", "nothing, number, or IntStorage expected"),
    ("torch.MemoryFile.readInt({})", r"torch.File expected, got boolean\): it is a table"),
    ("torch.MemoryFile.readInt(torch.Tensor())", "torch.File expected, got torch.DoubleTensor"),
    ("torch.File()", "no constructor available"),
]


@pytest.mark.parametrize(("expression", "message"), WRONG)
def test_what_is_wrong_is_said(lua: bridge.Lua, expression: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        lua.execute(expression)


def test_whatever_is_true_is_a_true_boolean(lua: bridge.Lua) -> None:
    lua.execute("f = torch.MemoryFile() f:writeBool(1) f:writeBool(nil) f:seek(1)")
    assert lua.execute("return f:readBool(), f:readBool()") == (True, False)


def test_a_file_that_cannot_be_opened_is_nil_when_asked_quietly(lua: bridge.Lua) -> None:
    assert lua.eval("torch.DiskFile('/nonexistent', 'r', true)") is None


def test_files_are_userdata_of_their_classes(f: bridge.Lua) -> None:
    assert f.eval("type(f), torch.type(f), torch.isTypeOf(f, 'torch.File')") == (
        "userdata",
        "torch.MemoryFile",
        True,
    )


def test_files_print_what_they_are(lua: bridge.Lua) -> None:
    code = "local f = torch.DiskFile('/dev/null', 'rw') local open = tostring(f) f:close() return open, tostring(f)"
    assert lua.execute(code) == (
        "torch.DiskFile on </dev/null> [status: open -- mode rw]",
        "torch.DiskFile on </dev/null> [status: closed -- mode rw]",
    )
    assert lua.eval("tostring(torch.MemoryFile('r'))") == "torch.MemoryFile [status: open -- mode: r ]"
    assert lua.eval("tostring(torch.MemoryFile())") == "torch.MemoryFile [status: open -- mode: rw]"
    assert (
        lua.eval("tostring(torch.PipeFile('true'))") == "torch.PipeFile on <true> [status: open -- mode: r ]"
    )


def test_a_forgotten_file_is_written(lua: bridge.Lua, tmp_path: Path) -> None:
    lua.execute("torch.DiskFile(..., 'w'):writeInt(5)", str(tmp_path / "f"))
    lua.collect()
    lua.collect()
    assert (tmp_path / "f").read_bytes() == b"5\n"


# ---- names


NAMES = """ascii autoSpacing binary clearError close hasError isAutoSpacing isBinary isQuiet isReadable isReferenced
isWritable isWritableObject noAutoSpacing pedantic position quiet readBool readByte readChar readDouble readFloat
readInt readLong readObject readShort readString referenced seek seekEnd synchronize writeBool writeByte writeChar
writeDouble writeFloat writeInt writeLong writeObject writeShort writeString"""


def test_every_method_of_torch7_is_there(lua: bridge.Lua) -> None:
    code = "local kind, name = ... return torch.getmetatable('torch.' .. kind)[name] ~= nil"
    names = {
        "File": NAMES,
        "DiskFile": NAMES + " longSize noBuffer nativeEndianEncoding littleEndianEncoding bigEndianEncoding "
        "isBigEndianCPU isLittleEndianCPU new __tostring__",
        "MemoryFile": NAMES + " longSize storage new __tostring__",
        "PipeFile": NAMES + " longSize noBuffer new __tostring__",
    }
    missing = [
        f"{kind}.{name}"
        for kind, text in names.items()
        for name in text.split()
        if not lua.execute(code, kind, name)
    ]
    assert missing == []
