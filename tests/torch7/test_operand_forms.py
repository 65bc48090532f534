"""Every way of calling an operation gives the same elements: operands of any layout, results that are given, results
that are operands, methods. What the plain call gives is compared with numpy elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import bridge
from tests.elements import FLOATS, INTEGERS, NUMERIC

# name, arguments after the first tensor (`b`, `c`: tensors like it), element types
OPERATIONS = [
    ("add", "3", NUMERIC),
    ("add", "b", NUMERIC),
    ("add", "2, b", NUMERIC),
    ("csub", "b", NUMERIC),
    ("mul", "3", NUMERIC),
    ("div", "3", NUMERIC),
    ("cmul", "b", NUMERIC),
    ("cdiv", "b", NUMERIC),
    ("fmod", "3", NUMERIC),
    ("remainder", "3", NUMERIC),
    ("cfmod", "b", NUMERIC),
    ("cremainder", "b", NUMERIC),
    ("cpow", "b", NUMERIC),
    ("cmax", "b", NUMERIC),
    ("cmin", "b", NUMERIC),
    ("cmax", "3", NUMERIC),
    ("clamp", "2, 4", NUMERIC),
    ("addcmul", "2, b, c", NUMERIC),
    ("addcdiv", "2, b, c", NUMERIC),
    ("sign", "", NUMERIC),
    ("lshift", "1", NUMERIC),
    ("rshift", "1", NUMERIC),
    ("bitand", "3", INTEGERS),
    ("cbitxor", "b", INTEGERS),
    ("clshift", "b", INTEGERS),
    ("lerp", "b, 0.3", FLOATS),
    ("pow", "2", FLOATS),
    ("atan2", "b", FLOATS),
    ("exp", "", FLOATS),
    ("sqrt", "", FLOATS),
    ("sigmoid", "", FLOATS),
    ("tanh", "", FLOATS),
    ("round", "", FLOATS),
    ("neg", "", FLOATS),
    ("cinv", "", FLOATS),
    ("renorm", "2, 1, 3", FLOATS),
]
# The same, but their methods write to a result rather than to their operand, and results may have other sizes.
MAKERS = [
    ("cumsum", "1", NUMERIC),
    ("cumprod", "2", NUMERIC),
    ("tril", "", NUMERIC),
    ("triu", "1", NUMERIC),
    ("diag", "", NUMERIC),
    ("sum", "2", NUMERIC),
    ("prod", "1", NUMERIC),
    ("max", "1", NUMERIC),
    ("sort", "2", NUMERIC),
    ("topk", "2, 1", NUMERIC),
    ("kthvalue", "2, 2", NUMERIC),
    ("mode", "1", NUMERIC),
    ("median", "1", NUMERIC),
    ("mean", "1", FLOATS),
    ("var", "2", FLOATS),
    ("std", "1", FLOATS),
    ("norm", "3, 1", FLOATS),
    ("lt", "b", NUMERIC),
    ("eq", "3", NUMERIC),
    ("cross", "b, 2", NUMERIC),
    ("mm", "b:t()", NUMERIC),
    ("cat", "b, 1", NUMERIC),
    ("reshape", "6, 2", NUMERIC),
    ("gather", "1, index", NUMERIC),
    ("conv2", "b:narrow(1, 1, 2)", NUMERIC),
    ("match", "b", NUMERIC),
]

SOURCE = """
T = torch[... .. 'Tensor']
local function plain(first, step)
   local t = T(4, 3)
   local flat = t:storage()
   for i = 1, 12 do
      flat[i] = (first + i * step) % 7 + 1
   end
   return t
end
-- The same elements as t, lying differently.
layouts = {
   plain = function(t) return t:clone() end,
   transposed = function(t) return T(3, 4):t():copy(t) end,
   strided = function(t) return T(4, 6):narrow(2, 1, 6):unfold(2, 1, 2):select(3, 1):copy(t) end,
   offset = function(t) return T(7, 5):narrow(1, 3, 4):narrow(2, 2, 3):copy(t) end,
}
function operands(layout)
   index = torch.LongTensor{{1, 2, 4}, {3, 3, 1}}
   a, b, c = layouts[layout](plain(3, 5)), layouts[layout](plain(1, 4)), layouts[layout](plain(6, 3))
end
function same(x, y)
   return type(x) == type(y) and (type(x) == 'number' and x == y or x:isSameSizeAs(y) and x:eq(y):min() == 1)
end
"""


@pytest.fixture(scope="module")
def states() -> Iterator[dict[str, bridge.Lua]]:
    """A state for each element type, in which T makes such tensors."""
    with ExitStack() as stack:
        made = {}
        for kind in NUMERIC:
            made[kind] = stack.enter_context(bridge.Lua())
            made[kind].require("torch")
            made[kind].execute(SOURCE, kind)
        yield made


def call(name: str, first: str, arguments: str) -> str:
    return f"torch.{name}({first}{', ' if arguments else ''}{arguments})"


@pytest.mark.parametrize(("name", "arguments", "types"), OPERATIONS + MAKERS)
@pytest.mark.parametrize("layout", ["transposed", "strided", "offset"])
def test_layout_changes_no_element(
    states: dict[str, bridge.Lua], name: str, arguments: str, types: list[str], layout: str
) -> None:
    for lua in (states[kind] for kind in types):
        lua.execute(f"operands('plain'); expected = {call(name, 'a', arguments)}")
        lua.execute(f"operands('{layout}'); found = {call(name, 'a', arguments)}")
        assert lua.eval("same(found, expected)"), lua.eval("tostring(found) .. tostring(expected)")


def into(name: str, result: str, operands: str) -> str:
    """Return the call that fills a result: torch looks at its type first, and comparisons give bytes."""
    return f"{'a' if name in ('lt', 'eq') else 'torch'}.{name}({result}, {operands})"


# What a given result must be where it gets no size: products and gathered elements.
GIVEN = dict.fromkeys(("mm", "gather"), "expected:clone():zero()")


@pytest.mark.parametrize(("name", "arguments", "types"), OPERATIONS + MAKERS)
@pytest.mark.parametrize("layout", ["plain", "transposed", "strided", "offset"])
def test_a_given_result_is_filled_in_place(
    states: dict[str, bridge.Lua], name: str, arguments: str, types: list[str], layout: str
) -> None:
    for lua in (states[kind] for kind in types):
        rest = f"a{', ' if arguments else ''}{arguments}"
        lua.execute(f"operands('plain'); expected = {call(name, 'a', arguments)}")
        lua.execute(f"empty = {GIVEN.get(name, 'expected.new()')}; found = {into(name, 'empty', rest)}")
        assert lua.eval("torch.pointer(found) == torch.pointer(empty) and same(empty, expected)")
        lua.execute(f"""
           if expected:type() == a:type() and expected:isSameSizeAs(a) then
              shaped = layouts['{layout}'](expected):zero()
           else
              shaped = expected.new():resize(expected:size()):zero()
           end
           strides = shaped:stride():totable()
           found = {into(name, "shaped", rest)}""")
        assert lua.eval("torch.pointer(found) == torch.pointer(shaped) and same(shaped, expected)")
        assert lua.eval("shaped:stride():totable()") == lua.eval("strides")


@pytest.mark.parametrize(("name", "arguments", "types"), OPERATIONS)
@pytest.mark.parametrize("layout", ["plain", "transposed", "strided", "offset"])
def test_the_result_may_be_an_operand(
    states: dict[str, bridge.Lua], name: str, arguments: str, types: list[str], layout: str
) -> None:
    for lua in (states[kind] for kind in types):
        rest = f"a{', ' if arguments else ''}{arguments}"
        lua.execute(f"operands('plain'); expected = {call(name, 'a', arguments)}")
        lua.execute(f"operands('{layout}'); {call(name, 'a', rest)}")
        assert lua.eval("same(a, expected)")
        lua.execute(f"operands('{layout}'); found = a:{name}({arguments})")
        assert lua.eval("same(a, expected) and torch.pointer(found) == torch.pointer(a)")
        for operand in ("b", "c"):
            if operand in arguments:
                lua.execute(f"operands('{layout}'); {call(name, operand, rest)}")
                assert lua.eval(f"same({operand}, expected)")


@pytest.mark.parametrize(
    ("name", "arguments", "types"),
    [o for o in MAKERS if o[0] in ("cumsum", "cumprod", "tril", "triu", "sort", "cat", "conv2")],
)
def test_what_is_made_may_replace_its_source(
    states: dict[str, bridge.Lua], name: str, arguments: str, types: list[str]
) -> None:
    for lua in (states[kind] for kind in types):
        rest = f"a{', ' if arguments else ''}{arguments}"
        lua.execute(f"operands('plain'); expected = {call(name, 'a', arguments)}")
        lua.execute(f"operands('plain'); {call(name, 'a', rest)}")
        assert lua.eval("same(a, expected)")
