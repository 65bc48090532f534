"""The classes of bridge.legacy.nn as Python sees them, without any Lua."""

from __future__ import annotations

import ast
import inspect
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bridge
from bridge.boundary.marks import shift_position
from bridge.legacy import nn, optim, stubs
from bridge.legacy.positions import fields, rows

API = (Path(__file__).parents[1] / "data" / "torch7" / "API.txt").read_text()


def section(title: str) -> list[str]:
    return API.split(f"## {title}")[1].split("\n")[1].split()


@pytest.mark.parametrize("title", ["nn modules", "nn criterions", "nn other"])
def test_every_name_of_torch7_is_an_attribute(title: str) -> None:
    names = section(title)
    assert set(names) <= set(dir(nn))
    for name in names:
        assert getattr(nn, name) is not None


def test_every_name_of_optim_is_an_attribute() -> None:
    names = section("optim.*")
    assert set(names) <= set(dir(optim))
    assert all(callable(getattr(optim, name)) for name in names)


@pytest.mark.parametrize("name", sorted(rows()))
def test_help_tells_a_class_and_its_signature(name: str) -> None:
    cls = getattr(nn, name)
    assert f"nn.{name}(" in pydoc.plain(pydoc.render_doc(cls))
    assert inspect.signature(cls).parameters == rows()[name].form.signature.parameters


@pytest.mark.slow
def test_help_of_the_module_tells_every_class() -> None:
    text = pydoc.plain(pydoc.render_doc(nn))
    assert [name for name in rows() if f"class {name}(" not in text] == []


def test_the_documentation_tells_what_counts_from_0() -> None:
    assert "dimension, offset" in nn.Narrow.__doc__
    assert "Targets count from 0" in nn.ClassNLLCriterion.__doc__


def test_a_wrong_call_tells_the_signature() -> None:
    with pytest.raises(TypeError, match=r"nn\.Linear\(inputSize, outputSize, bias=None\): missing"):
        nn.Linear(3)
    with pytest.raises(TypeError, match="dimension"):
        nn.JoinTable(dim=1)


def test_fields_are_known_by_their_class() -> None:
    assert {"Narrow.dimension", "Narrow.index", "JoinTable.dimension"} <= set(fields())


@pytest.mark.parametrize(
    ("python", "lua"),
    [(0, 1), (3, 4), (-1, -1), ([0, -2], [1, -2]), ((1, [2]), (2, [3])), ("key", "key"), (2.0, 3.0)],
)
def test_a_position_counts_from_either_end(python: Any, lua: Any) -> None:
    assert shift_position(python, 1) == lua
    assert shift_position(lua, -1) == python


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_positions_in_an_array_are_shifted_in_a_copy(make: Any) -> None:
    given = make([0, 5, -1])
    assert shift_position(given, 1).tolist() == [1, 6, -1]
    assert given.tolist() == [0, 5, -1]


def test_the_stub_is_the_table_s() -> None:
    stub = Path(bridge.legacy.__file__).with_name("nn.pyi").read_text()
    assert ast.dump(ast.parse(stub)) == ast.dump(ast.parse(stubs.stub()))


@pytest.mark.slow
def test_looking_around_starts_no_lua() -> None:
    code = (
        "from bridge.legacy import nn, optim, session\n"
        "names = dir(nn) + dir(optim); help = nn.Linear.__doc__\n"
        "assert session._default is None"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
