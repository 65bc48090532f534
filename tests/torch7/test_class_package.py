"""class: classes without torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bridge

ANIMALS = """
class = require 'class'
Animal = class('Animal')
function Animal:__init(name) self.name = name end
function Animal:speak() return self.name .. ' is silent' end
Dog, parent = class('Dog', 'Animal')
function Dog:speak() return self.name .. ' barks' end
Cat = class.new('Cat', 'Animal')
function Cat:__init(name) parent.__init(self, name .. ' the cat') end
"""


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute(ANIMALS)
        yield state


EXPRESSIONS: list[tuple[str, Any]] = [
    ("Dog('Rex'):speak()", "Rex barks"),
    ("Cat.new('Tom'):speak()", "Tom the cat is silent"),
    ("Dog('Rex').name", "Rex"),
    ("class.type(Dog('Rex'))", "Dog"),
    ("class.type(3)", "number"),
    ("class.type({})", "table"),
    ("class.istype(Dog('Rex'), 'Animal')", True),
    ("class.istype(Animal('Rex'), 'Dog')", False),
    ("class.istype(Dog('Rex'), 'table')", False),
    ("class.istype({}, 'table')", True),
    ("class.istype(3, 'number')", True),
    ("class.factory('Dog').name", None),
    ("class.metatable('Dog') == getmetatable(Dog('Rex'))", True),
    ("class.metatable('Horse')", None),
    ("class.constructor(class.metatable('Dog'))('Ada'):speak()", "Ada barks"),
    ("class.constructor(class.metatable('Dog'), function(a) return a + 1 end)(2)", 3),
    ("parent == class.metatable('Animal')", True),
    ("rawget(_G, 'Horse')", None),
]


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(lua: bridge.Lua, expression: str, value: Any) -> None:
    assert lua.eval(expression) == value


def test_argcheck_knows_the_classes(lua: bridge.Lua) -> None:
    code = """
    local argcheck = require 'argcheck'
    local f = argcheck{{name = 'animal', type = 'Animal'}, call = function(animal) return animal:speak() end}
    return f(Dog('Rex')), (pcall(f, 3))
    """
    assert lua.execute(code) == ("Rex barks", False)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("class('Dog')", "class <Dog> already exists"),
        ("class('Horse', 'Plant')", "parent class <Plant> does not exist"),
        ("class()", "expected the name of a class, got nil"),
        ("class.factory('Horse')", "unknown class <Horse>"),
        ("class.constructor(class.metatable('Dog'), 'make')", "constructor <make> does not exist"),
    ],
)
def test_what_cannot_be_is_told(lua: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code)
    assert message in raised.value.message
