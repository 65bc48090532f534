"""to_lua: networks made of PyTorch modules have their outputs and gradients; what has no counterpart is refused."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import bridge
from bridge.convert import ConversionError, to_lua, to_torch

IMAGES, VOLUMES, ROWS = (2, 4, 9, 8), (2, 4, 5, 6, 7), (5, 6)
MODULES: list[tuple[nn.Module, tuple[int, ...]]] = [
    (nn.Linear(6, 3), ROWS),
    (nn.Linear(6, 3, bias=False), ROWS),
    (nn.Conv1d(6, 4, 3, 2, 1), (2, 6, 10)),
    (nn.Conv1d(6, 4, 3, bias=False), (2, 6, 10)),
    (nn.Conv2d(4, 6, (2, 3), (1, 2), (0, 1)), IMAGES),
    (nn.Conv2d(4, 6, 3, dilation=2, bias=False), IMAGES),
    (nn.Conv2d(4, 6, 3, groups=2), IMAGES),
    (nn.Conv2d(4, 6, 3, groups=2, bias=False), (4, 9, 8)),
    (nn.Conv2d(4, 8, (2, 3), 2, 1, groups=4), IMAGES),
    (nn.Conv2d(4, 4, 3, groups=4, bias=False), IMAGES),
    (nn.Conv2d(4, 4, 3, groups=4, dilation=2), IMAGES),
    (nn.Conv1d(6, 6, 3, groups=3), (2, 6, 10)),
    (nn.Conv1d(6, 4, 3, dilation=2), (2, 6, 10)),
    (nn.Conv3d(4, 6, 2, groups=2), VOLUMES),
    (nn.ConvTranspose2d(4, 6, 3, 2, groups=2), IMAGES),
    (nn.Conv3d(4, 3, (2, 1, 3), (1, 1, 2), (1, 0, 0)), VOLUMES),
    (nn.Conv3d(4, 3, 2, dilation=(2, 3, 1)), VOLUMES),
    (nn.ConvTranspose2d(4, 3, (2, 3), (3, 2), (0, 1), (2, 1)), IMAGES),
    (nn.ConvTranspose3d(4, 3, (2, 2, 3), (2, 1, 1), (1, 0, 1)), VOLUMES),
    (nn.BatchNorm1d(6), ROWS),
    (nn.BatchNorm2d(4, 1e-3, 0.2), IMAGES),
    (nn.BatchNorm2d(4, affine=False), IMAGES),
    (nn.BatchNorm3d(4), VOLUMES),
    (nn.Softmax(-1), (2, 3, 4)),
    (nn.GLU(), ROWS),
    (nn.GLU(1), IMAGES),
    (nn.LocalResponseNorm(3, 0.1, 0.6, 2), IMAGES),
    (nn.LayerNorm(6), ROWS),
    (nn.LayerNorm(6, elementwise_affine=False), (2, 3, 6)),
    (nn.MaxPool2d((2, 3), (1, 2), 1), IMAGES),
    (nn.MaxPool2d(3, 2, ceil_mode=True), IMAGES),
    (nn.MaxPool2d(2, 1, dilation=2), IMAGES),
    (nn.MaxPool3d((2, 2, 3), (1, 2, 2), (1, 0, 1)), VOLUMES),
    (nn.AvgPool2d(3, 2, 1, count_include_pad=False), IMAGES),
    (nn.AvgPool2d(2, divisor_override=3), IMAGES),
    (nn.AvgPool3d((2, 2, 3), (1, 2, 2)), VOLUMES),
    (nn.ReplicationPad3d((1, 2, 0, 1, 2, 0)), VOLUMES),
    (nn.AdaptiveAvgPool2d((4, 3)), IMAGES),
    (nn.AdaptiveMaxPool2d(2), IMAGES),
    (nn.Upsample(scale_factor=2), IMAGES),
    (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), IMAGES),
    (nn.PixelShuffle(2), IMAGES),
    (nn.ReflectionPad2d((1, 2, 3, 0)), IMAGES),
    (nn.ReplicationPad2d(1), IMAGES),
    (nn.ZeroPad2d((1, 2, 3, 0)), IMAGES),
    *[
        (module, ROWS)
        for module in (
            *(nn.ELU(0.7), nn.Hardshrink(0.2), nn.Hardtanh(-0.3, 0.4), nn.Identity(), nn.LeakyReLU(0.3)),
            *(
                nn.LogSigmoid(),
                nn.LogSoftmax(1),
                nn.PReLU(),
                nn.PReLU(6),
                nn.ReLU(),
                nn.ReLU6(),
                nn.Sigmoid(),
            ),
            *(nn.Softmax(-1), nn.Softmin(1), nn.Softplus(2), nn.Softshrink(0.2), nn.Softsign(), nn.Tanh()),
            *(nn.Tanhshrink(), nn.Threshold(0.1, -2), nn.SiLU(), nn.GELU("tanh")),
        )
    ],
    (nn.Sequential(nn.Conv2d(4, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(84, 3)), IMAGES),
]


class Residual(nn.Module):
    """Wiring that only torch.fx sees."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 6), nn.Linear(12, 3)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.first(x)) + x * 0.5
        result: Tensor = self.second(torch.cat([y, self.first(y)], 1)).tanh()
        return result


MODULES.append((nn.Sequential(Residual(), nn.Sigmoid()), ROWS))


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua(tensors="torch") as state:
        yield state


def own(module: nn.Module) -> Any:
    """A copy that the test may train."""
    return pickle.loads(pickle.dumps(module))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    ("module", "shape"), MODULES, ids=[repr(m)[:60].replace("\n", "") for m, _ in MODULES]
)
def test_outputs_and_gradients_are_the_modules(
    lua: bridge.Lua, module: nn.Module, shape: tuple[int, ...], training: bool, dtype: torch.dtype
) -> None:
    torch.manual_seed(5)
    module = own(module).to(dtype).train(training)
    x = torch.randn(shape, dtype=dtype, requires_grad=True)
    net = to_lua(module, lua, dtype=dtype)
    y = module(x)
    gradient = torch.randn_like(y)
    y.backward(gradient)
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-12, "atol": 1e-12}
    torch.testing.assert_close(net.forward(x.detach()), y.detach(), **tolerance)
    net.zeroGradParameters()
    assert x.grad is not None
    torch.testing.assert_close(net.backward(x.detach(), gradient), x.grad, **tolerance)
    _, gradients = net.parameters() or ([], [])
    apart = {gradient.data_ptr(): gradient for gradient in gradients or []}
    found = sorted(float(gradient.norm()) for gradient in apart.values())
    expected = sorted(float(p.grad.norm()) for p in module.parameters() if p.grad is not None)
    if getattr(module, "groups", 1) != 1:  # a layer for each group
        found, expected = [math.hypot(*found)], [math.hypot(*expected)]
    assert found == pytest.approx(expected, rel=1e-5 if dtype == torch.float32 else 1e-11)


def test_the_way_there_and_back_keeps_the_parameters(lua: bridge.Lua) -> None:
    module = nn.Sequential(nn.Linear(6, 3), nn.Tanh())
    back = to_torch(to_lua(module, lua))
    for one, other in zip(module.parameters(), back.parameters(), strict=True):
        assert torch.equal(one, other)


def test_shared_parameters_lie_in_the_same_memory(lua: bridge.Lua) -> None:
    module = nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3))
    net = to_lua(module, lua, share=True)
    lua.eval("function(net) net.modules[1].weight:fill(7) net.modules[2].running_mean:fill(2) end")(net)
    assert module.state_dict()["0.weight"].eq(7).all()
    assert module.state_dict()["1.running_mean"].eq(2).all()


def test_copies_are_apart(lua: bridge.Lua) -> None:
    module = nn.Linear(6, 3)
    before = module.weight.detach().clone()
    lua.eval("function(net) net.weight:fill(7) end")(to_lua(module, lua))
    assert torch.equal(module.weight, before)


def test_an_embedding_counts_from_1_in_lua(lua: bridge.Lua) -> None:
    module = nn.Embedding(5, 3, padding_idx=0)
    net = to_lua(module, lua)
    assert torch.equal(net.forward(torch.tensor([1, 5])), module(torch.tensor([0, 4])))
    assert net.paddingValue == 1


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (nn.MSELoss(), (3, 4)),
        (nn.L1Loss(reduction="sum"), (3, 4)),
        (nn.SmoothL1Loss(), (3, 4)),
        (nn.NLLLoss(), (3,)),
        (nn.CrossEntropyLoss(weight=torch.rand(4)), (3,)),
    ],
)
def test_losses_become_criterions(lua: bridge.Lua, module: nn.Module, shape: tuple[int, ...]) -> None:
    x = torch.randn(3, 4)
    target = torch.randn(shape) if len(shape) == 2 else torch.tensor([2, 0, 3])
    net = to_lua(module, lua)
    loss = net.forward(x, target if len(shape) == 2 else target + 1)
    loss = (
        loss[0] if isinstance(loss, tuple) else loss
    )  # Torch7's criterions of classes give the weights' sum too
    assert loss == pytest.approx(float(module(x, target)), rel=1e-5)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (nn.Sequential(nn.ReLU(), nn.GELU()), ("layer 1", "GELU", "no erf", "nn.GELU('tanh')")),
        (nn.Sequential(nn.ReLU(), nn.Mish()), ("layer 1", "Mish", "no layer")),
        (nn.Conv2d(4, 4, 3, padding_mode="reflect"), ("padding_mode='reflect'",)),
        (nn.LSTM(3, 2, proj_size=1), ("proj_size=1",)),
        (nn.MultiheadAttention(4, 2, add_zero_attn=True), ("add_zero_attn=True",)),
        (nn.TransformerEncoderLayer(4, 2, 5, activation="gelu"), ("activation", "relu")),
        (nn.LocalResponseNorm(4), ("size=4", "odd")),
        (nn.GLU(-2), ("dim=-2",)),
        (nn.BatchNorm1d(3, track_running_stats=False), ("track_running_stats=False",)),
        (nn.Linear(2, 2).to(torch.bfloat16), ("bfloat16", ".float()")),
        (nn.Softmax(2), ("dim=2", "-1")),
        (nn.Upsample(scale_factor=1.5), ("scale_factor=1.5",)),
        (nn.MSELoss(reduction="none"), ("reduction='none'",)),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(
    lua: bridge.Lua, module: nn.Module, words: tuple[str, ...]
) -> None:
    with pytest.raises(ConversionError) as raised:
        to_lua(module, lua)
    for word in words:
        assert word in str(raised.value)


def test_what_cannot_be_shared_is_refused_instead_of_copied(lua: bridge.Lua) -> None:
    module = nn.Conv2d(4, 6, 3).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    with pytest.raises(ConversionError, match="share=True, but Torch7's weight lies differently"):
        to_lua(module, lua, share=True)
