"""What a program can tell Torch7's operators by: rarer forms, operands it refuses, and its words for them."""

from __future__ import annotations

from typing import Any

import pytest

import bridge

ONES = "torch.ones(2, 2)"
INTS = "torch.IntTensor(2, 2):fill(1)"

RESULTS: list[tuple[str, Any]] = [
    # a vector's elements, whatever dimension is named
    ("torch.range(1, 3):select(5, 2)", 2),
    ("torch.isTypeOf(torch.LongTensor(), '.*Long')", True),
    ("torch.isTypeOf(torch.LongTensor(), 'torch.Long')", False),
    # a last argument that names the type; sizes as Torch7's memory
    ("torch.type(torch.zeros(2, 3, 'torch.ByteTensor'))", "torch.ByteTensor"),
    ("torch.ones(2, 1, 'torch.FloatTensor'):totable()", [[1], [1]]),
    ("torch.zeros(torch.LongStorage{2, 3}):size():totable()", [2, 3]),
    ("torch.LongTensor(torch.LongStorage{2, 3}):totable()", [2, 3]),
    # what is left of a division has the sign of the dividend (mod) or of the divisor (remainder)
    ("torch.IntTensor{-7, 7, -7}:mod(3):totable()", [-1, 1, -1]),
    ("torch.Tensor{-7, 7, -7}:mod(3):totable()", [-1, 1, -1]),
    ("torch.IntTensor{-7, 7, -7}:remainder(3):totable()", [2, 1, 2]),
    ("torch.IntTensor{-7, 7, -7}:cmod(torch.IntTensor{3, -3, -3}):totable()", [-1, 1, -1]),
    ("torch.Tensor{-7, 7, -7}:cmod(torch.Tensor{3, -3, -3}):totable()", [-1, 1, -1]),
    ("torch.IntTensor{-7, 7, -7}:cremainder(torch.IntTensor{3, -3, -3}):totable()", [2, -2, -1]),
    ("torch.ByteTensor{200, 7}:cmod(torch.ByteTensor{7, 3}):totable()", [4, 1]),
    ("torch.Tensor{-2, 3}:pow(3):totable()", [-8, 27]),
    ("tostring(torch.Tensor{-2}:pow(.5)[1]):match('nan')", "nan"),
    ("torch.Tensor{-2, 3}:cpow(torch.Tensor{3, 2}):totable()", [-8, 9]),
    # beta m + alpha a b, in every order
    (f"torch.addmm(torch.Tensor(), 2, {ONES}, 3, {ONES}, {ONES}):totable()", [[8, 8], [8, 8]]),
    (f"torch.addmm(2, {ONES}, 3, {ONES}, {ONES}):totable()", [[8, 8], [8, 8]]),
    (f"torch.addmm({ONES}, 3, {ONES}, {ONES}):totable()", [[7, 7], [7, 7]]),
    (f"{ONES}:addmm(2, 3, {ONES}, {ONES}):totable()", [[8, 8], [8, 8]]),
    (f"{ONES}:addmm(2, {ONES}, 3, {ONES}, {ONES}):totable()", [[8, 8], [8, 8]]),
    (f"{ONES}:addmm(2, {ONES}, {ONES}):totable()", [[5, 5], [5, 5]]),
    (f"{INTS}:addmm(2, {INTS}, 3, {INTS}, {INTS}):totable()", [[8, 8], [8, 8]]),
    (f"{INTS}[1]:addmv(2, {INTS}[1], 3, {INTS}, {INTS}[2]):totable()", [8, 8]),
    (f"{INTS}:addr(2, {INTS}, 3, {INTS}[1], {INTS}[2]):totable()", [[5, 5], [5, 5]]),
    (
        "torch.ones(1, 2, 2):baddbmm(2, 3, torch.ones(1, 2, 2), torch.ones(1, 2, 2)):totable()",
        [[[8, 8], [8, 8]]],
    ),
    (f"{ONES}:addbmm(2, {ONES}, 3, torch.ones(1, 2, 2), torch.ones(1, 2, 2)):totable()", [[8, 8], [8, 8]]),
    # what a squeezed tensor of one element is; a result that is the argument, or lies in its memory
    ("torch.squeeze(torch.Tensor(1, 1):fill(3))", 3),
    ("torch.squeeze(torch.Tensor(1, 1):fill(3), 1):totable()", [3]),
    ("torch.Tensor(3):apply(function() return '4' end):totable()", [4, 4, 4]),
    ("string.gfind", None),
]

REFUSED = [
    ("torch.range(1, 3):narrow(2, 1, 1)", "bad argument #1 to 'narrow' (out of range)"),
    (
        "torch.zeros(torch.LongTensor{2, 3})",
        "expected arguments: [*LongTensor*] (LongStorage | dim1 [dim2...])",
    ),
    ("torch.ones(torch.LongTensor{2, 3})", "invalid arguments: LongTensor"),
    ("torch.Tensor(3):apply(function() return 'x' end)", "given function should return a number or nil"),
    ("torch.bmm(torch.Tensor(), torch.Tensor())", "[*DoubleTensor*] DoubleTensor~3D DoubleTensor~3D"),
    ("torch.ger(torch.Tensor(), torch.Tensor())", "[*DoubleTensor*] DoubleTensor~1D DoubleTensor~1D"),
    ("torch.mm(torch.Tensor(), torch.Tensor())", "[*DoubleTensor*] DoubleTensor~2D DoubleTensor~2D"),
    (f"torch.mm(torch.Tensor(), {ONES}, {ONES})", "matrix expected, got 0D tensor for t"),
    (
        "torch.gather(torch.Tensor(3, 4), 1, torch.LongTensor(2, 5):fill(1))",
        "Expected tensor [2 x 5], src [3 x 4] and index [2 x 5] to have the same size in dimension 0",
    ),
    ("torch.eq(torch.Tensor(3), torch.FloatTensor(3))", "invalid arguments: DoubleTensor FloatTensor"),
    (
        "torch.gt(torch.ByteTensor(3), torch.Tensor(3), 0)",
        "invalid arguments: ByteTensor DoubleTensor number",
    ),
    ("torch.Tensor(2, 3, 4):permute(1, 2)", "Invalid permutation"),
    ("torch.Tensor(4):view(0)", "Wrong size for view. Input size: 4. Output size: 0"),
    ("torch.cat(torch.Tensor(3), {})", "invalid arguments: DoubleTensor table"),
    ("torch.eye(2, 3, 4)", "expected arguments: [*DoubleTensor*] long [long]"),
    ("torch.linspace(1, 2, 3, 4)", "expected arguments: [*DoubleTensor*] double double [long]"),
    ("torch.log(nil)", "invalid arguments: nil \nexpected arguments: [*DoubleTensor*] DoubleTensor | double"),
    ("torch.max(nil)", "DoubleTensor | [*DoubleTensor*] [*LongTensor*] DoubleTensor index"),
    ("torch.mean(nil)", "DoubleTensor | [*DoubleTensor*] DoubleTensor index"),
    (
        "torch.Tensor(3):isSameSizeAs(torch.FloatTensor(3))",
        "torch.DoubleTensor expected, got torch.FloatTensor",
    ),
    (
        "torch.Tensor(3) < torch.Tensor(3)",
        "both torch.DoubleTensor and torch.DoubleTensor have no less-than operator",
    ),
    ("torch.Tensor(torch.FloatTensor(3))", "expecting number or torch.DoubleTensor or torch.DoubleStorage"),
    ("torch.range(1, 3):select(1, -1)", "(out of range)"),
]


@pytest.mark.parametrize(("expression", "result"), RESULTS)
def test_it_is_what_torch7_gives(lua: bridge.Lua, expression: str, result: Any) -> None:
    assert lua.execute(f"local r = {expression} return r") == result


@pytest.mark.parametrize(("expression", "message"), REFUSED)
def test_it_is_refused_in_torch7s_words(lua: bridge.Lua, expression: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(f"local r = {expression} return r")
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("code", "same"),
    [
        ("local x = torch.range(1, 6):resize(2, 3) return x, torch.Tensor(x)", True),
        ("local x = torch.range(1, 6):resize(2, 3) return x, torch.Tensor(x:storage())", True),
        ("local x = torch.range(1, 3):resize(1, 3) return x, x:squeeze()", True),
        ("local x = torch.range(1, 3) return x, x:index(1, torch.LongTensor{1, 2})", False),
    ],
)
def test_which_results_share_memory(lua: bridge.Lua, code: str, same: bool) -> None:
    lua.execute(f"x, y = (function() {code} end)() y:fill(-1)")
    assert (lua.eval("x:min()") == -1) == same


def test_sizes_may_come_as_an_array_of_python(lua: bridge.Lua) -> None:
    import numpy as np

    lua.sizes = np.array([2, 3])
    with pytest.raises(bridge.LuaError, match="invalid arguments: LongTensor"):
        lua.execute("return torch.zeros(sizes)")


def test_a_result_of_a_product_on_its_operand_is_zero(lua: bridge.Lua) -> None:
    lua.execute("a = torch.ones(2, 2); torch.mm(a, a, a)")
    assert lua.eval("a:sum()") == 0
