"""Packages that programs require in passing, and what is said of those that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bridge


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        yield state


EXPRESSIONS: list[tuple[str, Any]] = [
    ("require('dok').unpack({{a = 3}}, 'f', 'a function', {arg = 'a', type = 'number'}).a", 3),
    ("dok.inline and select(2, dok.unpack({4}, 'f', 'a function', {arg = 'a', type = 'number'}))", 4),
    ("require 'env' and torch.Tensor ~= nil and paths ~= nil and xlua ~= nil", True),
    ("require 'fbnn'.SpatialBatchNormalization == nn.SpatialBatchNormalization", True),
    ("require 'nnx' == nnx and nn.SpatialConvolutionMap ~= nil", True),
    ("require 'trepl.colorize'.red('text')", "\x1b[0;31mtext\x1b[0m"),
    ("require 'trepl.colorize'._blue(5)", "\x1b[44m5\x1b[0m"),
    ("require 'trepl.colorize'.underline('x')", "\x1b[4mx\x1b[0m"),
    ("type(require 'trepl')", "function"),
    ("require 'image' and dok.unpack ~= nil and help == dok.help", True),
    ("dok.help(print, true)", None),
]


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(lua: bridge.Lua, expression: str, value: Any) -> None:
    lua.execute("dok = require 'dok'")
    assert lua.eval(expression) == value


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("nccl", "leave its third argument out"),
        ("cunnx", "use layers of nn in its place"),
        ("stn", "or the model in PyTorch"),
        ("clnn", "CUDA with MOONTIDE_CUDA=cpu"),
        ("qtwidget", "the display package"),
    ],
)
def test_a_package_that_is_not_there_says_what_to_do(lua: bridge.Lua, name: str, advice: str) -> None:
    with pytest.raises(bridge.LuaError, match=f"module '{name}' not found") as raised:
        lua.execute("require(...)", name)
    rock = name.partition(".")[0]
    assert f"the Torch7 package '{rock}' is not part of this runtime: " in raised.value.message
    assert advice in raised.value.message.splitlines()[-1]


def test_programs_may_bring_such_a_package_themselves(lua: bridge.Lua, tmp_path: Any) -> None:
    (tmp_path / "stn.lua").write_text("return 'mine'")
    assert (
        lua.execute("package.path = ... .. '/?.lua;' .. package.path return (require 'stn')", str(tmp_path))
        == "mine"
    )
