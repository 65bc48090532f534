"""torch.load of a file that is mapped: tensors that lie aligned in it are private maps."""

from __future__ import annotations

from pathlib import Path

import pytest

import bridge

FILES = Path(__file__).parents[1] / "data" / "torch7" / "files"
NAMES = [line.split("\t")[0] for line in (FILES / "MANIFEST.txt").read_text().splitlines()]
HELD = "tonumber(require('bridge.native').heap.held)"


@pytest.fixture
def path(lua: bridge.Lua, tmp_path: Path) -> str:
    """Save bytes, which lie aligned anywhere, and the name of the file."""
    lua.execute("torch.save(..., {torch.ByteTensor(2^19):fill(1), 'end'})", str(tmp_path / "bytes.t7"))
    return str(tmp_path / "bytes.t7")


@pytest.mark.parametrize(
    ("kind", "width"),
    [
        ("Byte", 1),
        ("Char", 1),
        ("Short", 2),
        ("Half", 2),
        ("Int", 4),
        ("Float", 4),
        ("Long", 8),
        ("Double", 8),
    ],
)
def test_what_lies_aligned_takes_no_memory(lua: bridge.Lua, tmp_path: Path, kind: str, width: int) -> None:
    """Strings of 8 lengths before the data make it begin at every place of 8 bytes."""
    code = f"""
        local path, maps = ..., 0
        local t = torch.range(1, 50000):type('torch.{kind}Tensor')
        for n = 1, 8 do
           torch.save(path, {{('x'):rep(n), t}})
           collectgarbage()
           local before = {HELD}
           local got = torch.load(path, 'binary', true, true)
           maps = maps + ({HELD} - before < 50000 and 1 or 0)
           assert(torch.serialize(got[2]) == torch.serialize(t))
        end
        return maps
    """
    assert lua.execute(code, str(tmp_path / "t.t7")) == 8 // width


def test_a_map_can_be_written_and_grow_and_the_file_stays(lua: bridge.Lua, path: str) -> None:
    before = Path(path).read_bytes()
    code = """
        local t = torch.load(..., nil, nil, true)[1]
        t:fill(3)
        local sum = t:sum()
        t:resize(2^20)
        return sum == 3 * 2^19 and t:narrow(1, 1, 2^19):eq(3):all()
    """
    assert lua.execute(code, path) is True
    assert Path(path).read_bytes() == before


def test_a_map_lives_as_long_as_its_tensors_and_arrays(lua: bridge.Lua, path: str) -> None:
    array = lua.execute("return torch.load(..., nil, nil, true)[1]", path)
    lua.execute("collectgarbage() collectgarbage()")
    Path(path).unlink()
    assert (array == 1).all()


@pytest.mark.parametrize("mode", ["ascii", "b32"])
def test_forms_that_memory_does_not_have_are_read(lua: bridge.Lua, tmp_path: Path, mode: str) -> None:
    code = f"""
        torch.save(..., torch.range(1, 1000):long(), '{mode}')
        return torch.load(..., '{mode}', true, true):sum()
    """
    assert lua.execute(code, str(tmp_path / "long.t7")) == 500500


@pytest.mark.parametrize("name", NAMES)
def test_every_file_can_be_asked_for_as_a_map(module: bridge.Lua, name: str) -> None:
    code = "return torch.serialize(torch.load(...)), torch.serialize(torch.load(..., nil, nil, true))"
    read, mapped = module.execute(code, str(FILES / f"{name}.t7"))
    assert len(read) == len(mapped)


def test_a_file_shorter_than_it_says_is_an_error_also_when_mapped(lua: bridge.Lua, path: str) -> None:
    Path(path).write_bytes(Path(path).read_bytes()[:-1000])
    with pytest.raises(bridge.LuaError, match="read error"):
        lua.execute("torch.load(..., nil, nil, true)", path)


def test_the_option_is_true_or_false(lua: bridge.Lua, path: str) -> None:
    with pytest.raises(bridge.LuaError, match="for mapped"):
        lua.execute("torch.load(..., nil, nil, 1)", path)
