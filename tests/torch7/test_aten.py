"""Operators of torch are called with the kinds of arguments that torch's own schemas say.

The shim believes what it is given: a letter that is wrong would be read as a pointer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import torch

import bridge

RECORD = """
require 'torch'
local aten, found = require 'torch.aten', {}
for _, name in ipairs{'op', 'into'} do
   local plain = aten[name]
   aten[name] = function(operator, kinds, results)
      found[#found + 1] = operator .. ' ' .. kinds .. ' ' .. (results or 1)
      return plain(operator, kinds, results)
   end
end
require 'cutorch' require 'nn' require 'image'
return found
"""
# The letters of bridge/core/tensors/aten.h by the types of torch's schemas; an optional parameter takes n, or ? and a
# letter.
LETTERS = {
    "Tensor": "TSM",
    "int": "i",
    "float": "f",
    "bool": "b",
    "List[int]": "I",
    "List[bool]": "I",
    "str": "s",
}


def letters(kinds: str) -> Iterator[str]:
    yield from re.findall(r"\??\w", kinds)


def fits(letter: str, type_: str) -> bool:
    optional = re.fullmatch(r"Optional\[(.*)\]", type_)
    if optional:
        return letter == "n" or (letter[0] == "?" and letter[1] in LETTERS.get(optional[1], ""))
    return letter in LETTERS.get(type_, "")


def operators() -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOONTIDE_CUDA", "aten")
        with bridge.Lua() as lua:
            return sorted(set(lua.execute(RECORD)))


@pytest.mark.parametrize("operator", operators())
def test_the_kinds_are_those_of_the_schema(operator: str) -> None:
    name, kinds, results = operator.split()
    base, _, overload = name.partition(".")
    schema = torch._C._get_schema(f"aten::{base}", overload)
    types = [str(argument.type) for argument in schema.arguments]
    given = list(letters(kinds))
    assert len(given) == len(types)
    assert [pair for pair in zip(given, types, strict=True) if not fits(*pair)] == []
    assert len(schema.returns) == int(results)
