"""Errors cross the border in both directions, with both tracebacks."""

from __future__ import annotations

import pickle
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bridge


def test_a_lua_error_has_message_and_traceback(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute("local function inner() error('broken') end\ninner()", name="=prog")
    assert caught.value.message == "prog:1: broken"
    assert "prog:1: in function 'inner'" in caught.value.traceback
    assert "prog:2: in main chunk" in caught.value.traceback
    assert caught.value.original is None


@pytest.mark.parametrize(
    ("code", "message", "value"),
    [
        ("error{code = 7, message = 'told'}", "told", {"code": 7, "message": "told"}),
        ("error{code = 7}", "code", {"code": 7}),
        ("error{1, 2}", r"\[1, 2\]", [1, 2]),
        ("error(5)", "5", "(python):1: 5"),
        ("error(5, 0)", "5", 5),
        ("error(true)", "True", True),
        ("error(nil)", "None", None),
        ("error()", "None", None),
        ("error('\\255', 0)", r"\\xff", b"\xff"),
    ],
)
def test_an_error_with_a_value_keeps_it(lua: bridge.Lua, code: str, message: str, value: object) -> None:
    with pytest.raises(bridge.LuaError, match=message) as caught:
        lua.execute(code)
    assert caught.value.value == value


def test_a_python_exception_comes_back_itself(lua: bridge.Lua) -> None:
    failure = KeyError("lost")

    def fail() -> None:
        raise failure

    with pytest.raises(bridge.LuaError, match="KeyError: 'lost'") as caught:
        lua.execute("local f = ... f()", fail)
    assert caught.value.original is failure
    assert caught.value.__cause__ is failure
    text = "".join(traceback.format_exception(caught.value))
    assert "in fail" in text
    assert "in main chunk" in text


def test_lua_catches_a_python_exception_and_reads_its_message(lua: bridge.Lua) -> None:
    def fail() -> None:
        raise ValueError("bad value 3")

    ok, found, text = lua.execute(
        "local ok, e = pcall(...) return ok, e:match('value %d'), 'got ' .. tostring(e)", fail
    )
    assert (ok, found, text) == (False, "value 3", "got bad value 3")


def test_an_error_goes_through_several_borders(lua: bridge.Lua) -> None:
    def middle() -> None:
        lua.execute("error('deep')")

    with pytest.raises(bridge.LuaError, match="deep") as caught:
        lua.execute("(...)()", middle)
    assert isinstance(caught.value.original, bridge.LuaError)


def test_infinite_recursion_in_lua_is_an_error(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="stack overflow"):
        lua.execute("local function f() return 1 + f() end f()")
    assert lua.eval("1") == 1


def test_infinite_recursion_across_the_border_is_an_error(lua: bridge.Lua) -> None:
    def again() -> None:
        lua.globals["f"](again)

    lua.execute("function f(g) g() end")
    with pytest.raises((bridge.LuaError, RecursionError)):
        again()
    assert lua.eval("1") == 1


def test_a_bad_argument_changes_nothing(lua: bridge.Lua) -> None:
    lua.execute("n = 0 function count() n = n + 1 end")
    with pytest.raises(OverflowError):
        lua.globals["count"](1, 2**53 + 1)
    assert lua.eval("n") == 0


def test_a_callback_gets_its_errors_about_results(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="exact double"):
        lua.eval("(...)()", lambda: 2**53 + 1)


@pytest.mark.parametrize("exception", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_an_exception_that_must_not_be_lost_passes_pcall(
    lua: bridge.Lua, exception: type[BaseException]
) -> None:
    def leave() -> None:
        raise exception

    with pytest.raises(exception):
        lua.execute("local f = ... while true do pcall(f) end", leave)
    assert lua.eval("1") == 1


@pytest.mark.parametrize(("argument", "code"), [("", 0), ("3", 3), ("true", 0), ("false", 1)])
def test_os_exit_is_system_exit(lua: bridge.Lua, argument: str, code: int) -> None:
    with pytest.raises(SystemExit) as caught:
        lua.execute(f"os.exit({argument})")
    assert caught.value.code == code


def test_memory_that_lua_cannot_get_is_an_error(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError):
        lua.execute("local s = ('x'):rep(2^31 - 10) return s .. s .. s")
    assert lua.eval("1") == 1


def test_lua_s_traceback_is_a_note(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute("error('broken')", name="=prog")
    assert str(caught.value) == "prog:1: broken"
    (note,) = caught.value.__notes__
    assert note.startswith("stack traceback:\n")
    assert "prog:1: in main chunk" in note


@pytest.mark.parametrize(
    "code",
    [
        "error({}, 0)",
        "error(tostring({}), 0)",
        "error(tostring(print), 0)",
        "error('a ' .. tostring(io.stdout), 0)",
    ],
)
def test_neither_the_text_nor_the_note_has_addresses(lua: bridge.Lua, code: str) -> None:
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute(code)
    assert "0x" not in str(caught.value) + "".join(caught.value.__notes__)


def test_a_number_in_hexadecimal_stays(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute("error('register 0x40001000 of 0x7fffffffff', 0)")
    assert str(caught.value) == "register 0x40001000 of 0x7fffffffff"


def test_an_error_is_pickled_with_its_notes(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute("error('broken', 0)")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.traceback, again.__notes__) == (
        "broken",
        caught.value.traceback,
        caught.value.__notes__,
    )


NETWORK = "nn.Sequential():add(nn.Tanh()):add(nn.Sequential():add(nn.Linear(4, 3)):add(nn.Linear(3, 2)))"


@pytest.fixture
def net(lua: bridge.Lua) -> bridge.LuaObject:
    lua.require("nn")
    made: bridge.LuaObject = lua.eval(NETWORK)
    return made


@pytest.mark.parametrize(
    "path",
    [
        f"{Path(bridge.__file__).resolve().parent}/torch7/nn/Linear.lua",
        "...lib/python3.11/site-packages/bridge/torch7/nn/Linear.lua",
        "...ge/torch7/nn/VolumetricFractionalMaxPoolingOfSomeKind.lua",
        ".../python3.11/site-packages/bridge/runtime/legacy.lua",
    ],
)
def test_a_place_in_our_own_files_is_left_out(path: str) -> None:
    assert str(bridge.LuaError(f"{path}:65: size mismatch")) == "size mismatch"


@pytest.mark.parametrize(
    "path",
    ["nn/Linear.lua", ".../models/lua/net.lua", ".../lua/net.lua", "...s/mybridge/torch7/nn/Linear.lua"],
)
def test_a_place_in_a_program_stays(path: str) -> None:
    assert str(bridge.LuaError(f"{path}:65: size mismatch")) == f"{path}:65: size mismatch"


def test_the_first_line_of_an_error_in_a_container_is_the_cause(net: bridge.LuaObject) -> None:
    with pytest.raises(bridge.LuaError) as caught:
        net.forward(np.ones((2, 5)))
    assert str(caught.value).splitlines() == [
        "size mismatch, m1: [2 x 5], m2: [4 x 3]",
        "in module 2 of nn.Sequential, counted from 1",
        "in module 1 of nn.Sequential, counted from 1",
    ]
    assert "Linear.lua" in caught.value.__notes__[0]
    assert "\nIn 2 module of nn.Sequential:\nIn 1 module of nn.Sequential:\n" in caught.value.message


def test_in_legacy_the_modules_of_an_error_count_from_0() -> None:
    from bridge.legacy import nn

    with pytest.raises(bridge.LuaError) as caught:
        nn.Sequential().add(nn.Tanh()).add(nn.Linear(4, 3)).forward(np.ones((2, 5)))
    assert "in module 1 of nn.Sequential, counted from 0" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "nn.LookupTable(10, 3):forward(torch.LongTensor{1, 11})",
            "index out of range: got 11, where 1 to 10",
        ),
        (
            "nn.LookupTable(10, 3):forward(torch.LongTensor{0, 12})",
            "index out of range: got 0, where 1 to 10",
        ),
        ("nn.ClassNLLCriterion():forward(torch.randn(2, 3), torch.LongTensor{1, 4})", "got 4, where 1 to 3"),
        (
            "nn.SpatialClassNLLCriterion():forward(torch.ones(1, 3, 2, 2), torch.ones(1, 2, 2):mul(7))",
            "got 7, where 1 to 3",
        ),
        ("torch.Tensor(3)[5]", "(out of range): got 5, where 1 to 3"),
        ("torch.Tensor(3, 4)[-9]", "(out of range): got -9, where 1 to 3"),
        ("torch.LongStorage(2)[3]", "(out of bounds): got 3, where 1 to 2"),
        ("torch.Tensor(3, 4):select(1, 9)", "(out of range): got 9, where 1 to 3"),
        ("torch.Tensor(3, 4):select(5, 1)", "(out of range): got 5, where 1 to 2"),
        ("torch.Tensor(3, 4):narrow(2, 6, 1)", "(out of range): got 6, where 1 to 4"),
        ("torch.Tensor(3, 4):sub(1, 9)", "(out of range): got 9, where 1 to 3"),
        ("torch.Tensor(3, 4):index(1, torch.LongTensor{2, 8})", "index out of range: got 8, where 1 to 3"),
        ("torch.Tensor(3, 4):narrow(2, 3, 3)", "(out of range): got 3, where 1 to 2"),
        ("torch.Tensor(3, 4):unfold(2, 5, 1)", "(out of range): got 5, where 1 to 4"),
        ("torch.Tensor(3):gather(1, torch.LongTensor{4})", "Invalid index in gather: got 4, where 1 to 3"),
        (
            "torch.Tensor(3):scatter(1, torch.LongTensor{0}, 1)",
            "Invalid index in scatter: got 0, where 1 to 3",
        ),
        ("torch.Tensor(3, 4):indexFill(2, torch.LongTensor{0}, 1)", "(out of range): got 0, where 1 to 4"),
        ("torch.Tensor(3, 4)[{4, 1}]", "(index out of bound): got 4, where 1 to 3"),
        ("torch.Tensor(3, 4)[{{}, {2, 9}}]", "(end index out of bound): got 9, where 1 to 4"),
        ("torch.Tensor(3, 4):sum(3)", "(dimension 3 out of range): got 3, where 1 to 2"),
        ("torch.Tensor(3, 4):max(3)", "(dimension 3 out of range): got 3, where 1 to 2"),
        ("torch.Tensor(3, 4):kthvalue(5, 2)", "(selected index out of range): got 5, where 1 to 4"),
        ("torch.Tensor(3, 4):gather(3, torch.LongTensor(3, 4))", "out of bounds): got 3, where 1 to 2"),
        ("torch.Tensor(3, 4):unfold(1, 5, 1)", "(out of range): got 5, where 1 to 3"),
        ("torch.Tensor(3, 4):gather(1, torch.LongTensor{{9, 1, 1, 1}})", "got 9, where 1 to 3"),
        ("nn.Sequential():add(nn.Tanh()):remove(3)", "index out of range: got 3, where 1 to 1"),
    ],
)
def test_an_index_out_of_range_names_value_limit_and_counting(lua: bridge.Lua, call: str, said: str) -> None:
    lua.require("nn")
    with pytest.raises(bridge.LuaError) as caught:
        lua.eval(call)
    assert f"{said} exist, counted from 1" in str(caught.value)
    assert "got" not in caught.value.message  # for a program the words are Torch7's


def test_in_legacy_an_index_out_of_range_counts_from_0() -> None:
    from bridge.legacy import nn

    with pytest.raises(bridge.LuaError, match="got 10, where 0 to 9 exist, counted from 0"):
        nn.LookupTable(10, 3).forward(np.array([0, 10]))
    with pytest.raises(bridge.LuaError, match="got 3, where 0 to 2 exist, counted from 0"):
        nn.ClassNLLCriterion().forward(np.ones((2, 3)), np.array([0, 3]))
    with pytest.raises(bridge.LuaError, match="got -1, where 0 to 2 exist, counted from 0"):
        nn.ClassNLLCriterion().forward(np.ones((2, 3)), np.array([0, -1]))
    with pytest.raises(bridge.LuaError, match="got -2, where 0 to 9 exist, counted from 0"):
        nn.LookupTable(10, 3).forward(np.array([0, -2]))


def test_a_range_that_a_program_caught_is_not_told_of_another_error(lua: bridge.Lua) -> None:
    lua.require("torch")
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute("pcall(function() return torch.Tensor(3)[5] end) error('other', 0)")
    assert str(caught.value) == "other"


class Frame:
    def to_numpy(self) -> Any:
        return np.ones((2, 4))


@pytest.mark.parametrize("where", ["proxy", "legacy"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            np.ones((2, 4), np.float32),
            ("input is float32", "float64 (torch.DoubleTensor)", 'x.astype("float64")', ".float()"),
        ),
        (torch.ones(2, 4), ("input is float32", "x.double()")),
        (Frame(), ("input is a ", ".Frame", "x.to_numpy()")),
        ([[1.0, 2.0, 3.0, 4.0]], ("input is a list of numbers", "numpy.array(...)")),
        ("four", ("input is a str, 'four'", "pass an array or a tensor")),
        (4, ("input is the number 4",)),
        (None, ("input is None", "pass an array or a tensor")),
        (np.ones((2, 4), np.int64), ("input is int64", "computes in float64", 'pass x.astype("float64")')),
        (torch.ones(2, 4, dtype=torch.uint8), ("input is uint8", "computes in float64", "pass x.double()")),
        ([np.ones((2, 4))], ("input is a list", "takes a tensor")),
        ({"x": np.ones((2, 4))}, ("input is a dict", "takes a tensor")),
    ],
    ids=["array", "tensor", "frame", "list", "str", "number", "None", "integers", "bytes", "arrays", "dict"],
)
def test_what_a_module_cannot_compute_with_is_named(
    net: bridge.LuaObject, where: str, given: Any, words: tuple[str, ...]
) -> None:
    from bridge.legacy import nn

    module = net if where == "proxy" else nn.Sequential().add(nn.Linear(4, 3))
    with pytest.raises(bridge.LuaTypeError) as caught:
        module.forward(given)
    assert isinstance(caught.value, TypeError)
    assert str(caught.value).startswith("nn.Sequential: ")
    for word in words:
        assert word in str(caught.value)
    assert any("Lua's own words: " in note for note in caught.value.__notes__)


def test_a_gradient_of_another_type_is_named(net: bridge.LuaObject) -> None:
    x = np.ones((2, 4))
    net.forward(x)
    with pytest.raises(bridge.LuaTypeError, match="gradOutput is float32"):
        net.backward(x, np.ones((2, 2), np.float32))


def test_a_module_of_a_program_that_takes_strings_still_does(lua: bridge.Lua) -> None:
    lua.require("nn")
    lua.execute(
        "local M = torch.class('Reader', 'nn.Module') function M:updateOutput(text) return #text end net = Reader()"
    )
    assert lua.eval("net").forward("four") == 4
