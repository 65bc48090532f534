"""Programs name their globals as they like: our own files keep the standard functions and their packages."""

from __future__ import annotations

import pytest

import bridge

STANDARD = [
    "_G",
    "_VERSION",
    "assert",
    "bit",
    "bit32",
    "collectgarbage",
    "coroutine",
    "debug",
    "dofile",
    "error",
    "gcinfo",
    "getfenv",
    "getmetatable",
    "io",
    "ipairs",
    "jit",
    "load",
    "loadfile",
    "loadstring",
    "math",
    "module",
    "newproxy",
    "next",
    "os",
    "package",
    "pairs",
    "pcall",
    "rawequal",
    "rawget",
    "rawlen",
    "rawset",
    "select",
    "setfenv",
    "setmetatable",
    "string",
    "table",
    "tonumber",
    "tostring",
    "type",
    "unpack",
    "xpcall",
]

# What a program does after it has read its options, written without a single global of Lua's.
PROGRAM = """
local require, tostring = require, tostring
require 'torch' require 'nn' require 'nngraph' require 'optim' require 'image'
local tds = require 'tds'
overwrite()
require 'xlua' require 'rnn' require 'cudnn' require 'pl.pretty'
torch.manualSeed(1)
local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Tanh()):add(nn.BatchNormalization(3))
local read = torch.deserialize(torch.serialize(net:clone():float():double()))
local input = nn.Identity()()
local graph = nn.gModule({input}, {nn.Linear(3, 2)(read(input))})
local x, dx = graph:getParameters()
local data = torch.range(1, 8):resize(4, 2)
optim.adam(function()
   graph:backward(data, graph:forward(data))
   return 0, dx
end, x, {})
data[{{1, 2}}]:copy(data:sort(1, true):narrow(1, 1, 2))
return tostring(net), tostring(data), tostring(image.scale(data, 1, 1)), tostring(tds.Hash{1})
"""


@pytest.mark.parametrize("value", ["'cuda'", "false", "{}", "function() error('the program\\'s own') end"])
def test_a_program_may_overwrite_every_standard_global(lua: bridge.Lua, value: str) -> None:
    with bridge.Lua() as untouched:
        untouched.execute("function overwrite() end")
        expected = untouched.execute(PROGRAM)
    names = "".join(f"{name} = value " for name in STANDARD)
    lua.execute(f"function overwrite() local value = {value} {names} end")
    assert lua.execute(PROGRAM) == expected


def test_python_reads_a_state_whose_globals_were_overwritten(lua: bridge.Lua) -> None:
    lua.execute("".join(f"{name} = 1 " for name in STANDARD if name != "_G"))
    lua.execute("answer = {a = 42}")
    assert lua.eval("answer") == {"a": 42}
    assert lua.answer.a == 42
    assert "a" in dir(lua.answer)


@pytest.mark.parametrize(
    "name", ["torch", "nn", "optim", "image", "nngraph", "graph", "paths", "sys", "xlua"]
)
def test_what_packages_define_are_the_programs_globals(lua: bridge.Lua, name: str) -> None:
    assert lua.execute(f"require '{name}' return rawget(_G, '{name}') == package.loaded['{name}']") is True


def test_a_package_works_whose_global_was_overwritten(lua: bridge.Lua) -> None:
    code = """
    require 'image' require 'nn'
    local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.View(-1))
    local image, nn = image.scale(torch.ones(4, 4), 2, 2), nil
    _G.image, _G.nn, _G.torch = image, nn, 'torch'
    package.loaded.image.hflip(image)
    return net:clone():forward(image):size(1), image:sum()
    """
    assert lua.execute(code) == (4, 4)


def test_a_program_sees_its_own_value(lua: bridge.Lua) -> None:
    assert lua.execute("require 'torch' type = 'cuda' table = 3 return type, table") == ("cuda", 3)


def test_what_a_program_adds_to_a_standard_table_is_seen_by_packages(lua: bridge.Lua) -> None:
    code = """
    require 'torch'
    local calls = 0
    function math.ceil(x) calls = calls + 1 return x end
    return require('pl.types').is_integer(1.5), calls
    """
    assert lua.execute(code) == (True, 1)


def test_packages_print_through_the_programs_print(lua: bridge.Lua) -> None:
    code = """
    require 'nn'
    local said = {}
    function print(text) said[#said + 1] = text end
    nn.StochasticGradient(nn.Linear(1, 1), nn.MSECriterion())
       :train({{torch.ones(1), torch.ones(1)}, size = function() return 1 end})
    return said[1]
    """
    assert lua.execute(code) == "# StochasticGradient: training"


def test_a_class_that_a_program_replaces_is_the_one_that_packages_make(lua: bridge.Lua) -> None:
    code = """
    require 'nn'
    local made
    local native = nn.Sequential
    function nn.Sequential() made = true return native() end
    nn.Inception = nil
    require 'dpnn'
    nn.Inception{inputSize = 3, kernelSize = {3}, kernelStride = {1}, outputSize = {4}, reduceSize = {2, 2, 2, 2},
                 pool = nn.SpatialMaxPooling(3, 3, 1, 1, 1, 1), batchNorm = false}
    return made
    """
    assert lua.execute(code) is True


def test_a_program_that_reads_our_files_by_itself_gets_the_same_ones(lua: bridge.Lua) -> None:
    code = """
    require 'torch'
    local split = dofile(torch.packageLuaPath('sys') .. '/split.lua')
    string, table = nil, 'double'
    return split('a b')
    """
    assert lua.execute(code) == ["a", "b"]
