"""What docs/walks.md names is in the code: each file, the functions that are defined there, the other names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages import ROOT

STEPS = re.findall(r"^\d+\. .*?(?=^\d+\. |^\S|\Z)", (ROOT / "docs/walks.md").read_text(), re.M | re.S)
FILE, NAME = r"`((?:\w+/)+\w+\.\w+)`", r"`([\w.:]+)`"
DEFINITION = {  # of a name, by the file's kind
    ".pxi": r"^\s*c?def .*?\b{}\(",
    ".lua": r"^\s*(?:local )?function {}\(",
    ".h": r"^\w.*\b{}\([^;]*$",
    ".c": r"^\w.*\b{}\([^;]*$",
    ".cpp": r"^\w.*\b{}\([^;]*$",
}


def is_defined(name: str, path: Path) -> bool:
    text = path.read_text()
    if path.suffix == ".pxi" and "." in name:
        kind, name = name.split(".")
        text = text.partition(f"class {kind}")[2]
    return bool(re.search(DEFINITION[path.suffix].format(re.escape(name)), text, re.MULTILINE))


def test_both_walks_are_read() -> None:
    assert len(STEPS) == 36


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.partition(".")[0])
def test_a_step_names_what_there_is(step: str) -> None:
    flat = " ".join(step.split())
    files = {ROOT / name for name in re.findall(FILE, flat)}
    pairs = re.findall(f"{FILE}: {NAME}", flat)
    assert pairs
    assert [(file, name) for file, name in pairs if not is_defined(name, ROOT / file)] == []
    text = "".join(file.read_text() for file in files)
    names = set(re.findall(NAME, flat)) - {name for _, name in pairs}
    assert [name for name in names if not re.search(rf"\b{re.escape(name)}\b", text)] == []
