"""Networks that a real Torch7 trained for a step: the converted module computes what it computed, and so does Lua.

Tolerances: 1e-12 for doubles, 1e-5 for floats, relative.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

import bridge
from bridge.convert import to_torch
from tests.bridge.convert import models

BASE = 1  # the data's targets and indices count as Torch7 does


@pytest.fixture(params=models.NAMES)
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def test_the_module_computes_what_torch7_computed(name: str) -> None:
    loaded = models.load(name)
    module = to_torch(loaded["model"], base=BASE)
    criterion = to_torch(loaded["criterion"], base=BASE)
    x = models.input_of(loaded)
    y = module(x)
    models.close(y, loaded["output"], name)
    y.retain_grad()
    loss = criterion(y, loaded["target"])
    assert loss.item() == pytest.approx(loaded["loss"], rel=1e-6 if name.endswith("float") else 1e-12)
    loss.backward()
    models.close(y.grad, loaded["gradOutput"], name)
    if x.requires_grad:
        assert x.grad is not None
        models.close(x.grad, loaded["gradInput"], name)
    # the gradients in Torch7's order, as a model's parameters
    models.with_parameters(loaded["model"], loaded["gradParams"])
    expected = models.named(to_torch(loaded["model"], base=BASE))
    for key, parameter in module.named_parameters():
        assert parameter.grad is not None
        models.close(parameter.grad, expected[key], name)


@pytest.mark.slow
def test_a_step_of_sgd_leads_where_it_led_torch7(name: str) -> None:
    loaded = models.load(name)
    module = to_torch(loaded["model"], base=BASE)
    statistics = {key: buffer.clone() for key, buffer in module.named_buffers()}

    criterion = to_torch(loaded["criterion"], base=BASE)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    criterion(module(loaded["input"]), loaded["target"]).backward()
    optimizer.step()
    if "paramsAfter" in loaded:
        models.with_parameters(loaded["model"], loaded["paramsAfter"])
        expected = models.named(to_torch(loaded["model"], base=BASE))
        for key, parameter in module.named_parameters():
            models.close(parameter, expected[key], name)
    module.eval()
    module.load_state_dict(statistics, strict=False)  # the file has those of after its pass
    models.close(module(loaded["input"]), loaded["outputAfterSgdEvaluate"], name)


def test_lua_computes_what_torch7_computed(name: str) -> None:
    with bridge.Lua(tensors="torch") as lua:
        lua.require("nn")

        step: Any = lua.execute("""
            require 'nn'
            return function(d)

               local params, gradParams = d.model:getParameters()
               gradParams:zero()
               local statistics = {}
               d.model:apply(function(m)
                  if m.running_mean then statistics[m] = {m.running_mean:clone(), m.running_var:clone()} end
               end)
               local result = {output = d.model:forward(d.input):clone()}
               result.loss = d.criterion:forward(result.output, d.target)
               result.gradOutput = d.criterion:backward(result.output, d.target)
               result.gradInput = d.model:backward(d.input, result.gradOutput):clone()
               result.gradParams = gradParams:clone()
               params:add(-0.1, gradParams)
               for m, kept in pairs(statistics) do m.running_mean:copy(kept[1]) m.running_var:copy(kept[2]) end
               d.model:evaluate()
               result.outputAfterSgdEvaluate = d.model:forward(d.input)
               return result
            end
        """)
        computed = step(lua.eval("torch.deserialize(...)", models.data(name)))
    expected = models.load(name)
    assert computed["loss"] == pytest.approx(expected["loss"], rel=1e-6 if name.endswith("float") else 1e-12)
    for key in ("output", "gradOutput", "gradInput", "gradParams", "outputAfterSgdEvaluate"):
        models.close(computed[key], expected[key], name)
