"""Networks and random inputs for tests of Lua modules in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from bridge.legacy import nn

F64 = torch.float64


def randn(*size: int) -> torch.Tensor:
    return torch.randn(*size, dtype=F64, requires_grad=True)


def mlp() -> Any:
    return nn.Sequential().add(nn.Linear(4, 8)).add(nn.Tanh()).add(nn.Linear(8, 3)).add(nn.LogSoftMax())


def graph() -> Any:
    x, y = nn.Identity()(), nn.Identity()()
    h = nn.CMulTable()([nn.Sigmoid()(nn.Linear(4, 3)(x)), y])
    return nn.gModule([x, y], [h, nn.Tanh()(h)])
