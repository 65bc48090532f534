"""moontide inspect: layers, shapes, parameters and bytes of a file, without a Lua state."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bridge import t7
from moontide.cli import main

FILES = Path(__file__).parents[1] / "data" / "torch7" / "files"
MLP = str(FILES / "model_mlp_float.t7")


def test_layers_are_listed_with_their_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", MLP]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(line for line in lines if "nn.Linear" in line)
    assert first.split() == ["0", "nn.Linear", *first.split()[2:-2], "220", "880"]
    assert "weight 20x10" in first
    assert "bias 20" in first
    assert lines[-1].startswith("325 parameters of torch.FloatTensor")


def test_json_has_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", MLP, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["parameters"] == 325
    layers = {layer["name"]: layer for layer in found["layers"]}
    assert layers["model.0"]["tensors"]["weight"] == {"type": "torch.FloatTensor", "shape": [20, 10]}
    assert layers["model.2"]["parameters"] == 105


def test_a_layer_that_is_there_twice_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    layer = t7.TorchObject("nn.Tanh", {"train": True})
    t7.save(t7.TorchObject("nn.Sequential", {"modules": [layer, layer]}), tmp_path / "net.t7")
    assert main(["inspect", str(tmp_path / "net.t7")]) == 0
    assert capsys.readouterr().out.count("(as above)") == 1


@pytest.mark.parametrize("options", [[], ["--tree"]])
def test_a_file_without_a_network_is_shown_as_a_tree(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(FILES / "tensor_5d.t7"), *options]) == 0
    assert "torch.FloatTensor of size 2x1x3x2x2" in capsys.readouterr().out


def test_infinite_settings_are_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t7.save(t7.TorchObject("nn.Normalize", {"p": float("inf")}), tmp_path / "net.t7")
    assert main(["inspect", str(tmp_path / "net.t7"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["layers"][0]["settings"] == {"p": "inf"}


def test_what_is_no_torch7_file_is_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.t7").write_bytes(b"PK\x03\x04")
    assert main(["inspect", str(tmp_path / "x.t7")]) == 1
    assert "zip archive" in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "none.t7")]) == 1
    assert "none.t7" in capsys.readouterr().err


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """A graph and a criterion inside tables, as programs keep them, beside other things."""
    linear = t7.TorchObject(
        "nn.Linear", {"weight": np.ones((3, 2), np.float32), "bias": np.ones(3, np.float32)}
    )
    plain = [t7.TorchObject(f"nn.{name}", {"train": True}) for name in ("Tanh", "Tanh", "CAddTable")]
    graph = t7.TorchObject("nn.gModule", {"modules": [linear, *plain], "forwardnodes": []})
    protos = {"rnn": graph, "criterion": t7.TorchObject("nn.ClassNLLCriterion", {"sizeAverage": True})}
    t7.save({"protos": protos, "vocab": {str(i): i for i in range(300)}, "epoch": 3}, tmp_path / "lm.t7")
    return str(tmp_path / "lm.t7")


def test_networks_inside_tables_are_named_and_printed(
    checkpoint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", checkpoint]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["protos.rnn", "nn.gModule"] in lines
    assert ["protos.criterion", "nn.ClassNLLCriterion"] in lines
    assert any(line[:2] == ["0", "nn.Linear"] for line in lines)
    # the wiring of a graph in one line
    assert ["...", "3", "without", "tensors", "1", "CAddTable,", "2", "Tanh"] in lines
    assert len(lines) == 6


def test_a_key_leads_to_one_network(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", checkpoint, "--key", "protos.rnn", "--json"]) == 0
    names = [layer["name"] for layer in json.loads(capsys.readouterr().out)["layers"]]
    assert names == ["protos.rnn", *(f"protos.rnn.{place}" for place in range(4))]
    for key, words in (("protos.cnn", "there is no 'cnn'; there is"), ("vocab", "vocab is no network")):
        assert main(["inspect", checkpoint, "--key", key]) == 1
        assert words in capsys.readouterr().err
