"""moontide convert: reports each layer, checks on random input, and writes nothing when the check fails."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_report_is_readable(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(files / "net.t7"), str(tmp_path / "net.safetensors")]) == 0
    text = capsys.readouterr().out
    assert "check passed" in text
    assert "Linear(in_features=4, out_features=3, bias=True)" in text
    assert "read back: difference 0.0e+00" in text


@pytest.mark.long
@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_what_is_being_done(files: Path, tmp_path: Path, terminal: bool) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "moontide", "convert", str(files / "net.t7"), str(tmp_path / "net.pt")],
            stdout=subprocess.PIPE,
            stderr=theirs if terminal else subprocess.PIPE,
            text=True,
            timeout=100,
            check=True,
            env={**os.environ, "COLUMNS": "40"},
        )
        assert "check passed" in done.stdout
        if not terminal:
            assert done.stderr == ""
            return
        told = os.read(ours, 1 << 16).decode().split("\r\x1b[K")
    finally:
        os.close(ours)
        os.close(theirs)
    assert told[1].startswith("reading ")
    assert [line for line in told if line.startswith("comparing")] == [
        f"comparing layer {number} of 5" for number in (1, 2, 3, 4, 5)
    ]
    assert max(map(len, told)) == 39  # a longer line would not be gone at the end
    assert (told[0], told[-1]) == ("", "")


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert len(error.splitlines()) == 1
    assert message in error.replace("'g', 'd'", "'d', 'g'")


@pytest.mark.parametrize("arguments", [["x.t7", "y.h5"], ["x.t7", "y.pt", "--input", "2x0"]])
def test_bad_options_are_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["convert", *arguments])
    assert ended.value.code == 2


@pytest.mark.slow
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


# ---- checkpoints with networks inside tables

LSTM = """
require 'nngraph'
local directory = ...
local x, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
local sums = nn.CAddTable(){nn.Linear(5, 12)(nn.LookupTable(7, 5)(x)):annotate{name = 'i2h'}, nn.Linear(3, 12)(h)}
local i, f, o, g = nn.SplitTable(2)(nn.Reshape(4, 3)(sums)):split(4)
local next_c = nn.CAddTable(){nn.CMulTable(){nn.Sigmoid()(f), c}, nn.CMulTable(){nn.Sigmoid()(i), nn.Tanh()(g)}}
local next_h = nn.CMulTable(){nn.Sigmoid()(o), nn.Tanh()(next_c)}
local rnn = nn.gModule({x, c, h}, {next_c, next_h, nn.LogSoftMax()(nn.Linear(3, 7)(next_h))}):float()
local protos = {rnn = rnn, criterion = nn.ClassNLLCriterion()}
torch.save(directory .. '/lm.t7', {protos = protos, opt = {rnn_size = 3}, vocab = {a = 1, b = 2}, epoch = 1.5})
torch.save(directory .. '/two_inside.t7', {protos = {rnn = rnn, cnn = nn.Tanh()}, list = {{net = nn.Linear(2, 1)}}})
torch.save(directory .. '/words.t7', nn.Sequential():add(nn.LookupTable(7, 3)):add(nn.TemporalConvolution(3, 4, 3)))
local fixed = nn.Sequential():add(nn.LookupTable(7, 3)):add(nn.Reshape(24, true)):add(nn.Linear(24, 2))
torch.save(directory .. '/fixed.t7', fixed)
torch.save(directory .. '/images.t7', nn.Sequential():add(nn.SpatialConvolution(3, 2, 3, 3)):add(nn.Tanh()))
"""
STATE = ("--input", "?:long", "--input", "?x3", "--input", "?x3")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("checkpoints")
    with bridge.Lua() as lua:
        lua.execute(LSTM, str(directory))
    return directory


def convert(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, Any]:
    assert main(["convert", *map(str, arguments), "--json"]) == 0
    return report(capsys)


@pytest.mark.slow
@pytest.mark.parametrize("key", [[], ["--key", "protos.rnn"]], ids=["the only one", "by its key"])
def test_a_network_inside_tables_is_found(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], key: list[str]
) -> None:
    found = convert(capsys, checkpoints / "lm.t7", tmp_path / "lm.pt2", *key, *STATE)
    assert found["passed"]
    assert found["input"] == [[2], [2, 3], [2, 3]]
    assert found["takes"] == [[None], [None, 3], [None, 3]]
    module = bridge.to_torch(checkpoints / "lm.t7", key="protos.rnn").eval()
    program = torch.export.load(tmp_path / "lm.pt2").module()
    x = [torch.tensor([0, 6, 3, 2, 1]), torch.randn(5, 3), torch.randn(5, 3)]
    for one, other in zip(program(x), module(x), strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
def test_a_model_of_several_inputs_that_are_not_given_is_one_line(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options in ([], STATE[:4]):
        assert main(["convert", str(checkpoints / "lm.t7"), str(tmp_path / "lm.pt2"), *options]) == 1
        error = capsys.readouterr().err
        assert len(error.splitlines()) == 1
        assert "once for each tensor" in error


@pytest.mark.slow
def test_modules_that_hand_indices_on_do_not_differ(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = convert(capsys, checkpoints / "lm.t7", tmp_path / "lm.pt", *STATE)
    assert max(layer["difference"] for layer in found["layers"]) < 1e-5


@pytest.mark.slow
def test_a_recurrent_step_becomes_onnx(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = convert(capsys, checkpoints / "lm.t7", tmp_path / "lm.onnx", *STATE)
    assert found["takes"] == [[None], [None, 3], [None, 3]]
    assert found["difference_of_file"] < 1e-5


def test_several_networks_inside_are_named_by_their_way(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(checkpoints / "two_inside.t7"), str(tmp_path / "x.pt")]) == 1
    told = capsys.readouterr().err
    assert "'protos.rnn'" in told
    assert "'protos.cnn'" in told
    assert "'list.0.net'" in told
    assert "--key" in told
    assert (
        main(["convert", str(checkpoints / "two_inside.t7"), str(tmp_path / "x.pt"), "--key", "list.0.net"])
        == 0
    )
    assert (
        main(["convert", str(checkpoints / "two_inside.t7"), str(tmp_path / "x.pt"), "--key", "protos.rnm"])
        == 1
    )
    assert "there is no 'rnm'; there is" in capsys.readouterr().err


@pytest.mark.slow
def test_the_length_of_a_sequence_stays_open(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = convert(capsys, checkpoints / "words.t7", tmp_path / "words.pt2")
    assert (found["takes"], found["frozen"]) == ([[None, None]], [])
    program = torch.export.load(tmp_path / "words.pt2").module()
    assert program(torch.ones(3, 17, dtype=torch.int64)).shape == (3, 15, 4)


@pytest.mark.slow
def test_a_length_that_the_model_fixes_is_warned_of(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(checkpoints / "fixed.t7"), str(tmp_path / "fixed.pt2")]) == 0
    told = capsys.readouterr().out
    assert "takes ?x8, of any size where a ? stands" in told
    assert "WARNING: size 1 of input 0 (counted from 0) is frozen at 8" in told


@pytest.mark.slow
def test_other_sizes_are_opened_by_a_question_mark(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = convert(capsys, checkpoints / "images.t7", tmp_path / "images.pt2", "--input", "?x3x?x?")
    assert (found["takes"], found["frozen"]) == ([[None, 3, None, None]], [])
    program = torch.export.load(tmp_path / "images.pt2").module()
    assert program(torch.ones(1, 3, 20, 11, dtype=torch.float64)).shape == (1, 2, 18, 9)
    closed = convert(capsys, checkpoints / "images.t7", tmp_path / "images.pt2", "--input", "2x3x8x8")
    assert closed["takes"] == [[None, 3, 8, 8]]


@pytest.mark.parametrize("text", ["2x4:longs", "2x-4", "2xx4", "?x?x:long"])
def test_an_input_that_makes_no_sense_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["convert", "a.t7", "a.pt", "--input", text])
    assert ended.value.code == 2
    assert "--input" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04 and so on", "a zip archive, as torch.save of PyTorch writes: use torch.load"),
        (b"\x80\x02}q\x00.", "a Python pickle"),
        (b"", "it is empty"),
        (None, ": at byte "),
    ],
    ids=["PyTorch", "pickle", "empty", "cut off"],
)
def test_a_file_that_is_no_model_is_one_line(
    checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, words: str
) -> None:
    file = tmp_path / "bad.t7"
    file.write_bytes((checkpoints / "words.t7").read_bytes()[:300] if content is None else content)
    told = []
    for command in (["inspect", str(file)], ["convert", str(file), str(tmp_path / "x.pt")]):
        assert main(command) == 1
        told.append(capsys.readouterr().err.partition(": ")[2])
    assert told[0] == told[1]
    assert words in told[0]
    assert told[0].count("\n") == 1
