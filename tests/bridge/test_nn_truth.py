"""Models that a real Torch7 wrote, trained one step inside PyTorch: its losses, gradients and parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import bridge
from bridge import legacy
from bridge.nn import LuaCriterion, LuaModule

FILES = Path(__file__).parents[1] / "data" / "torch7" / "files"
MODELS = [
    ("model_mlp_float.t7", "binary"),
    ("model_mlp_double.ascii.t7", "ascii"),
    ("model_lookup_tconv_float.t7", "binary"),
]


@pytest.fixture(autouse=True, scope="module")
def state() -> Iterator[bridge.Lua]:
    with bridge.Lua(tensors="torch") as lua, legacy.use(lua):
        yield lua


@pytest.mark.parametrize(("name", "form"), MODELS)
def test_a_step_of_torch_s_optimiser_is_torch7_s(name: str, form: str) -> None:
    truth: dict[str, Any] = legacy.load(FILES / name, form)
    model, criterion = LuaModule(truth["model"], base=1), LuaCriterion(truth["criterion"], base=1)
    output = model(truth["input"])
    loss = criterion(output, truth["target"])
    loss.backward()
    torch.testing.assert_close(output.detach(), truth["output"])
    assert loss.item() == pytest.approx(truth["loss"])
    gradients = torch.cat([parameter.grad.reshape(-1) for parameter in model.parameters()])
    torch.testing.assert_close(gradients, truth["gradParams"])
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    torch.testing.assert_close(
        torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()]), truth["paramsAfter"]
    )
    model.eval()
    torch.testing.assert_close(model(truth["input"]).detach(), truth["outputAfterSgdEvaluate"])


@pytest.mark.parametrize(("name", "form"), MODELS)
def test_targets_and_indices_of_python_count_from_0(name: str, form: str) -> None:
    truth: dict[str, Any] = legacy.load(FILES / name, form)
    indexed = "lookup" in name
    given = truth["input"] - 1 if indexed else truth["input"]
    output = truth["model"].forward(given)
    assert truth["criterion"].forward(output, truth["target"] - 1) == pytest.approx(truth["loss"])
    truth["model"].zeroGradParameters()
    truth["model"].backward(given, truth["criterion"].backward(output, truth["target"] - 1))
    torch.testing.assert_close(truth["model"].getParameters()[1], truth["gradParams"])
