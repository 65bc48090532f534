"""Networks that a real Torch7 wrote, each with what it computed: see tests/data/torch7/README.md."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bridge import t7
from bridge.t7.objects import TorchObject

DIRECTORY = Path(__file__).parents[2] / "data" / "torch7" / "models"
NAMES = sorted(path.name.removesuffix(".t7.xz") for path in DIRECTORY.glob("*.t7.xz"))


def data(name: str) -> bytes:
    """The file's bytes."""
    return lzma.decompress((DIRECTORY / f"{name}.t7.xz").read_bytes())


def load(name: str) -> dict[str, Any]:
    """The file, by bridge.t7."""
    loaded: dict[str, Any] = t7.loads(data(name), tensors="torch")
    return loaded


def tolerance(name: str) -> dict[str, float]:
    """What is allowed of rounding: other kernels add in another order."""
    return {"rtol": 1e-5, "atol": 1e-6} if name.endswith("float") else {"rtol": 1e-12, "atol": 1e-13}


def with_parameters(model: TorchObject, flat: Tensor) -> None:
    """Put numbers in the place of a model's parameters, in the order of Torch7's getParameters."""
    position = 0
    for layer in layers(model):
        for field in ("weight", "bias"):
            tensor = layer.fields().get(field)
            if isinstance(tensor, Tensor):
                tensor.copy_(flat[position : position + tensor.numel()].view_as(tensor))
                position += tensor.numel()
    assert position == flat.numel()


def layers(model: TorchObject) -> list[TorchObject]:
    """All layers without others inside, in order."""
    inner = model.fields().get("modules")
    return [model] if inner is None else [leaf for child in inner for leaf in layers(child)]


def named(module: nn.Module) -> dict[str, Tensor]:
    """Parameters by name, detached."""
    return {name: parameter.detach().clone() for name, parameter in module.named_parameters()}


def input_of(loaded: dict[str, Any]) -> Tensor:
    """The input as a leaf of autograd, where it can be one."""
    x: Tensor = loaded["input"].clone()
    return x.requires_grad_() if x.is_floating_point() else x


def close(actual: Tensor, expected: Tensor, name: str) -> None:
    """Compare within the tolerance; small numbers by the size of the largest."""
    bounds = tolerance(name)
    scale = max(1.0, float(expected.abs().max()))
    torch.testing.assert_close(
        actual.detach(), expected, rtol=bounds["rtol"], atol=bounds["atol"] * scale, check_dtype=True
    )
