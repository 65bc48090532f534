"""moontide convert: reports each layer, checks on random input, and writes nothing when the check fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import bridge
from moontide.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("models")
    with bridge.Lua() as lua:
        lua.execute(
            """
            require 'nngraph'
            local directory = ...
            local net = nn.Sequential():add(nn.Linear(4, 3)):add(nn.ReLU(true)):add(nn.Linear(3, 2)):add(nn.SoftMax())
            torch.save(directory .. '/net.t7', net)
            torch.save(directory .. '/table.t7', {model = net:clone():float(), epoch = 3, optimState = {}})
            torch.save(directory .. '/two.t7', {g = net, d = nn.Tanh()})
            torch.save(directory .. '/embedding.t7', nn.Sequential():add(nn.LookupTable(7, 3)):add(nn.Mean(2)))
            torch.save(directory .. '/pair.t7',
               nn.Sequential():add(nn.ParallelTable():add(nn.Linear(4, 2)):add(nn.Tanh())):add(nn.CAddTable()))
            torch.save(directory .. '/tanh.t7', nn.Tanh())
            local a, b = nn.Identity()(), nn.Identity()()
            torch.save(directory .. '/graph.t7', nn.gModule({a, b}, {nn.CMulTable()({nn.Linear(4, 2)(a), b})}))
            """,
            str(directory),
        )
    return directory


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(capsys.readouterr().out)
    return loaded


def test_each_layer_is_reported(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "net.pt"
    assert main(["convert", str(files / "net.t7"), str(output), "--json"]) == 0
    found = report(capsys)
    assert found["passed"]
    assert found["input"] == [2, 4]
    assert found["dtype"] == "float64"
    rows = [(row["name"], row["typename"], row["layer"], row["parameters"]) for row in found["layers"]]
    assert rows == [
        ("", "nn.Sequential", "Sequential", 23),
        ("0", "nn.Linear", "Linear", 15),
        ("1", "nn.ReLU", "ReLU", 0),
        ("2", "nn.Linear", "Linear", 8),
        ("3", "nn.SoftMax", "Softmax", 0),
    ]
    assert all(row["difference"] < 1e-12 for row in found["layers"])
    state = torch.load(output, weights_only=True)
    assert list(state) == ["0.weight", "0.bias", "2.weight", "2.bias"]


def test_the_report_is_readable(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(files / "net.t7"), str(tmp_path / "net.safetensors")]) == 0
    text = capsys.readouterr().out
    assert "check passed" in text
    assert "Linear(in_features=4, out_features=3, bias=True)" in text
    assert "read back: difference 0.0e+00" in text


@pytest.mark.parametrize(
    ("file", "options", "shape"),
    [
        ("table.t7", [], [2, 4]),
        ("two.t7", ["--key", "g"], [2, 4]),
        ("embedding.t7", [], [2, 8]),
        ("embedding.t7", ["--base", "1", "--input", "3x5"], [3, 5]),
        ("pair.t7", ["--input", "3x4", "--input", "3x2"], [[3, 4], [3, 2]]),
        ("graph.t7", ["--input", "3x4", "--input", "3x2"], [[3, 4], [3, 2]]),
        ("tanh.t7", ["--input", "5"], [5]),
    ],
)
def test_models_of_all_forms_are_converted(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, options: list[str], shape: Any
) -> None:
    assert main(["convert", str(files / file), str(tmp_path / "x.pt"), "--json", *options]) == 0
    found = report(capsys)
    assert found["passed"]
    assert found["input"] == shape


@pytest.mark.parametrize("ending", [".pt2", ".onnx"])
def test_tables_of_inputs_are_exported(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    output = str(tmp_path / f"x{ending}")
    sizes = ["--input", "3x4", "--input", "3x2", "--json"]
    assert main(["convert", str(files / "graph.t7"), output, *sizes]) == 0
    assert report(capsys)["difference_of_file"] < 1e-5


def test_a_failed_check_writes_nothing(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch import nn

    from bridge.convert import rows

    monkeypatch.setitem(rows.ROWS, "nn.SoftMax", lambda layer: nn.Softmax(0))  # type: ignore[index]
    output = tmp_path / "net.pt"
    output.write_text("old")
    assert main(["convert", str(files / "net.t7"), str(output), "--json"]) == 1
    found = report(capsys)
    assert not found["passed"]
    assert found["output"] is None
    assert [row["name"] for row in found["layers"] if row["difference"] > 1e-3] == ["", "3"]
    assert output.read_text() == "old"


@pytest.mark.parametrize(
    ("file", "output", "options", "message"),
    [
        ("none.t7", "x.pt", [], "there is no file"),
        ("two.t7", "x.pt", [], "several networks ('d', 'g')"),
        ("two.t7", "x.pt", ["--key", "e"], "no 'e'"),
        ("tanh.t7", "x.pt", [], "--input 1x3x224x224"),
        ("net.t7", "x.pt", ["--input", "2x5"], "net.t7"),
        ("net.t7", "none/x.pt", [], "none"),
    ],
)
def test_errors_are_one_message(
    files: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    output: str,
    options: list[str],
    message: str,
) -> None:
    assert main(["convert", str(files / file), str(tmp_path / output), *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith("moontide convert: ")
    assert message in error.replace("'g', 'd'", "'d', 'g'")


@pytest.mark.parametrize("arguments", [["x.t7", "y.h5"], ["x.t7", "y.pt", "--input", "2x0"]])
def test_bad_options_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["convert", *arguments])
    assert ended.value.code == 2


def test_layers_that_stay_luas_are_told_and_refused_where_a_program_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "partial.t7"
    with bridge.Lua() as lua:
        lua.execute(
            "require 'nn' torch.save(..., nn.Sequential():add(nn.Linear(4, 4)):add(nn.PartialLinear(4, 3)))",
            str(file),
        )
    assert main(["convert", str(file), str(tmp_path / "x.pt")]) == 0
    text = capsys.readouterr().out
    assert "LuaModule" in text
    assert "1 layers have no counterpart" in text
    assert main(["convert", str(file), str(tmp_path / "x.pt2")]) == 1
    assert "cannot follow the model" in capsys.readouterr().err
    assert not (tmp_path / "x.pt2").exists()
