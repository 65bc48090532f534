"""The runtime's own functions and packages in files: they come back as what they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bridge

OWN = [
    "torch.add",
    "torch.tanh",
    "torch.load",
    "torch.FloatTensor.narrow",
    "torch.getmetatable('torch.DoubleTensor').new",
    "nn.Module.forward",
    "nn.Linear.updateOutput",
    "nn.utils.recursiveCopy",
    "optim.adam",
    "optim.sgd",
    "image.scale",
    "xlua.progress",
    "paths.concat",
    "sys.clock",
    "require('pl.tablex').deepcopy",
    "require('cjson').encode",
    "graph.dot",
]

# What functions may have as upvalues besides.
TABLES = [
    "torch",
    "nn",
    "optim",
    "image",
    "require 'threads'",
    "require 'tds'",
    "require 'pl.tablex'",
    "nn.Linear",
    "nn.utils",
    "torch.getmetatable('nn.Module')",
    "torch.FloatTensor",
]


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua(allow_functions=True) as state:
        state.execute("require 'nngraph' require 'optim' require 'image' require 'xlua' require 'cjson'")
        state.execute("function again(x, mode) return torch.deserialize(torch.serialize(x, mode), mode) end")
        yield state


@pytest.mark.parametrize("mode", ["binary", "ascii"])
@pytest.mark.parametrize("what", OWN)
def test_a_function_of_ours_comes_back_as_itself(lua: bridge.Lua, what: str, mode: str) -> None:
    assert lua.execute(f"local f = {what} return f ~= nil and again({{f = f}}, ...).f == f", mode) is True


@pytest.mark.parametrize("what", OWN + TABLES)
def test_an_upvalue_of_ours_comes_back_as_itself(lua: bridge.Lua, what: str) -> None:
    code = f"local own, n = {what}, 3 return rawequal(again(function() return own, n end)(), own)"
    assert lua.execute(code) is True


def test_upvalues_of_the_program_come_back_beside_them(lua: bridge.Lua) -> None:
    code = """
    local optim, list, no = require 'optim', {1, 2}, false
    local config = {method = optim.adam, steps = 2}
    local f = again(function() return config.method == optim.adam, config.steps, list[2], no end)
    return f()
    """
    assert lua.execute(code) == (True, 2, 2, False)


def test_a_field_of_a_module_may_be_a_function_of_ours(lua: bridge.Lua) -> None:
    assert lua.execute("local m = nn.Identity() m.f = torch.tanh return again(m).f == torch.tanh") is True


def test_a_function_that_a_program_has_put_in_its_place_is_the_programs(lua: bridge.Lua) -> None:
    code = """
    local kept = optim.rprop
    optim.rprop = function() return 'mine' end
    local f = again(optim.rprop)
    local different = f ~= optim.rprop
    optim.rprop = kept
    return different, f()
    """
    assert lua.execute(code) == (True, "mine")


@pytest.mark.parametrize("what", ["print", "table.insert", "io.stdout", "coroutine.create(print)"])
def test_what_the_original_cannot_write_is_refused(lua: bridge.Lua, what: str) -> None:
    with pytest.raises(bridge.LuaError, match="Unwritable object <"):
        lua.execute(f"local x = {what} torch.serialize(function() return x end)")


def test_a_package_is_loaded_for_it(lua: bridge.Lua) -> None:
    text = lua.execute(
        "local o, adam, L = optim, optim.adam, nn.Linear return torch.serialize(function() return o, adam, L end)"
    )
    with bridge.Lua(allow_functions=True) as other:
        other.require("torch")
        code = """
        local o, adam, L = torch.deserialize(...)()
        return o == require 'optim', adam == o.adam, torch.type(L(1, 2))
        """
        assert other.execute(code, text) == (True, True, "nn.Linear")


def test_threads_have_their_own(lua: bridge.Lua) -> None:
    code = """
    local optim, sum = require 'optim', torch.sum
    local pool = require('threads').Threads(1)
    local result
    pool:addjob(function()
       return optim == require 'optim' and sum == require 'torch'.sum, sum(torch.ones(3))
    end, function(...) result = {...} end)
    pool:terminate()
    return result
    """
    assert lua.execute(code) == [True, 3]


def test_without_permission_they_are_stand_ins_that_can_be_written_again(lua: bridge.Lua) -> None:
    text = lua.execute("local o = optim return torch.serialize{f = optim.adam, g = function() return o end}")
    with bridge.Lua() as strict:
        strict.require("torch")
        with pytest.raises(bridge.LuaError, match="stored in a file was called"):
            strict.execute("torch.deserialize(...).f()", text)
        written = strict.execute("return torch.serialize(torch.deserialize(...))", text)
    code = "local read = torch.deserialize(...) return read.f == optim.adam, read.g() == optim"
    assert lua.execute(code, written) == (True, True)


def test_the_code_in_the_file_calls_the_function_in_any_torch7(lua: bridge.Lua) -> None:
    code = "local f = load(require('torch.references').code('module:paths:concat')) return f('/a', 'b')"
    assert lua.execute(code) == "/a/b"


@pytest.mark.parametrize(
    "name", ["module:os", "module:os:execute", "module:_G", "class:none", "module:torch:none", "x"]
)
def test_other_names_stand_for_nothing(lua: bridge.Lua, name: str) -> None:
    assert lua.execute("return require('torch.references').find(...)", name) is None


def test_a_file_cannot_change_the_upvalues_of_ours(lua: bridge.Lua) -> None:
    code = """
    local functions = require 'torch.functions'
    local upvalue = debug.getupvalue(optim.adam, 1)
    local _, before = debug.getupvalue(optim.adam, 1)
    functions.setupvalues(optim.adam, {{name = upvalue, id = 1, value = 'changed'}}, false, {})
    local _, after = debug.getupvalue(optim.adam, 1)
    return upvalue ~= nil and rawequal(before, after)
    """
    assert lua.execute(code) is True
