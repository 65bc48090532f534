"""`moontide call`: arguments in JSON and files, results as JSON or .npy."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from moontide.cli import main

PROGRAM = """
require 'torch'
local M = {}
function M.greet(name, n) return {text = ('hi ' .. name .. ' '):rep(n), parts = {1, 2.5, 1/0, 0/0}, none = {}} end
function M.several(list) return #list, list[1], nil, true end
function M.tensor(x) return torch.Tensor(x):view(-1):cumsum(1) end
function M.sum(x) return x:sum() end
function M.network() return require('nn').Linear(2, 2) end
function M.fail() error('no such luck') end
function M.deep() local t = {} for _ = 1, 200 do t = {t} end return t end
return M
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    file = tmp_path / "program.lua"
    file.write_text(PROGRAM)
    return str(file)


def result(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["call", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["call", *arguments]) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("moontide call: ")
    return error


def test_tables_texts_and_numbers_go_both_ways(capsys: pytest.CaptureFixture[str], program: str) -> None:
    assert result(capsys, program, "--function", "greet", '"bob"', "2") == {
        "text": "hi bob hi bob ",
        "parts": [1, 2.5, "inf", "nan"],
        "none": [],
    }
    assert result(capsys, program, '["a", "b"]', "--function=several") == [2, "a", None, True]
    assert result(capsys, "--function", "tensor", program, "[[1, 2], [3, 4]]") == [1, 3, 6, 10]


@pytest.mark.parametrize("way", ["npy", "json", "stdin"])
def test_an_argument_may_be_a_file(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    tmp_path: Path,
    way: str,
) -> None:
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(2, 3))
    (tmp_path / "x.json").write_text("[0, 1, 2, 3, 4, 5]")
    monkeypatch.setattr("sys.stdin", io.StringIO("[15]"))
    function, text = {
        "npy": ("sum", f"@{tmp_path}/x.npy"),
        "json": ("several", f"@{tmp_path}/x.json"),
        "stdin": ("several", "@-"),
    }[way]
    expected: dict[str, Any] = {"npy": 15, "json": [6, 0, None, True], "stdin": [1, 15, None, True]}
    assert result(capsys, program, "--function", function, text) == expected[way]


def test_a_network_is_called_by_its_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "model.t7"
    with bridge.Lua() as lua:
        lua.execute(
            "require 'nn' local m = nn.Linear(2, 1) m.weight:fill(1) m.bias:fill(0.5) "
            "torch.save(..., {model = m:float(), other = nn.Identity()})",
            str(file),
        )
    assert result(capsys, str(file), "--key", "model", "[[1, 2], [3, 4]]") == [[3.5], [7.5]]
    output = tmp_path / "y.npy"
    assert main(["call", str(file), "--key=model", "[1, 2]", "--output", str(output)]) == 0
    written = np.load(output)
    assert (written.tolist(), written.dtype) == ([3.5], np.float32)
    assert "several networks" in refusal(capsys, str(file), "[1, 2]")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--function", "greet", "bob"),
            "bob: Expecting value: line 1 column 1 (char 0); a text is written '\"bob\"'",
        ),
        (("--function", "sum", "@none.npy"), "No such file or directory: 'none.npy'"),
        (("--function", "fail"), "no such luck"),
        (("--function", "network"), "the result has a nn.Linear in it, which has no form in JSON"),
        (("--function", "deep"), "more than 100 lists and objects inside each other"),
        (
            ("--function", "greet", '"a"', "1", "--output", "x.npy"),
            "--output is for an array; the result is a dict",
        ),
        ((), "defines several functions; it has deep, fail, greet, network, several, sum, tensor"),
    ],
)
def test_what_does_not_work_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    program: str,
    arguments: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert told in refusal(capsys, program, *arguments)
    assert not (tmp_path / "x.npy").exists()


def test_pickles_in_arrays_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, program: str
) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert "allow_pickle=False" in refusal(capsys, program, "--function", "sum", f"@{file}")


def test_functions_of_a_file_run_only_when_they_are_trusted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = str(tmp_path / "model.t7")
    with bridge.Lua(allow_functions=True) as lua:
        lua.execute(
            "require 'nn' local m = nn.Identity() m.double = function(self, x) return 2 * x end torch.save(..., m)",
            file,
        )
    assert "allow_functions" in refusal(capsys, file, "--function", "double", "4")
    assert result(capsys, file, "--function", "double", "4", "--allow-functions") == 8
