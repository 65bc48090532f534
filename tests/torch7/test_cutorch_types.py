"""torch.CudaTensor and its kin are types of their own on every backend: what they answer, and what comes of them."""

from __future__ import annotations

from typing import Any

import pytest

import bridge
from tests.elements import ALL

ARITHMETIC = ["Int", "Long", "Float", "Double"]


def cuda_name(element: str) -> str:
    return "Cuda" if element == "Float" else f"Cuda{element}"


EXPRESSIONS: list[tuple[str, Any]] = [
    ("torch.type(t)", "torch.CudaTensor"),
    ("type(t)", "userdata"),
    ("t:type()", "torch.CudaTensor"),
    ("torch.isTensor(t)", True),
    ("torch.isTypeOf(t, 'torch.CudaTensor')", True),
    ("torch.isTypeOf(t, 'torch.*Tensor')", True),
    ("torch.isTypeOf(t, 'torch.FloatTensor')", False),
    ("torch.typename(t:storage())", "torch.CudaStorage"),
    ("t:storage() == t:storage()", True),
    ("torch.isStorage(t:storage())", True),
    ("t:storage():type()", "torch.CudaStorage"),
    ("torch.type(t:size())", "torch.LongStorage"),
    ("torch.type(#t)", "torch.LongStorage"),
    ("t:size(2)", 3),
    ("t[2][3]", 6),
    ("t[{2, 3}]", 6),
    ("torch.type(t[1])", "torch.CudaTensor"),
    ("torch.type(t[{{}, 1}])", "torch.CudaTensor"),
    ("torch.type(t[t:gt(2)])", "torch.CudaTensor"),
    ("torch.type(t:gt(2))", "torch.CudaByteTensor"),
    ("torch.type(torch.gt(t, 2))", "torch.CudaByteTensor"),
    ("torch.type((t:max(2)))", "torch.CudaTensor"),
    ("torch.type(select(2, t:max(2)))", "torch.CudaLongTensor"),
    ("torch.type(select(2, torch.sort(t)))", "torch.CudaLongTensor"),
    ("torch.type(t:nonzero())", "torch.CudaLongTensor"),
    ("torch.type(t + 1)", "torch.CudaTensor"),
    ("torch.type(-t)", "torch.CudaTensor"),
    ("torch.type(2 * t)", "torch.CudaTensor"),
    ("torch.type(t * t:t())", "torch.CudaTensor"),
    ("torch.type(torch.mm(t, t:t()))", "torch.CudaTensor"),
    ("torch.type(torch.add(t, 1))", "torch.CudaTensor"),
    ("torch.type(torch.cat({t, t}, 1))", "torch.CudaTensor"),
    ("torch.type(t:split(1)[2])", "torch.CudaTensor"),
    ("torch.type(torch.inverse(torch.CudaTensor{{2, 0}, {0, 4}}))", "torch.CudaTensor"),
    ("torch.type(select(2, torch.symeig(torch.CudaTensor{{2, 0}, {0, 4}}, 'V')))", "torch.CudaTensor"),
    ("torch.type(torch.conv2(t, torch.CudaTensor{{1}}))", "torch.CudaTensor"),
    ("torch.type(t.new(3))", "torch.CudaTensor"),
    ("torch.type(t:new())", "torch.CudaTensor"),
    ("torch.type(t:clone())", "torch.CudaTensor"),
    ("torch.type(torch.factory('torch.CudaTensor')())", "torch.CudaTensor"),
    ("torch.getconstructortable('torch.CudaTensor') == torch.CudaTensor", True),
    ("torch.type(t:index(1, torch.LongTensor{1}))", "torch.CudaTensor"),
    ("torch.type(t:index(1, torch.CudaLongTensor{1}))", "torch.CudaTensor"),
    ("torch.type(t:copy(torch.Tensor(2, 3)))", "torch.CudaTensor"),
    ("torch.type(torch.Tensor(2, 3):copy(t))", "torch.DoubleTensor"),
    ("rawequal(t:fill(1), t)", True),
    ("rawequal(t:cuda(), t)", True),
    ("t:sum()", 21),
    ("t:getDevice()", 1),
    ("t:isSameSizeAs(t:clone())", True),
    ("torch.type(t:float())", "torch.FloatTensor"),
    ("torch.type(t:long())", "torch.LongTensor"),
    ("torch.type(t:type('torch.DoubleTensor'))", "torch.DoubleTensor"),
    ("torch.type(torch.Tensor(2):typeAs(t))", "torch.CudaTensor"),
    ("torch.type(t:typeAs(torch.Tensor(2)))", "torch.DoubleTensor"),
    ("torch.type(torch.zeros(2))", "torch.DoubleTensor"),
    ("torch.type(torch.add(torch.Tensor(2), 1))", "torch.DoubleTensor"),
    ("torch.type(torch.Tensor(2):gt(1))", "torch.ByteTensor"),
    ("torch.pointer(t) == torch.pointer(t)", True),
]


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(shared: bridge.Lua, expression: str, value: Any) -> None:
    assert shared.eval(expression) == value


@pytest.mark.parametrize("element", ALL)
def test_every_type_converts_there_and_back(shared: bridge.Lua, element: str) -> None:
    name = cuda_name(element)
    method = name[0].lower() + name[1:]
    code = f"""
    local cpu = torch.{element}Tensor{{1, 2, 3}}
    local device = cpu:{method}()
    local back = device:{element.lower()}()
    device:fill(7)
    return torch.type(device), torch.type(back), back:double():sum(), cpu:double():sum()
    """
    assert shared.execute(code) == (f"torch.{name}Tensor", f"torch.{element}Tensor", 6, 6)


@pytest.mark.parametrize("element", ALL)
def test_every_type_has_its_constructor_and_storage(shared: bridge.Lua, element: str) -> None:
    name = cuda_name(element)
    code = f"""
    local a, b = torch.{name}Tensor(2, 3), torch.{name}Tensor(torch.{name}Storage{{1, 2}})
    return a:nElement(), b[2], torch.type(a:storage()), tostring(b):match('%[(.*) of')
    """
    assert shared.execute(code) == (6, 2, f"torch.{name}Storage", f"torch.{name}Tensor")


@pytest.mark.parametrize("element", ARITHMETIC)
def test_arithmetic_stays_in_the_type(shared: bridge.Lua, element: str) -> None:
    name = cuda_name(element)
    code = (
        f"local a = torch.{name}Tensor{{1, 2}} local b = a:clone():add(a):mul(3) return torch.type(b), b[2]"
    )
    assert shared.execute(code) == (f"torch.{name}Tensor", 12)


def test_a_view_is_of_the_same_memory(cuda: bridge.Lua) -> None:
    assert cuda.execute("t:select(1, 2):fill(9) return t[2][1], t:storage()[4]") == (9, 9)


def test_the_text_names_the_type(cuda: bridge.Lua) -> None:
    assert cuda.eval("tostring(t)") == " 1  2  3\n 4  5  6\n[torch.CudaTensor of size 2x3]\n"
    assert cuda.eval("tostring(torch.CudaTensor{1}:storage())") == " 1\n[torch.CudaStorage of size 1]\n"


def test_a_result_that_was_given_keeps_its_type(cuda: bridge.Lua) -> None:
    code = (
        "local r = torch.FloatTensor() torch.add(r, t:float(), 1) return torch.type(r), torch.type(t:copy(r))"
    )
    assert cuda.execute(code) == ("torch.FloatTensor", "torch.CudaTensor")


def test_a_device_tensor_may_be_the_default(cuda: bridge.Lua) -> None:
    code = """
    torch.setdefaulttensortype('torch.CudaTensor')
    local named = torch.getdefaulttensortype()
    local made = {torch.type(torch.Tensor(2)), torch.type(torch.zeros(2)), torch.type(nn.Linear(2, 2).weight),
       torch.type(torch.getRNGState()), torch.type(torch.add(torch.FloatTensor(2), 1))}
    torch.setdefaulttensortype('torch.FloatTensor')
    return named, made, torch.type(torch.zeros(2)), torch.getdefaulttensortype()
    """
    assert cuda.execute(code) == (
        "torch.CudaTensor",
        ["torch.CudaTensor"] * 3 + ["torch.ByteTensor", "torch.FloatTensor"],
        "torch.FloatTensor",
        "torch.FloatTensor",
    )


def test_many_are_made_and_collected(cuda: bridge.Lua) -> None:
    assert cuda.execute(
        "local s = 0 for i = 1, 20000 do s = s + torch.CudaTensor(1000):fill(1)[1] end return s"
    ) == 20000  # fmt: skip
