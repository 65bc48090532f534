"""Every name of Torch7's packages exists: `tests/data/torch7/API.txt`, which a real Torch7 wrote.

`api_missing.txt` lists names (`<where> <name>`) that do not exist yet, and must be true itself: a name that exists has
to leave it. Where Torch7 lists one type of tensor or storage for all of a kind, the others are held to the same list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

DATA = Path(__file__).parents[1] / "data" / "torch7"
SECTION = re.compile(r"^## (.+?) \((\d+)\)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ALIKE = {
    "LongTensor": ["CharTensor", "ShortTensor", "IntTensor"],
    "LongStorage": [
        "ByteStorage",
        "CharStorage",
        "ShortStorage",
        "IntStorage",
        "FloatStorage",
        "HalfStorage",
    ],
}


PACKAGES = ["torch", "paths", "sys", "xlua", "tds", "threads", "nn", "optim", "graph", "nngraph", "image"]


def listed() -> dict[str, list[str]]:
    """Return the names by the class or package that has them."""
    names: dict[str, list[str]] = {"torch": []}
    for title, count, body in SECTION.findall((DATA / "API.txt").read_text()):
        section = body.split()
        assert len(section) == int(count), title
        if title.startswith("torch.* "):
            names["torch"] += section
        elif title.removesuffix(".*") in PACKAGES:
            names[title.removesuffix(".*")] = section
        elif title in ("nn modules", "nn criterions", "nn other"):
            names["nn"] = names.get("nn", []) + section
        elif match := re.fullmatch(r"torch\.(\w+) methods", title):
            for name in [match[1], *ALIKE.get(match[1], [])]:
                names[name] = section
    return names


NAMES = listed()
MISSING = {
    tuple(line.split())
    for line in (DATA / "api_missing.txt").read_text().splitlines()
    if line and not line.startswith("#")
}


@pytest.fixture(scope="module")
def existing() -> Iterator[dict[str, set[str]]]:
    """What there is of each class, inherited names too."""
    with bridge.Lua() as lua:
        names = lua.execute(
            """
           local packages = {...}
           for _, name in ipairs(packages) do
              packages[name] = require(name)
           end
           return function(class)
              local place = packages[class] or torch.getmetatable('torch.' .. class) or {}
              local names = {}
              for name in pairs(place) do
                 names[#names + 1] = tostring(name)
              end
              local parent = getmetatable(place)
              for name in pairs(not packages[class] and parent or {}) do
                 names[#names + 1] = tostring(name)
              end
              return names
           end""",
            *PACKAGES,
        )
        yield {where: set(names(where)) for where in NAMES}


@pytest.mark.parametrize("where", NAMES)
def test_has_every_name_of_torch7(existing: dict[str, set[str]], where: str) -> None:
    absent = [name for name in NAMES[where] if name not in existing[where] and (where, name) not in MISSING]
    assert absent == []


def test_what_is_listed_as_missing_does_not_exist(existing: dict[str, set[str]]) -> None:
    found = sorted((where, name) for where, name in MISSING if name in existing[where])
    assert found == [], "exist now: take them off api_missing.txt"


def test_every_line_of_the_list_is_a_name_of_the_file() -> None:
    assert {(where, name) for where in NAMES for name in NAMES[where]} >= MISSING


def test_an_element_type_has_its_own_functions(existing: dict[str, set[str]]) -> None:
    with bridge.Lua() as lua:
        lua.require("torch")
        assert lua.eval("torch.FloatTensor.torch.zeros(2):type()") == "torch.FloatTensor"
        assert lua.eval("torch.IntTensor.torch.range(1, 3):totable()") == [1, 2, 3]
        assert lua.eval("torch.LongTensor.torch.gesv == nil and torch.DoubleTensor.torch.gesv ~= nil")
        assert lua.eval("torch.DoubleTensor.torch.add(torch.ones(2), 1):sum()") == 4
    assert "torch" not in existing["HalfTensor"]


def test_indexing_by_name_says_whether_it_understood_the_key() -> None:
    with bridge.Lua() as lua:
        lua.require("torch")
        lua.execute(
            "t, s = torch.range(1, 3), torch.LongStorage{4, 5}; m, l = getmetatable(t), getmetatable(s)"
        )
        assert lua.eval("{m.__index__(t, 2)}") == [2, True]
        assert lua.eval("{m.__index__(t, 'size')}") == [False]
        assert lua.eval("m.__newindex__(t, 2, 9) and t[2] == 9 and not m.__newindex__(t, 'x', 1)")
        assert lua.eval("l.__index__(s, 2) == 5 and l.__len__(s) == 2")
