"""Operators on a device give what they give on the CPU, of every type that has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bridge

# Statements over a, b (3 x 4), v (4 elements) and i (indices), all of one type, with `to` to bring host tensors beside
# them; what is left in r is compared.
REAL = [
    "r = a:clone():sqrt()",
    "r = torch.rsqrt(a)",
    "r = torch.exp(a)",
    "r = torch.log(a)",
    "r = torch.log1p(a)",
    "r = torch.sin(a):cos():tan()",
    "r = torch.atan(a)",
    "r = torch.sigmoid(a)",
    "r = torch.tanh(a)",
    "r = torch.round(a * 0.5)",
    "r = torch.round(a * -0.5)",
    "r = torch.floor(a * 0.3)",
    "r = torch.ceil(a * 0.3)",
    "r = torch.trunc(a * -0.3)",
    "r = torch.frac(a * 0.3)",
    "r = torch.pow(a, 3)",
    "r = torch.pow(2, a)",
    "r = torch.cpow(a, b)",
    "r = torch.atan2(a, b)",
    "r = torch.lerp(a, b, 0.25)",
    "r = torch.cinv(a)",
    "r = torch.addcdiv(a, 0.5, b, a)",
    "r = torch.addcmul(a, 0.5, b, a)",
    "r = torch.add(a, 0.25, b)",
    "r = a + 0.5",
    "r = a / 4 - b * 2 + 1",
    "r = 1 - a",
    "r = -a",
    "r = torch.clamp(a, 2.5, 4.5)",
    "r = torch.mean(a, 1)",
    "r = a:mean()",
    "r = {a:var(), a:std(), a:std(true)}",
    "r = torch.std(a, 2)",
    "r = torch.var(a, 1, true)",
    "r = {a:norm(), a:norm(1), a:norm(3), a:norm(0)}",
    "r = torch.norm(a, 2, 1)",
    "r = torch.norm(a, 3, 2)",
    "r = {a:dist(b), a:dist(b, 1), a:dist(b, 3)}",
    "r = torch.renorm(a, 2, 1, 3)",
    "r = torch.mm(a, b:t())",
    "r = torch.mv(a, v)",
    "r = torch.ger(v, v)",
    "r = torch.addmm(0.5, torch.mm(a, b:t()), 2, a, b:t())",
    "r = torch.addmv(0.5, v, 2, b:t():narrow(2, 1, 3), a:select(2, 1))",
    "r = torch.addr(torch.ger(v, v), 2, v, v)",
    "r = torch.bmm(a:view(1, 3, 4), b:t():contiguous():view(1, 4, 3))",
    "r = torch.baddbmm(torch.bmm(a:view(3, 4, 1), b:view(3, 1, 4)), a:view(3, 4, 1), b:view(3, 1, 4))",
    "r = torch.addbmm(torch.mm(a:t(), b), a:view(3, 4, 1), b:view(3, 1, 4))",
    "r = torch.histc(a, 5)",
    "r = torch.conv2(a, b:narrow(2, 1, 2):narrow(1, 1, 2))",
    "r = torch.xcorr2(a, b:narrow(2, 1, 2):narrow(1, 1, 2), 'F')",
    "r = torch.inverse(torch.mm(a, a:t()) + a.new():eye(3))",
    "r = {torch.symeig(torch.mm(a, a:t()), 'V')}",
    "r = {torch.svd(a)} r = r[2]",
    "r = (torch.gesv(b, torch.mm(a, a:t()) + a.new():eye(3)))",
    "r = torch.potrf(torch.mm(a, a:t()) + a.new():eye(3))",
]
NUMERIC = [
    "r = a + 2",
    "r = a * 3",
    "r = torch.div(a, 2)",
    "r = a % 3",
    "r = torch.fmod(a, 3)",
    "r = torch.add(a, 2, b)",
    "r = a - b",
    "r = torch.csub(a, 2, b)",
    "r = torch.cmul(a, b)",
    "r = torch.cdiv(a, b)",
    "r = torch.cfmod(a, b)",
    "r = torch.cremainder(a, b)",
    "r = torch.cmax(a, b)",
    "r = torch.cmax(a, 3)",
    "r = torch.cmin(a, b)",
    "r = torch.cmin(a, 3)",
    "r = torch.clamp(a, 2, 4)",
    "r = torch.sign(a)",
    "r = torch.addcmul(a, 2, b, a)",
    "r = torch.lshift(a, 1)",
    "r = a:clone():fill(7):zero()",
    "r = {torch.lt(a, b), torch.gt(a, 3), torch.le(a, b), torch.ge(a, 3), torch.eq(a, b), torch.ne(a, 3)}",
    "r = {a:clone():lt(a, b), torch.eq(a:clone(), a, 3)}",
    "r = {torch.equal(a, a:clone()), torch.equal(a, b), torch.equal(a, v)}",
    "r = {a:sum(), a:prod(), a:max(), a:min(), v:dot(v)}",
    "r = {torch.sum(a, 1), torch.sum(a, 2), torch.prod(a, 1)}",
    "r = {torch.cumsum(a, 1), torch.cumsum(a, 2), torch.cumprod(v)}",
    "r = {torch.max(a, 1)}",
    "r = {torch.min(a, 2)}",
    "r = {torch.sort(v)}",
    "r = {torch.sort(a, 1, true)}",
    "r = {torch.topk(v, 2, 1, true, true)}",
    "r = {torch.kthvalue(a, 2)}",
    "r = {torch.median(a)}",
    "r = {torch.mode(a)}",
    "r = a:index(1, i)",
    "r = a:index(2, to(i))",
    "r = a:clone() r:indexCopy(1, i, b:narrow(1, 1, 2))",
    "r = a:clone() r:indexAdd(2, i, b:narrow(2, 1, 2))",
    "r = a:clone() r:indexFill(2, i, 9)",
    "r = a:gather(2, to(torch.LongTensor{{1}, {4}, {2}}))",
    "r = a:clone() r:scatter(2, to(torch.LongTensor{{1}, {4}, {2}}), b:narrow(2, 1, 1))",
    "r = a:clone() r:scatter(1, torch.LongTensor{{1, 2, 3, 1}}, 9)",
    "r = a:clone() r:maskedFill(a:gt(3), 0)",
    "r = a:clone() r:maskedCopy(a:gt(3), b)",
    "r = a:maskedSelect(a:gt(3))",
    "r = a[a:gt(3)]",
    "r = a:clone() r[r:gt(3)] = 0 r[1] = 5 r[{2, {1, 2}}] = 6 r[3][4] = 8 r[{3, 1}] = 9",
    "r = a:maskedSelect(a:gt(100))",
    "r = a:gt(3):nonzero()",
    "r = {torch.tril(a), torch.triu(a, 1), torch.diag(v), torch.diag(a), torch.trace(a)}",
    "r = torch.cross(a, b)",
    "r = torch.cat({a, b}, 1)",
    "r = torch.cat(a, v:view(1, 4), 1)",
    "r = torch.repeatTensor(v, 2, 2)",
    "r = {a:split(2)[2], a:chunk(2, 2)[1], a:unfold(2, 2, 1), a:t(), a:select(2, 3), v[-1], a[{2, 3}]}",
    "r = {a:t():contiguous(), a:reshape(4, 3), a:view(2, 6), v:view(1, 4):expand(3, 4), a:t():clone()}",
    "r = {a:t():copy(b:view(4, 3)), a:clone():copy(b:t())}",
    "r = a:clone() r:narrow(2, 2, 3):copy(r:narrow(2, 1, 3))",
    "r = a:clone():resize(2, 2)",
    "r = v:clone() local s = r:narrow(1, 2, 2) r:resize(10):narrow(1, 5, 6):zero() s:fill(3)",
    "r = a:clone():apply(function(x) return x + 1 end)",
    "r = a:clone():map(b, function(x, y) return x * y end)",
    "r = a.new():range(1, 5)",
    "r = a.new():eye(3)",
    "r = {a.new():resize(a:size()):fill(1), a.new{1, 2}, a.new(a:storage(), 2, 3), a:totable()}",
    "r = {a:double(), a:long(), a:byte():int(), to(a:float()), to(torch.ShortTensor{1, 2})}",
    "r = a:squeeze() r = r:view(1, 3, 1, 4):squeeze()",
    "r = {a:storage()[2], #a:storage(), a:clone():storage():fill(3):totable(), a:storage():totable()}",
    "r = {a.new(), a.new():clone(), a.new():sum(), a.new():dim()}",
    "r = torch.mm(a, b:t())",
]
SETUP = """
local statement, element, device = ...
local function to(t) return device and t:type(t:type():gsub('torch%.', 'torch.Cuda'):gsub('CudaFloat', 'Cuda')) or t end
local function make(list) return to(torch[element .. 'Tensor'](list)) end
local scope = {to = to, i = torch.LongTensor{3, 1}, v = make{3, 1, 2, 2},
   a = make{{1, 5, 3, 2}, {4, 2, 6, 3}, {2, 3, 1, 7}}, b = make{{2, 1, 4, 3}, {3, 6, 2, 1}, {1, 2, 5, 2}}}
setmetatable(scope, {__index = _G})
setfenv(assert(loadstring(statement)), scope)()
local kinds = {}
local function host(value)
   if torch.isTensor(value) then
      kinds[#kinds + 1] = torch.type(value)
      return {value:size():totable(), value:double():totable()}
   elseif type(value) == 'table' then
      local list = {}
      for k = 1, #value do
         list[k] = host(value[k])
      end
      return list
   end
   return value
end
return host(scope.r), kinds
"""


def flat(value: Any) -> list[float]:
    if isinstance(value, list):
        return [x for inner in value for x in flat(inner)]
    return [float(value)]


def on_the_device(kind: str) -> str:
    return kind.replace("torch.", "torch.Cuda").replace("CudaFloat", "Cuda")


CASES = [(statement, ["Float", "Double"]) for statement in REAL]
CASES += [(statement, ["Byte", "Int", "Long", "Float"]) for statement in NUMERIC]


@pytest.mark.parametrize(("statement", "elements"), CASES)
def test_it_is_what_the_cpu_gives(shared: bridge.Lua, statement: str, elements: list[str]) -> None:
    for element in elements:
        expected, kinds = shared.execute(SETUP, statement, element, False)
        got, there = shared.execute(SETUP, statement, element, True)
        np.testing.assert_allclose(flat(got), flat(expected), rtol=1e-5, atol=1e-5)
        converted = ":double()" in statement  # to the CPU's types
        assert converted or there == [on_the_device(kind) for kind in kinds]


# LAPACK, convolutions and histograms are for floats and doubles on a GPU, too.
NOT_OF_HALVES = ("histc", "conv2", "xcorr2", "inverse", "symeig", "svd", "gesv", "potrf")


@pytest.mark.parametrize(
    "statement", [s for s in REAL + NUMERIC if not any(name in s for name in NOT_OF_HALVES)]
)
def test_halves_are_what_floats_give(shared: bridge.Lua, statement: str) -> None:
    expected, _ = shared.execute(SETUP, statement, "Float", True)
    got, kinds = shared.execute(SETUP, statement, "Half", True)
    np.testing.assert_allclose(flat(got), flat(expected), rtol=4e-3, atol=2e-3)
    converted = ":double()" in statement or "nonzero" in statement or ":gt(100)" in statement
    assert converted or all("Cuda" in kind for kind in kinds)
