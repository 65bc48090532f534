"""Expressions whose results or errors a real Torch7 printed: `tests/data/torch7/BEHAVIOURS.txt`.

`behaviours_missing.txt` lists those that are not expected to agree yet, and must be true itself: one that starts to
agree has to leave it. `behaviours_unpredictable.txt` lists those that depend on memory never written, on an unknown
random state or on the original's own files: they only have to answer. Compared without trailing blanks; of errors,
without the place they name and the name of the function that a tail call hid from the original.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bridge

DATA = Path(__file__).parents[1] / "data" / "torch7"
ENTRY = re.compile(r">>> (.*?)\n(.*?)(?=\n?>>> |\Z)", re.DOTALL)
BEHAVIOURS = ENTRY.findall((DATA / "BEHAVIOURS.txt").read_text())


def listed(name: str) -> set[str]:
    lines = (DATA / name).read_text().splitlines()
    return {line for line in lines if line and not line.startswith("# ")}


MISSING = listed("behaviours_missing.txt")
UNPREDICTABLE = listed("behaviours_unpredictable.txt")


def comparable(text: str) -> str:
    text = text.strip()
    if not text.startswith("ERROR"):
        return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
    text = text.removeprefix("ERROR").strip()
    text = re.sub(r'^(\[string "[^\n]*?"\]|[^\s:]+\.lua|\(python\)):\d+: *', "", text)
    text = re.sub(r"to '[^']*'", "to 'f'", text).replace("calling 'f' on bad self", "")
    return "ERROR " + text.rstrip(")").strip()


@pytest.fixture(scope="module")
def describe() -> Iterator[Callable[[str], str]]:
    """What a state, in which the expressions run one after the other, answers to each."""
    with bridge.Lua() as lua:
        lua.require("torch")
        lua.require("nn")
        yield lua.execute((Path(__file__).parent / "behaviours.lua").read_text())


@pytest.fixture(scope="module")
def answers(describe: Callable[[str], str]) -> dict[str, str]:
    return {expression: comparable(describe(expression)) for expression, _ in BEHAVIOURS}


@pytest.mark.parametrize(
    ("expression", "expected"), [b for b in BEHAVIOURS if b[0] not in MISSING | UNPREDICTABLE]
)
def test_behaves_as_torch7(answers: dict[str, str], expression: str, expected: str) -> None:
    assert answers[expression] == comparable(expected)


def test_what_is_listed_as_missing_still_differs(answers: dict[str, str]) -> None:
    agree = [e for e, expected in BEHAVIOURS if e in MISSING and answers[e] == comparable(expected)]
    assert agree == [], "agree now: take them off behaviours_missing.txt"


def test_every_line_of_the_lists_is_an_expression_of_the_file() -> None:
    assert {expression for expression, _ in BEHAVIOURS} >= MISSING | UNPREDICTABLE
