"""hdf5: what h5py wrote is read, and what is written h5py reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest

import bridge
from tests.elements import NUMERIC

TYPES = {dtype.name: name for name, dtype in NUMERIC.items()}


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("hdf5")
        yield state


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "data.h5"
    with h5py.File(path, "w") as f:
        f["x"] = np.arange(24, dtype="float32").reshape(2, 3, 4)
        f["deep/er/y"] = np.arange(3)
        f["words"] = ["a", "b"]
    return str(path)


@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_keep_their_type(lua: bridge.Lua, tmp_path: Path, dtype: str) -> None:
    path = str(tmp_path / "data.h5")
    x = np.arange(6, dtype=dtype).reshape(2, 3)
    code = """
    local path, x = ...
    local f = hdf5.open(path, 'w')
    f:write('/group/x', x)
    f:close()
    f = hdf5.open(path, 'r')
    local read = f:read('/group/x'):all()
    f:close()
    return torch.type(read), read
    """
    kind, read = lua.execute(code, path, x)
    assert kind == f"torch.{TYPES[dtype]}Tensor"
    np.testing.assert_array_equal(read, x)
    with h5py.File(path) as f:
        assert f["group/x"].dtype == dtype
        np.testing.assert_array_equal(f["group/x"][:], x)


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [(">f8", "Double"), ("uint16", "Int"), ("uint32", "Long"), ("uint64", "Long"), ("bool", "Byte")],
)
def test_other_numbers_get_a_type_that_holds_them(
    lua: bridge.Lua, tmp_path: Path, dtype: str, kind: str
) -> None:
    path = tmp_path / "data.h5"
    with h5py.File(path, "w") as f:
        f["x"] = np.array([0, 1, 1], dtype=dtype)
    code = "local f = hdf5.open(...) local x = f:read('x'):all() f:close() return torch.type(x), x:totable()"
    assert lua.execute(code, str(path)) == (f"torch.{kind}Tensor", [0, 1, 1])


def test_a_part_keeps_all_dimensions(lua: bridge.Lua, file: str) -> None:
    code = """
    local f = hdf5.open(..., 'r')
    local part = f:read('/x'):partial({2, 2}, {1, 3}, {2, 3})
    local one = f:read('x'):partial(1, 2, {1, 4})
    local size = f:read('/x'):dataspaceSize()
    f:close()
    return part, one, size
    """
    part, one, size = lua.execute(code, file)
    x = np.arange(24, dtype="float32").reshape(2, 3, 4)
    np.testing.assert_array_equal(part, x[1:, :, 1:3])
    np.testing.assert_array_equal(one, x[:1, 1:2])
    assert size == [2, 3, 4]


def test_tables_become_groups_and_come_back(lua: bridge.Lua, tmp_path: Path) -> None:
    code = """
    local path = ...
    local f = hdf5.open(path, 'w')
    f:write('/', {a = torch.ones(2), b = {c = torch.zeros(1, 2):t()}})
    f:write('b/d', torch.IntTensor{7})
    f:close()
    f = hdf5.open(path)
    local all = f:all()
    f:close()
    return all
    """
    all_ = lua.execute(code, str(tmp_path / "data.h5"))
    assert (all_["a"].tolist(), all_["b"]["c"].tolist(), all_["b"]["d"].tolist()) == ([1, 1], [[0], [0]], [7])


def test_a_part_can_be_written(lua: bridge.Lua, file: str) -> None:
    code = """
    local f = hdf5.open(..., 'r+')
    f:read('x'):write(torch.FloatTensor(1, 2, 2):fill(-1), 2, 2, 3)
    f:close()
    """
    lua.execute(code, file)
    expected = np.arange(24, dtype="float32").reshape(2, 3, 4)
    expected[1:, 1:, 2:] = -1
    with h5py.File(file) as f:
        np.testing.assert_array_equal(f["x"][:], expected)


def test_options_say_how_it_is_stored(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "data.h5"
    code = """
    local f = hdf5.open(..., 'w')
    local options = hdf5.DataSetOptions():setChunked(2, 100):setDeflate(3)
    f:write('x', torch.rand(8, 4), options)
    f:close()
    return tostring(options)
    """
    assert lua.execute(code, str(path)) == "[DataSetOptions: chunking=2x100 deflate=3]"
    with h5py.File(path) as f:
        assert (f["x"].chunks, f["x"].compression, f["x"].compression_opts) == ((2, 4), "gzip", 3)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("hdf5.open('/nowhere/x.h5', 'r')", "hdf5: there is no file '/nowhere/x.h5'"),
        ("hdf5.open('/nowhere/x.h5', 'w')", "there is no directory '/nowhere'"),
        ("hdf5.open(file, 'rw')", "Unknown mode 'rw'"),
        ("hdf5.open()", "expected the name of a file, got nil"),
        ("f:read('/deep/x')", "no such child 'x' for [HDF5Group of 1 object]"),
        ("f:read('/x/y')", "no such child 'y' for [HDF5DataSet 2x3x4]"),
        ("f:read('x'):partial({1, 2})", "dimension mismatch: the dataset has 3, 1 ranges were given"),
        ("f:read('x'):partial({1, 2}, {0, 1}, {1, 1})", "dimension 2 has 3 elements, asked for 0 to 1"),
        ("f:read('x'):partial({1, 2}, {1, 1}, {4, 5})", "dimension 3 has 4 elements, asked for 4 to 5"),
        ("f:read('x'):partial({1, 2}, 'a', {4, 5})", "range 2 must be a number or {first, last}"),
        ("f:read('words'):all()", "which no tensor can hold"),
        ("f:write('new', torch.ones(2))", "hdf5:"),
        ("f:write('new', 'text')", "writing data of type string is not supported"),
        ("f:write('/', torch.ones(2))", "must provide a table when writing to the root"),
        ("f:close() f:read('x')", "is closed"),
        ("hdf5.DataSetOptions():setDeflate(10)", "from 0 to 9, got 10"),
    ],
)
def test_what_cannot_be_is_told(lua: bridge.Lua, file: str, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(f"file = ... f = hdf5.open(file, 'r') {code}", file)
    assert message in raised.value.message


def test_a_file_of_another_kind_is_refused(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "text.h5"
    path.write_text("not this")
    with pytest.raises(bridge.LuaError, match="cannot open"):
        lua.execute("hdf5.open(..., 'r')", str(path))


def test_what_exists_is_not_overwritten(lua: bridge.Lua, file: str) -> None:
    with pytest.raises(bridge.LuaError, match="hdf5: "):
        lua.execute("local f = hdf5.open(..., 'r+') f:write('x', torch.ones(2))", file)


def test_without_h5py_require_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.companions.hdf5.find_spec", lambda name: None)
    with bridge.Lua() as state, pytest.raises(bridge.LuaError) as raised:
        state.require("hdf5")
    assert "hdf5: files are read by the Python package h5py, which is missing" in raised.value.message
    assert "pip install 'moontide[hdf5]'" in raised.value.message
