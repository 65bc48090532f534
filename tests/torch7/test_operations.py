"""Operations against numpy: every type, results that keep their strides, shapes that differ, faults."""

from __future__ import annotations

import numpy as np
import pytest

import bridge
from tests.elements import FLOATS, NUMERIC

A = np.array([[1, 2, 3], [4, 5, 6]])
B = np.array([[2, 7, 1], [3, 2, 4]])


@pytest.fixture
def pair(lua: bridge.Lua, name: str) -> bridge.Lua:
    lua.a = A.astype(NUMERIC[name])
    lua.b = np.asfortranarray(B.astype(NUMERIC[name]))
    return lua


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a:clone():add(1)", A + 1),
        ("torch.add(a, b)", A + B),
        ("torch.add(a, 2, b)", A + 2 * B),
        ("torch.csub(torch.add(a, b), b)", A),
        ("a * 3", A * 3),
        ("torch.cmul(a, b)", A * B),
        ("torch.cmax(a, b)", np.maximum(A, B)),
        ("torch.cmin(a, 3)", np.minimum(A, 3)),
        ("torch.remainder(a, 3)", A % 3),
        ("torch.cremainder(a, b)", A % B),
        ("torch.clamp(a, 2, 5)", A.clip(2, 5)),
        ("torch.addcmul(a, 2, a, b)", A + 2 * A * B),
        ("a:t():contiguous()", A.T),
        ("a:sum(1)", A.sum(0, keepdims=True)),
        ("a:prod(2)", A.prod(1, keepdims=True)),
        ("torch.cumsum(a, 2)", A.cumsum(1)),
        ("torch.max(b, 1)", B.max(0, keepdims=True)),
        ("torch.lt(a, b)", (A < B).astype(np.uint8)),
        ("torch.eq(a, 3)", (A == 3).astype(np.uint8)),
        ("torch.mm(a, b:t())", A @ B.T),
        ("torch.mv(a, b[1])", A @ B[0]),
        ("torch.ger(a[1], b[2])", np.outer(A[0], B[1])),
        ("torch.addmm(2, torch.mm(a, b:t()), 3, a, b:t())", 5 * (A @ B.T)),
        ("torch.cat(a, b, 1)", np.concatenate([A, B])),
        ("torch.diag(a)", np.diag(A)),
        ("torch.tril(a)", np.tril(A)),
        ("a:repeatTensor(2, 1)", np.tile(A, (2, 1))),
        ("(function() local x = a:clone() return x:repeatTensor(x, 2, 1) end)()", np.tile(A, (2, 1))),
    ],
)
def test_agrees_with_numpy(pair: bridge.Lua, name: str, expression: str, expected: np.ndarray) -> None:
    result = pair.eval(f"(select(1, {expression}))")
    compared = expected if expected.dtype == np.uint8 else expected.astype(NUMERIC[name])
    np.testing.assert_array_equal(result, compared)
    assert result.dtype == compared.dtype


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize(
    ("expression", "expected"), [("a:sum()", 21), ("a:prod()", 720), ("a:max()", 6), ("a:dot(b)", 65)]
)
def test_a_reduction_is_a_number(pair: bridge.Lua, expression: str, expected: int) -> None:
    assert pair.eval(expression) == expected


@pytest.mark.parametrize("name", NUMERIC)
def test_squared_distances_of_rows_wrap_as_their_type(pair: bridge.Lua, name: str) -> None:
    distances = ((A[:, None, :] - B[None, :, :]) ** 2).sum(2)
    np.testing.assert_array_equal(pair.eval("torch.match(a, b)"), distances)
    np.testing.assert_array_equal(
        pair.eval("a.new():match(a, b, 20)"), (20 * distances).astype(NUMERIC[name])
    )
    with pytest.raises(bridge.LuaError, match="same inner vector dim"):
        pair.execute("torch.match(a, b:narrow(2, 1, 2))")


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(
    ("function", "peer"),
    [
        ("exp", np.exp),
        ("log", np.log),
        ("log1p", np.log1p),
        ("sqrt", np.sqrt),
        ("tanh", np.tanh),
        ("sin", np.sin),
        ("cos", np.cos),
        ("tan", np.tan),
        ("atan", np.arctan),
        ("sinh", np.sinh),
        ("cosh", np.cosh),
        ("floor", np.floor),
        ("ceil", np.ceil),
        ("trunc", np.trunc),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("rsqrt", lambda x: 1 / np.sqrt(x)),
        ("cinv", lambda x: 1 / x),
        ("neg", np.negative),
    ],
)
@pytest.mark.parametrize("count", [7, 3000])
def test_functions_of_a_number(lua: bridge.Lua, name: str, function: str, peer: object, count: int) -> None:
    values = np.linspace(0.1, 3, count).astype(NUMERIC[name])
    lua.x = values.copy()
    expected = peer(values.astype(np.float64))  # type: ignore[operator]
    tolerance = 1e-12 if name == "Double" else 1e-5
    np.testing.assert_allclose(lua.eval(f"torch.{function}(x)"), expected, rtol=tolerance)
    np.testing.assert_allclose(lua.eval(f"x:clone():{function}()"), expected, rtol=tolerance)
    np.testing.assert_array_equal(lua.eval("x"), values)


@pytest.mark.parametrize("count", [7, 3000])
@pytest.mark.parametrize("name", FLOATS)
def test_functions_of_two_numbers(lua: bridge.Lua, name: str, count: int) -> None:
    a, b = np.linspace(-3, 3, count).astype(NUMERIC[name]), np.linspace(2, -2, count).astype(NUMERIC[name])
    tolerance = 1e-12 if name == "Double" else 1e-5
    lua.a, lua.b = a.copy(), b.copy()
    wide_a, wide_b = a.astype(float), b.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        for expression, expected in (
            ("torch.atan2(a, b)", np.arctan2(wide_a, wide_b)),
            ("torch.pow(a, 3)", wide_a**3),
            ("torch.pow(a, -1.5)", wide_a**-1.5),
            ("a:clone():pow(2)", wide_a**2),
            ("torch.pow(a:view(1, -1), 3)[1]", wide_a**3),
        ):
            np.testing.assert_allclose(lua.eval(expression), expected, rtol=tolerance)


@pytest.mark.parametrize("count", [7, 3000])
@pytest.mark.parametrize("name", FLOATS)
def test_some_powers_are_products_and_roots(lua: bridge.Lua, name: str, count: int) -> None:
    lua.x = x = np.concatenate([[-np.inf, -0.0, np.inf], np.linspace(0.1, 3, count)]).astype(NUMERIC[name])
    with np.errstate(invalid="ignore", divide="ignore"):
        for power, expected in (
            (1, x),
            (2, x * x),
            (3, x * x * x),
            (0.5, np.sqrt(x)),
            (-0.5, 1 / np.sqrt(x)),
            (-1, 1 / x),
            (-2, 1 / (x * x)),
        ):
            np.testing.assert_array_equal(lua.eval(f"torch.pow(x, {power})"), expected)
            np.testing.assert_array_equal(lua.eval(f"x:clone():pow({power})"), expected)


@pytest.mark.parametrize("name", FLOATS)
def test_roots_are_rounded_once(lua: bridge.Lua, name: str) -> None:
    lua.x = x = np.random.default_rng(2).random(3000).astype(NUMERIC[name])
    np.testing.assert_array_equal(lua.eval("torch.sqrt(x)"), np.sqrt(x))
    np.testing.assert_array_equal(lua.eval("torch.rsqrt(x)"), 1 / np.sqrt(x))


def test_a_result_of_the_right_size_keeps_its_strides(lua: bridge.Lua) -> None:
    lua.execute("r = torch.Tensor(3, 2):t(); torch.add(r, torch.ones(2, 3), 1)")
    assert lua.eval("r:stride():totable()") == [1, 2]
    assert lua.eval("r:sum()") == 12


def test_a_result_that_is_an_operand(lua: bridge.Lua) -> None:
    lua.execute("a = torch.Tensor{{1, 2}, {3, 4}}; torch.mm(a, a, a)")
    assert lua.eval("a:totable()") == [[0, 0], [0, 0]]  # Torch7 sets the result to zero first
    lua.execute("b = torch.ones(2, 2); torch.addmm(b, b, b, b)")
    assert lua.eval("b:totable()") == [[3, 3], [3, 3]]
    lua.execute("c = torch.range(1, 3); torch.cat(c, c, c)")
    assert lua.eval("c:totable()") == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize("kind", sorted(NUMERIC))
@pytest.mark.parametrize("result", ["nothing", "small", "a column", "an operand", "part of an operand"])
def test_two_vectors_are_joined_like_any_tensors(lua: bridge.Lua, kind: str, result: str) -> None:
    code = """
        local kind, result = ...
        local type = 'torch.' .. kind .. 'Tensor'
        local matrix = torch.range(1, 6):resize(2, 3):t():type(type)
        local a, b = matrix:select(2, 2), torch.range(7, 8):type(type) -- the first with steps
        local whole = torch.range(1, 10):type(type)
        local r = ({
           nothing = torch.Tensor():type(type), small = torch.zeros(2):type(type),
           ['a column'] = torch.zeros(9, 4):type(type):select(2, 2),
           ['an operand'] = b, ['part of an operand'] = whole:narrow(1, 2, 5),
        })[result]
        if result == 'part of an operand' then
           b = whole:narrow(1, 1, 2)
        end
        local wanted = torch.cat({a:clone(), b:clone()}, 1):totable()
        torch.cat(r, a, b)
        return r:totable(), wanted, matrix:totable()
    """
    joined, wanted, matrix = lua.execute(code, kind, result)
    assert joined == wanted == ([4, 5, 6, 1, 2] if result == "part of an operand" else [4, 5, 6, 7, 8])
    assert matrix == [[1, 4], [2, 5], [3, 6]]


def test_only_the_number_of_elements_has_to_agree(lua: bridge.Lua) -> None:
    assert lua.eval("torch.range(1, 6):add(torch.range(1, 6):resize(3, 2):t()):totable()") == [
        2,
        5,
        8,
        6,
        9,
        12,
    ]


@pytest.mark.parametrize("size", [100, 600])
@pytest.mark.parametrize("name", FLOATS)
def test_products_of_matrices_of_any_size_and_layout(lua: bridge.Lua, name: str, size: int) -> None:
    generator = np.random.default_rng(1)
    a, b = (generator.random((size, size)).astype(NUMERIC[name]) for _ in range(2))
    lua.a, lua.b = a, b
    for expression, expected in (
        ("a * b", a @ b),
        ("a:t() * b", a.T @ b),
        ("a:narrow(2, 2, 9) * b[{{1, 9}}]", None),
    ):
        found = lua.eval(expression)
        np.testing.assert_allclose(found, a[:, 1:10] @ b[:9] if expected is None else expected, rtol=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        "torch.IntTensor{1}:div(0)",
        "torch.IntTensor{1}:cdiv(torch.IntTensor{0})",
        "torch.LongTensor{1}:fmod(0.5)",
        "torch.ByteTensor{1}:cmod(torch.ByteTensor{0})",
        "torch.IntTensor{1}:addcdiv(1, torch.IntTensor{1}, torch.IntTensor{0})",
    ],
)
def test_integers_divided_by_zero_raise(lua: bridge.Lua, call: str) -> None:
    with pytest.raises(bridge.LuaError, match="division by zero"):
        lua.execute(f"return {call}")


def test_the_smallest_integer_divided_by_minus_one_wraps(lua: bridge.Lua) -> None:
    assert lua.eval("torch.IntTensor{-2^31}:div(-1)[1]") == -(2**31)
    assert lua.eval("torch.LongTensor{-2^63}:fmod(-1)[1]") == 0


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("torch.sort(x)", np.sort),
        ("torch.sort(x, 2, true)", lambda x: -np.sort(-x)),
        ("torch.sort(x, 1)", lambda x: np.sort(x, axis=0)),
        ("torch.kthvalue(x, 3)", lambda x: np.sort(x)[:, 2:3]),
        ("torch.median(x)", lambda x: np.sort(x)[:, 49:50]),
        ("torch.topk(x, 5)", lambda x: np.sort(x)[:, :5]),
    ],
)
def test_order_along_a_dimension(lua: bridge.Lua, expression: str, expected: object) -> None:
    values = np.random.default_rng(2).permutation(2000).reshape(20, 100).astype(np.float64)
    lua.x = values
    np.testing.assert_array_equal(lua.eval(f"(select(1, {expression}))"), expected(values))  # type: ignore[operator]
    dimension = 1 if expression.endswith("1)") else 2
    lua.execute(f"v, i = {expression}")
    np.testing.assert_array_equal(lua.eval(f"x:gather({dimension}, i)"), lua.eval("v"))


def test_picking_by_index(lua: bridge.Lua) -> None:
    values = np.arange(20.0).reshape(4, 5)
    lua.x = values.copy()
    lua.execute("i = torch.LongTensor{4, 1, 1}")
    np.testing.assert_array_equal(lua.eval("x:index(1, i)"), values[[3, 0, 0]])
    np.testing.assert_array_equal(lua.eval("x:t():index(2, i)"), values[[3, 0, 0]].T)
    lua.execute("x:indexAdd(1, i, torch.ones(3, 5))")
    np.testing.assert_array_equal(lua.eval("x"), values + np.array([[2], [0], [0], [1]]))
    for call in (
        "index(1, torch.LongTensor{0})",
        "index(1, torch.LongTensor{5})",
        "gather(1, torch.LongTensor{{9}})",
    ):
        with pytest.raises(bridge.LuaError):
            lua.execute(f"return x:{call}")
    with pytest.raises(bridge.LuaError, match="0 and 1"):
        lua.execute("x:maskedFill(torch.ByteTensor(4, 5):fill(2), 1)")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("Byte", 200, 128), ("Char", 100, 32), ("Short", 300, -16608), ("Int", 2**16, 0), ("Long", 2**32, 0)],
)
def test_a_dot_product_wraps_as_its_type(lua: bridge.Lua, name: str, value: int, expected: int) -> None:
    lua.execute(f"a = torch.{name}Tensor(2):fill({value})")
    assert lua.eval("a:dot(a)") == expected
    lua.execute("m = a.new(2, 2):fill(a[1]):narrow(2, 1, 1)")
    assert lua.eval("m:dot(m)") == expected
    lua.execute("m = a.new(2, 3):fill(a[1]):narrow(2, 1, 2)")
    assert lua.eval("m:dot(m)") == 2 * expected, "each of two runs wraps, their sum does not"


def test_what_comparisons_with_nan_give(lua: bridge.Lua) -> None:
    lua.execute("nan, n, one = 0/0, torch.Tensor{0/0}, torch.Tensor{1}")
    for name in ("cmax", "cmin"):
        assert lua.eval(f"torch.{name}(n, one)[1]") == 1
        assert lua.eval(f"torch.{name}(n, 1)[1]") == 1
        assert lua.eval(f"torch.{name}(one, n)[1] ~= 1 and torch.{name}(one, nan)[1] ~= 1")
    assert lua.eval("n:clone():clamp(0, 1)[1] ~= 0 and torch.sign(n)[1] == 0")


@pytest.mark.parametrize("name", ["bitand", "bitor", "bitxor", "cbitand", "cbitor", "cbitxor"])
def test_bits_are_of_integers_alone(lua: bridge.Lua, name: str) -> None:
    operand = "torch.Tensor{1}" if name.startswith("c") else "1"
    with pytest.raises(bridge.LuaError, match=f"{name} is only supported for integer type tensors"):
        lua.execute(f"return torch.{name}(torch.Tensor{{3}}, {operand})")


def test_sequences_fill_a_result_of_as_many_elements(lua: bridge.Lua) -> None:
    lua.execute("r = torch.Tensor(3, 2):t()")
    for call in ("range(r, 1, 6)", "linspace(r, 1, 6, 6)"):
        lua.execute(f"r:zero(); torch.{call}")
        assert lua.eval("r:totable()") == [[1, 2, 3], [4, 5, 6]]
        assert lua.eval("r:stride():totable()") == [1, 2]
    assert lua.eval("torch.IntTensor():range(1.9, 4.9, 1.9):totable()") == [1, 2, 3, 4]


@pytest.mark.parametrize("call", ["mean", "var", "std"])
def test_an_empty_tensor_has_no_mean(lua: bridge.Lua, call: str) -> None:
    with pytest.raises(bridge.LuaError, match="empty Tensor"):
        lua.execute(f"return torch.{call}(torch.Tensor())")


def test_results_of_ordering_may_each_be_given(lua: bridge.Lua) -> None:
    lua.execute("x, v, i = torch.Tensor{3, 1, 2}, torch.Tensor(), torch.LongTensor()")
    lua.execute("torch.sort(v, x); x.sort(i, x)")
    assert lua.eval("v:totable()") == [1, 2, 3]
    assert lua.eval("i:totable()") == [2, 3, 1]
    with pytest.raises(
        bridge.LuaError, match=r"\| \[\*DoubleTensor\*\] \[\*LongTensor\*\] DoubleTensor index\n"
    ):
        lua.execute("return torch.max(3, 4)")


def test_lerp_of_numbers_and_cross_without_a_dimension_of_three(lua: bridge.Lua) -> None:
    assert lua.eval("torch.lerp(1, 3, 0.25)") == 1.5
    with pytest.raises(bridge.LuaError, match=r"no dimension of size 3 in a: \[2 x 4\]"):
        lua.execute("return torch.cross(torch.ones(2, 4), torch.ones(2, 4))")
