"""Random numbers: the same streams as Torch7's, bit for bit, and what the calls accept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import bridge

DATA = Path(__file__).parents[1] / "data" / "torch7"
STREAMS: dict[str, Any] = json.loads((DATA / "rng_1234.json").read_text())

HELPERS = """
function numbers(t)
   if type(t) == 'number' then return {t} end
   local list, flat = {}, t:contiguous():view(t:nElement())
   for i = 1, t:nElement() do list[i] = flat[i] end
   return list
end
function times(n, f) local list = {} for i = 1, n do list[i] = f() end return list end
function joined(a, b) for _, x in ipairs(b) do a[#a + 1] = x end return a end
function restore(f, ...) local s = torch.getRNGState() f(...) torch.setRNGState(s) end
other = torch.Generator()
tables = torch.multinomialAliasSetup(torch.Tensor{.1, .2, .3, .4})
torch.manualSeed(1234)
"""

# Entries of the stream file by the form of their name, and the code that draws them.
FORMS: list[tuple[str, str]] = [
    (r"(\w+\(.*\))x20", "times(20, function() return torch.{0} end)"),
    (r"seed (\d+) random\(\)x5", "(function() torch.manualSeed({0}) return times(5, torch.random) end)()"),
    (
        r"(\w+) (torch\.\w+\(\d+\))",
        "(function() torch.setdefaulttensortype('torch.{0}Tensor') return numbers({1}) end)()",
    ),
    (
        r"(\w+) (torch\.\w+\(\d+\)) then (.*)",
        "(function() torch.setdefaulttensortype('torch.{0}Tensor') return joined(numbers({1}), numbers({2})) end)()",
    ),
    (
        r"(\w+) T\((\d+)\):(\w+)\((.*)\) after one torch.normal\(\)",
        "(function() torch.normal() return numbers(torch.{0}Tensor({1}):{2}({3})) end)()",
    ),
    (
        r"(\w+) T\((\d+)\):bernoulli\(p=linspace\(0,1,20\)\)",
        "numbers(torch.{0}Tensor({1}):bernoulli(torch.linspace(0, 1, 20):type('torch.{0}Tensor')))",
    ),
    (r"(\w+) T\((\d+)\):(\w+)\((.*)\)", "numbers(torch.{0}Tensor({1}):{2}({3}))"),
    (r"(\w+) multinomial\((.*\}}),(.*)\)", "numbers(torch.multinomial(torch.{0}Tensor({1}), {2}))"),
    (r"rngstate type", "torch.getRNGState():type()"),
    (r"rngstate size", "torch.getRNGState():nElement()"),
    (
        r"rngstate first 40 bytes",
        "(function() torch.rand(1000) return numbers(torch.getRNGState():narrow(1, 1, 40)) end)()",
    ),
    (r"after rand\(1000\), rand\(5\)", "(function() torch.rand(1000) return numbers(torch.rand(5)) end)()"),
    (
        r"restored rand\(5\)",
        "(function() torch.rand(1000) restore(torch.rand, 7) return numbers(torch.rand(5)) end)()",
    ),
    (
        r"Generator seed (\d+) random\(g\)x5",
        "(function() torch.manualSeed(other, {0}) return times(5, function() return torch.random(other) end) end)()",
    ),
    (r"initialSeed after manualSeed\(1234\)", "torch.initialSeed()"),
    (
        r"manualSeed\(1234\),(\w+\(\d+\)),random\(\)",
        "(function() torch.{0} return torch.random() end)()",
    ),
    (
        r"alias multinomial",
        "numbers(torch.multinomialAlias(torch.LongTensor(20), tables))",
    ),
]


def code_of(name: str) -> str:
    for pattern, code in FORMS:
        match = re.fullmatch(pattern.replace("}}", "}"), name)
        if match:
            return code.format(*match.groups())
    raise AssertionError(f"no code for the stream {name!r}")


@pytest.fixture
def seeded(lua: bridge.Lua) -> bridge.Lua:
    lua.execute(HELPERS)
    return lua


@pytest.mark.parametrize("name", STREAMS)
def test_streams_are_those_of_torch7(seeded: bridge.Lua, name: str) -> None:
    assert seeded.eval(code_of(name)) == STREAMS[name]


def test_a_state_saved_between_two_normals_keeps_the_second(lua: bridge.Lua) -> None:
    code = """
    torch.manualSeed(1) torch.normal()
    local s = torch.getRNGState()
    local a = torch.normal()
    torch.setRNGState(s)
    return a == torch.normal()
    """
    assert lua.execute(code)


def test_a_generator_has_a_stream_of_its_own(lua: bridge.Lua) -> None:
    code = """
    local g = torch.Generator()
    torch.manualSeed(5) torch.manualSeed(g, 5)
    torch.rand(10)
    local t = torch.Tensor(3):uniform(g, 0, 1)
    torch.manualSeed(5)
    return t:equal(torch.rand(3))
    """
    assert lua.execute(code)


def test_states_do_not_share_a_stream() -> None:
    with bridge.Lua() as one, bridge.Lua() as other:
        for lua in (one, other):
            lua.execute("require 'torch' torch.manualSeed(3)")
        one.execute("torch.rand(100)")
        assert other.eval("torch.random()") == 2365658986


def test_an_unseeded_state_starts_anywhere() -> None:
    with bridge.Lua() as one, bridge.Lua() as other:
        first, second = (lua.execute("require 'torch' return torch.random()") for lua in (one, other))
        assert first != second


def test_seed_gives_a_seed_that_repeats_the_stream(lua: bridge.Lua) -> None:
    code = "local s = torch.seed() local a = torch.random() torch.manualSeed(s) return a == torch.random()"
    assert lua.execute(code)


def test_python_and_its_generator_are_left_alone(lua: bridge.Lua) -> None:
    import torch

    state = torch.get_rng_state()
    lua.execute("torch.manualSeed(1) torch.randn(100)")
    assert torch.equal(state, torch.get_rng_state())


def test_views_are_filled_in_their_own_order(lua: bridge.Lua) -> None:
    code = """
    torch.manualSeed(9)
    local x = torch.zeros(4, 6)
    local y = x:t():narrow(1, 2, 3)
    y:normal()
    torch.manualSeed(9)
    return y:contiguous():view(12):equal(torch.randn(12)), x:ne(0):sum()
    """
    assert lua.execute(code) == (True, 12)


def test_randn_resizes_a_given_tensor(lua: bridge.Lua) -> None:
    assert lua.execute("local t = torch.FloatTensor() return torch.randn(t, 2, 3) == t, t:size(2)") == (
        True,
        3,
    )


def test_sizes_may_be_a_storage(lua: bridge.Lua) -> None:
    assert lua.execute("return torch.rand(torch.LongStorage{2, 3}):nElement()") == 6


def test_a_fill_returns_its_tensor(lua: bridge.Lua) -> None:
    assert lua.execute("local t = torch.IntTensor(3) return t:random(5) == t and t:bernoulli() == t")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "torch.multinomial(torch.Tensor{0,0},1)",
            "invalid multinomial distribution (sum of probabilities <= 0)",
        ),
        (
            "torch.multinomial(torch.Tensor{1,2},3,false)",
            "cannot sample n_sample > prob_dist:size(1) samples without replacement",
        ),
        ("torch.bernoulli(2)", "bad argument #1 to '?' (must be >= 0 and <= 1)"),
        ("torch.geometric(1)", "must be > 0 and < 1"),
        ("torch.normal(0, 0)", "standard deviation must be strictly positive"),
        ("torch.random(5,1)", "bad argument #2 to '?' (upper bound must be larger than lower bound)"),
        ("torch.randperm(0)", "bad argument #1 to '?' (must be strictly positive)"),
        ("torch.exponential()", "invalid arguments: no arguments provided"),
        ("torch.rand()", "invalid arguments: no arguments provided"),
        ("torch.uniform('x')", "invalid arguments: string"),
        ("torch.LongTensor(3):uniform()", "attempt to call method 'uniform' (a nil value)"),
        ("torch.manualSeed()", "invalid arguments: no arguments provided"),
        ("torch.setRNGState(torch.ByteTensor(10))", "RNG state is wrong size"),
        ("torch.setRNGState(torch.ByteTensor(5048):zero())", "Invalid RNG state"),
        ("torch.multinomial()", "invalid arguments: no arguments provided"),
    ],
)
def test_bad_arguments_are_named(lua: bridge.Lua, expression: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.eval(expression)
    assert message in raised.value.message


@pytest.mark.parametrize(("left", "next_"), [(0, 0), (625, 0), (624, 2), (1, 625), (2, 624), (-1, 0)])
def test_a_state_that_points_outside_itself_is_refused(lua: bridge.Lua, left: int, next_: int) -> None:
    code = """
    local state, left, next = torch.getRNGState(), ...
    local words = require('ffi').cast('int32_t*', state:data())
    words[2], words[4] = left, next
    torch.setRNGState(state)
    """
    with pytest.raises(bridge.LuaError, match="Invalid RNG state"):
        lua.execute(code, left, next_)


def test_a_refused_state_changes_nothing(lua: bridge.Lua) -> None:
    code = """
    torch.manualSeed(4)
    pcall(torch.setRNGState, torch.ByteTensor(5048):zero())
    local a = torch.random()
    torch.manualSeed(4)
    return a == torch.random()
    """
    assert lua.execute(code)


def test_multinomial_accepts_negative_weights(lua: bridge.Lua) -> None:
    assert lua.eval("torch.multinomial(torch.Tensor{-1,2},1)[1]") == 2
