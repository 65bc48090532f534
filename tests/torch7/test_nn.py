"""nn: what every module can do, what it says of bad input, how it prints, and that it needs no GIL."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

FACTS = Path(__file__).with_name("nn_facts.lua")
NET = """
torch.setdefaulttensortype('torch.DoubleTensor')
torch.manualSeed(1)
local net = nn.Sequential():add(nn.Linear(4,3)):add(nn.Tanh()):add(nn.Linear(3,2))
local x = torch.randn(5,4)
"""


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'nn'")
        lua.execute("facts = dofile(...)", str(FACTS))
        yield lua


@pytest.mark.parametrize("fact", re.findall(r"^facts\['(.*)'\]", FACTS.read_text(), re.MULTILINE))
def test_fact(nn: bridge.Lua, fact: str) -> None:
    assert nn.execute(f"{NET} return facts[...](net, x)", fact) is True


ERRORS: list[tuple[str, str]] = [
    ("nn.Linear(2,3):forward(torch.Tensor(3))", "size mismatch, [3 x 2], [3]"),
    ("nn.Linear(2,3):forward(torch.Tensor(2,2,2))", "input must be vector or matrix"),
    (
        "nn.ClassNLLCriterion():forward(torch.Tensor{-1,-2},3)",
        "Assertion `cur_target >= 0 && cur_target < n_classes'",
    ),
    ("nn.ClassNLLCriterion():forward(torch.randn(2,2),torch.Tensor{1})", "2 targets expected, got 1"),
    ("nn.LookupTable(3,2):forward(torch.Tensor{4})", "index out of range"),
    ("nn.View(4,2):forward(torch.randn(3,3))", "input view (3x3) and desired view (4x2) do not match"),
    ("nn.Dropout(1)", "illegal percentage"),
    ("nn.Tanh():backward(torch.randn(3), torch.randn(2))", ""),
    ("nn.SelectTable(3):forward{torch.randn(1)}", "index does not exist in the input table"),
    ("nn.Linear(2,2):cuda()", "there is no tensor type torch.CudaTensor (no GPU support is loaded"),
    ("nn.Sequential():insert(nn.Tanh(), 3)", "index should be contiguous to existing modules"),
]


@pytest.mark.parametrize(("expression", "message"), ERRORS)
def test_bad_input_is_told(nn: bridge.Lua, expression: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        nn.eval(expression)
    assert message in raised.value.message


def test_an_error_inside_a_network_says_where(nn: bridge.Lua) -> None:
    code = """
    local inner = nn.Sequential():add(nn.Tanh()):add(nn.Linear(3,2))
    nn.Sequential():add(nn.Linear(2,4)):add(inner):forward(torch.Tensor(2))
    """
    with pytest.raises(bridge.LuaError) as raised:
        nn.execute(code)
    message = raised.value.message
    assert "\nIn 2 module of nn.Sequential:\nIn 2 module of nn.Sequential:\n" in message
    assert "size mismatch, [2 x 3], [4]\nstack traceback:" in message
    assert message.count("stack traceback:") == 1
    assert message.endswith("Please use only the one above.")


def test_an_error_object_passes_through_a_network(nn: bridge.Lua) -> None:
    code = """
    local m = nn.Tanh()
    m.updateOutput = function() error{code = 5} end
    local ok, e = pcall(nn.Sequential().forward, nn.Sequential():add(m), torch.randn(2))
    return e.code
    """
    assert nn.execute(code) == 5


PRINTED: list[tuple[str, str]] = [
    (
        "nn.Sequential():add(nn.Linear(2,3)):add(nn.Sequential():add(nn.ReLU()):add(nn.Dropout(0.3)))",
        (
            "nn.Sequential {\n  [input -> (1) -> (2) -> output]\n  (1): nn.Linear(2 -> 3)\n  (2): nn.Sequential {\n"
            "    [input -> (1) -> (2) -> output]\n    (1): nn.ReLU\n    (2): nn.Dropout(0.300000)\n  }\n}"
        ),
    ),
    (
        "nn.Concat(2):add(nn.Linear(2,3)):add(nn.Identity())",
        "nn.Concat {\n  input\n    |`-> (1): nn.Linear(2 -> 3)\n     `-> (2): nn.Identity\n     ... -> output\n}",
    ),
    (
        "nn.ParallelTable():add(nn.Linear(2,3)):add(nn.ConcatTable():add(nn.Identity()))",
        (
            "nn.ParallelTable {\n  input\n    |`-> (1): nn.Linear(2 -> 3)\n     `-> (2): nn.ConcatTable {\n"
            "           input\n              `-> (1): nn.Identity\n              ... -> output\n         }\n"
            "     ... -> output\n}"
        ),
    ),
    ("nn.Linear(2,3,false)", "nn.Linear(2 -> 3) without bias"),
    ("nn.View(2,-1)", "nn.View(2, -1)"),
    ("nn.Reshape(2,3)", "nn.Reshape(2x3)"),
    ("nn.LookupTable(3,2)", "nn.LookupTable"),
]


@pytest.mark.parametrize(("expression", "text"), PRINTED)
def test_printed_text(nn: bridge.Lua, expression: str, text: str) -> None:
    assert nn.eval(f"tostring({expression})") == text


def test_a_forward_pass_is_not_stopped_by_a_busy_python_thread(nn: bridge.Lua) -> None:
    code = f"{NET} for i = 1, 2000 do net:forward(x) net:backward(x, net.output) end"
    nn.execute(code)
    started = time.perf_counter()
    nn.execute(code)
    alone = time.perf_counter() - started
    busy = True

    def spin() -> None:
        while busy:
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    started = time.perf_counter()
    nn.execute(code)
    beside = time.perf_counter() - started
    busy = False
    thread.join()
    # Taking the GIL once per pass would cost 2000 x 5 ms.
    assert beside < 10 * alone + 1
