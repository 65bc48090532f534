"""torch.load and torch.save in the forms of other machines, and models from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import bridge

DATA = Path(__file__).parents[1] / "data" / "torch7"
FILES = DATA / "files"


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
