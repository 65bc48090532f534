"""Written models: read back by what reads such files, they compute the same; a file is replaced only when complete."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bridge.convert import to_torch
from bridge.convert.example import example
from bridge.convert.export import ExportError, save, verify
from tests.bridge.convert import models

# One model of each kind: tracing takes seconds.
TRACED = ["lenet_float", "lookup_tconv_double", "miniresnet_float"]


@pytest.fixture(scope="module")
def loaded() -> dict[str, dict[str, Any]]:
    return {name: models.load(name) for name in models.NAMES}


def model(entry: dict[str, Any]) -> tuple[nn.Module, torch.Tensor]:
    """The module, with indices from 0, and its input."""
    x = entry["input"]
    return to_torch(entry["model"]).eval(), x if x.is_floating_point() else x - 1


@pytest.mark.long
@pytest.mark.parametrize("name", models.NAMES)
@pytest.mark.parametrize("ending", [".pt", ".safetensors"])
def test_parameters_come_back(
    loaded: dict[str, dict[str, Any]], tmp_path: Path, name: str, ending: str
) -> None:
    module, x = model(loaded[name])
    file = tmp_path / f"model{ending}"
    save(module, file, x)
    assert verify(module, file, x) == 0
    other, _ = model(loaded[name])
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    if ending == ".pt":
        other.load_state_dict(torch.load(file, weights_only=True))
    else:
        from safetensors.torch import load_model

        load_model(other, str(file))
    assert torch.equal(other(x), module(x))


@pytest.mark.long
@pytest.mark.parametrize("name", TRACED)
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")
@pytest.mark.filterwarnings("ignore:The given buffer is not writable:UserWarning")  # torch 2.10
def test_a_program_computes_without_moontide_what_torch7_computed(
    loaded: dict[str, dict[str, Any]], tmp_path: Path, name: str
) -> None:
    module, x = model(loaded[name])
    save(module, tmp_path / "model.pt2", x)
    program = torch.export.load(tmp_path / "model.pt2").module()
    assert torch.equal(program(x), module(x))
    twice = torch.cat([x, x])  # the number of rows stayed open
    assert torch.equal(program(twice), module(twice))


@pytest.mark.long
@pytest.mark.parametrize("name", TRACED)
def test_onnx_computes_what_the_module_computes(
    loaded: dict[str, dict[str, Any]], tmp_path: Path, name: str
) -> None:
    module, x = model(loaded[name])
    save(module, tmp_path / "model.onnx", x)
    found = verify(module, tmp_path / "model.onnx", torch.cat([x, x]))
    assert found is not None
    assert found < 1e-5


def test_verify_notices_another_model(tmp_path: Path) -> None:
    module, x = nn.Linear(3, 2), torch.ones(2, 3)
    save(module, tmp_path / "model.pt", x)
    with torch.no_grad():
        module.weight.add_(1)
    found = verify(module, tmp_path / "model.pt", x)
    assert found is not None
    assert found > 0.1


def test_shared_parameters_are_stored_once_as_safetensors(tmp_path: Path) -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    module[1].weight = module[0].weight
    file = tmp_path / "model.safetensors"
    save(module, file, None)
    assert verify(module, file, None) == 0
    from safetensors import safe_open

    with safe_open(file, "pt") as opened:
        assert sorted(opened.keys()) == ["0.bias", "0.weight", "1.bias"]


class Untraceable(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(x.sum()) if float(x.sum()) > 0 else x


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".pt2", ".onnx"])
def test_what_cannot_be_traced_is_told_and_leaves_the_old_file(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"model{ending}"
    file.write_bytes(b"old")
    with pytest.raises(ExportError, match="cannot follow the model"):
        save(Untraceable(), file, torch.ones(2))
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("ending", "package"), [(".onnx", "onnx"), (".safetensors", "safetensors")])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    with pytest.raises(ExportError, match=rf"pip install 'moontide\[{package}\]'"):
        save(nn.Linear(2, 2), tmp_path / f"model{ending}", torch.ones(1, 2))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"\.pt, \.pt2, \.safetensors, \.onnx"):
        save(nn.Linear(2, 2), tmp_path / "model.h5", torch.ones(1, 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("lenet_float", (2, 1, 32, 32)),
        ("miniresnet_float", (2, 3, 8, 8)),
        ("mlp_double", (2, 10)),
        ("lookup_tconv_double", (2, 8)),
    ],
)
def test_an_input_is_guessed(loaded: dict[str, dict[str, Any]], name: str, shape: tuple[int, ...]) -> None:
    module, given = model(loaded[name])
    x = example(module, dtype=given.dtype)
    assert x.shape == shape
    assert module(x).shape[0] == 2
