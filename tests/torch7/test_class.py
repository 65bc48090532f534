"""torch.class, the registry of types, and what it makes of objects."""

from __future__ import annotations

from typing import Any

import pytest

import bridge

CLASSES = """
zoo = {}
Animal = torch.class('zoo.Animal')
function Animal:__init(name) self.name = name end
function Animal:speak() return self.name .. ' speaks' end
function Animal.__add__(a, b) return 'sum' end
function Animal.__lt__(a, b) return true end
function Animal:__call__(x) return self.name .. x end
function Animal:__len__() return 7 end
Dog, parent = torch.class('zoo.Dog', 'zoo.Animal')
function Dog:__init(name) parent.__init(self, name) self.age = 3 end
Plain = torch.class('zoo.Plain')
Keyed = torch.class('zoo.Keyed')
function Keyed:__index__(key) if key == 'magic' then return 42, true end return nil, false end
function Keyed:__newindex__(key, value) if key == 'magic' then return true end return false end
dog, plain = zoo.Dog('rex'), zoo.Plain()
"""

EXPRESSIONS: list[tuple[str, Any]] = [
    ("dog.name", "rex"),
    ("dog.age", 3),
    ("dog:speak()", "rex speaks"),
    ("dog + 1", "sum"),
    ("1 + dog", "sum"),
    ("dog < zoo.Dog('x')", True),
    ("dog('!')", "rex!"),
    ("#dog", 7),
    ("tostring(dog)", "zoo.Dog"),
    ("parent == Animal", True),
    ("getmetatable(dog) == Dog", True),
    ("getmetatable(Dog) == Animal", True),
    ("getmetatable(zoo.Dog) == Dog", True),
    ("zoo.Dog.speak == Animal.speak", True),
    ("zoo.Dog.__typename", "zoo.Dog"),
    ("torch.typename(dog)", "zoo.Dog"),
    ("torch.typename({})", None),
    ("torch.typename(zoo.Dog)", None),
    ("torch.typename(torch.Tensor())", "torch.DoubleTensor"),
    ("torch.type(dog)", "zoo.Dog"),
    ("torch.type({})", "table"),
    ("torch.type(nil)", "nil"),
    ("torch.isTypeOf(dog, 'zoo.Dog')", True),
    ("torch.isTypeOf(dog, 'zoo.Animal')", True),
    ("torch.isTypeOf(dog, zoo.Animal)", True),
    ("torch.isTypeOf(dog, 'zoo.*')", True),
    ("torch.isTypeOf(dog, 'Dog')", False),
    ("torch.isTypeOf(dog, 'zoo.Plain')", False),
    ("torch.isTypeOf(dog, 'zoo.Dogs')", False),
    ("torch.isTypeOf(torch.FloatTensor(), 'torch.*Tensor')", True),
    ("torch.isTypeOf(torch.FloatStorage(), 'torch.*Tensor')", False),
    ("torch.isTypeOf(3, 'number')", False),
    ("torch.getmetatable('zoo.Dog') == Dog", True),
    ("torch.getmetatable('zoo.Cat')", None),
    ("torch.getconstructortable('zoo.Dog') == zoo.Dog", True),
    ("torch.getconstructortable('zoo.Cat')", None),
    ("torch.typename(torch.factory('zoo.Dog')())", "zoo.Dog"),
    ("torch.factory('zoo.Dog')().name", None),
    ("torch.factory('torch.DoubleTensor')():type()", "torch.DoubleTensor"),
    ("torch.factory('zoo.Cat')", None),
    ("torch.typename(torch.setmetatable({}, 'zoo.Dog'))", "zoo.Dog"),
    ("torch.typename(dog.new('x'))", "zoo.Dog"),
    ("dog == dog", True),
    ("dog == zoo.Dog('rex')", False),
    ("zoo.Keyed().magic", 42),
    ("zoo.Keyed().other", None),
    ("torch.pointer(dog) == torch.pointer(dog)", True),
    ("torch.pointer(dog) == torch.pointer(plain)", False),
    ("type(torch.pointer(dog))", "number"),
    ("torch.pointer('x') == torch.pointer('x')", True),
]

ERRORS: list[tuple[str, str]] = [
    ("plain + 1", "both zoo.Plain and (null) have no addition operator"),
    ("1 - plain", "both (null) and zoo.Plain have no substraction operator"),
    ("plain * dog", "both zoo.Plain and zoo.Dog have no multiplication operator"),
    ("plain ^ 2", "both zoo.Plain and (null) have no power operator"),
    ("plain .. 'x'", "both zoo.Plain and (null) have no concat operator"),
    ("-plain", "zoo.Plain has no negation operator"),
    ("plain()", "zoo.Plain has no call operator"),
    ("#plain", "zoo.Plain has no length operator"),
    (
        "torch.class('farm.Cow')",
        "while creating metatable farm.Cow: bad argument #1 (farm is an invalid module name)",
    ),
    ("torch.class('zoo.Cat', 'zoo.Missing')", "bad argument #2 (invalid parent class name zoo.Missing)"),
    ("torch.class('zoo.Plain')", "zoo.Plain has been already assigned a factory"),
    ("torch.class('zoo.Dog', 'zoo.Plain')", "class zoo.Dog has been already assigned a parent class"),
    ("torch.class('zoo.Cat', 'zoo.Cat')", "bad argument #2 (invalid parent class name zoo.Cat)"),
    ("torch.class(3)", "<class name> [<parent class name>] [<module table>] expected"),
    ("torch.class('zoo.Cat', nil)", "<class name> [<parent class name>] [<module table>] expected"),
    ("torch.setmetatable({}, 'zoo.Cat')", "unknown typename zoo.Cat"),
    ("torch.pointer(3)", "Torch object, table, thread, cdata or function expected"),
    ("torch.pushudata(nil, 'zoo.Dog')", "zoo.Dog cannot be made from a C pointer"),
    ("torch.pushudata(nil, 'torch.DoubleTensor')", "expecting number or cdata"),
    ("torch.pushudata(0, 'torch.DoubleTensor')", "there is no torch.DoubleTensor at the null pointer"),
    (
        "torch.pushudata(require('ffi').cast('void *', nil), 'torch.FloatStorage')",
        "there is no torch.FloatStorage at the null pointer",
    ),
]


@pytest.fixture
def zoo(lua: bridge.Lua) -> bridge.Lua:
    lua.execute(CLASSES)
    return lua


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_classes_and_objects(zoo: bridge.Lua, expression: str, value: Any) -> None:
    assert zoo.eval(expression) == value


@pytest.mark.parametrize(("expression", "message"), ERRORS)
def test_what_cannot_be_is_told(zoo: bridge.Lua, expression: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        zoo.eval(expression)
    assert message in raised.value.message


def test_a_failed_class_leaves_nothing_behind(zoo: bridge.Lua) -> None:
    zoo.execute("pcall(torch.class, 'zoo.Cat', 'zoo.Missing')")
    assert zoo.eval("torch.getmetatable('zoo.Cat') == nil and zoo.Cat == nil")


def test_a_class_may_live_in_a_local_module(lua: bridge.Lua) -> None:
    assert lua.execute("local m = {} torch.class('m.Thing', m) return torch.typename(m.Thing())") == "m.Thing"


def test_a_given_module_is_what_the_last_name_goes_into(lua: bridge.Lua) -> None:
    code = "local m = {} torch.class('outer.Inner.Thing', m) return m.Thing.__typename, m.Inner"
    assert lua.execute(code) == ("outer.Inner.Thing", None)


def test_a_class_with_a_parent_may_live_in_a_local_module(zoo: bridge.Lua) -> None:
    assert (
        zoo.execute("local m = {} torch.class('m.Pup', 'zoo.Dog', m) return m.Pup('a'):speak()") == "a speaks"
    )


def test_modules_may_be_nested(lua: bridge.Lua) -> None:
    assert lua.execute("a = {b = {}} torch.class('a.b.C') return tostring(a.b.C())") == "a.b.C"


def test_a_class_without_module_is_a_global(lua: bridge.Lua) -> None:
    assert lua.execute("torch.class('Alone') return torch.typename(Alone())") == "Alone"


def test_methods_added_later_are_found(zoo: bridge.Lua) -> None:
    assert zoo.execute("function Animal:late() return self.age end return dog:late()") == 3


def test_methods_added_through_the_constructor_are_found(zoo: bridge.Lua) -> None:
    assert zoo.execute("function zoo.Dog:bark() return 'wuff' end return dog:bark()") == "wuff"


def test_an_instance_may_have_its_own_method(zoo: bridge.Lua) -> None:
    assert zoo.execute("dog.speak = function() return 'mine' end return dog:speak()") == "mine"


def test_a_key_taken_by_newindex_is_not_stored(zoo: bridge.Lua) -> None:
    assert zoo.execute(
        "local k = zoo.Keyed() k.magic = 1 k.other = 2 return rawget(k, 'magic'), k.other"
    ) == (
        None,
        2,
    )


def test_an_inherited_newindex_handler_is_asked(zoo: bridge.Lua) -> None:
    code = "torch.class('zoo.Sub', 'zoo.Keyed') local k = zoo.Sub() k.magic = 1 return rawget(k, 'magic'), k.magic"
    assert zoo.execute(code) == (None, 42)


def test_handlers_are_for_instances_not_for_derived_classes(lua: bridge.Lua) -> None:
    code = """
    local Store = torch.class('Store')
    function Store:__init() rawset(self, 'data', {}) end
    function Store:__index__(key) local v = rawget(self, 'data')[key] return v, v ~= nil end
    function Store:__newindex__(key, value) rawget(self, 'data')[key] = value return true end
    _G.Store()
    local Sub = torch.class('Sub', 'Store')
    function Sub:method() return self.x end
    local sub = _G.Sub()
    sub.x = 5
    return sub:method(), rawget(sub, 'x')
    """
    assert lua.execute(code) == (5, None)


def test_objects_are_plain_tables(zoo: bridge.Lua) -> None:
    assert zoo.execute("local n = {} for k in pairs(dog) do n[#n + 1] = k end table.sort(n) return n") == [
        "age",
        "name",
    ]


def test_tensor_types_can_be_patched(lua: bridge.Lua) -> None:
    lua.execute("torch.getmetatable('torch.FloatTensor').twice = function(t) return t * 2 end")
    assert lua.eval("torch.FloatTensor{2}:twice()[1]") == 4


def test_inheritance_goes_any_number_of_levels_deep(lua: bridge.Lua) -> None:
    code = """
    local parent
    for level = 1, 5 do
       local name = 'Level' .. level
       local Class, above = torch.class(unpack{name, level > 1 and 'Level' .. level - 1 or nil})
       assert(above == parent)
       Class['own' .. level] = function() return level end
       function Class:where() return level end
       parent = Class
    end
    local deep = Level5()
    return deep:own1(), deep:own5(), deep:where(), torch.isTypeOf(deep, 'Level1'), torch.isTypeOf(Level1(), 'Level5')
    """
    assert lua.execute(code) == (1, 5, 5, True, False)


def test_a_metatable_may_be_made_by_hand(zoo: bridge.Lua) -> None:
    code = """
    local metatable = torch.newmetatable('zoo.Made', 'zoo.Animal', function(name) return torch.setmetatable(
       {name = name}, 'zoo.Made') end, nil, function() return torch.setmetatable({name = 'empty'}, 'zoo.Made') end)
    return metatable == torch.getmetatable('zoo.Made'), zoo.Made('a'):speak(), torch.factory('zoo.Made')():speak(),
       torch.getconstructortable('zoo.Made') == zoo.Made, torch.typename(zoo.Made('a'))
    """
    assert zoo.execute(code) == (True, "a speaks", "empty speaks", True, "zoo.Made")


def test_a_storage_is_made_around_its_pointer(lua: bridge.Lua) -> None:
    code = """
    local storage = torch.FloatStorage{1, 2, 3}
    storage:retain()
    local again = torch.pushudata(storage:cdata(), 'torch.FloatStorage')
    return again == storage, again[2]
    """
    assert lua.execute(code) == (True, 2)


def test_a_tensor_is_made_around_its_pointer(lua: bridge.Lua) -> None:
    code = """
    local tensor = torch.range(1, 6):resize(2, 3):t()
    local again = torch.pushudata(tensor:cdata(), 'torch.DoubleTensor')
    again[3][2] = 60
    return torch.typename(again), again:size(1), tensor[3][2], again:isSetTo(tensor)
    """
    assert lua.execute(code) == ("torch.DoubleTensor", 3, 60, True)


def test_cdata_types_can_be_named(lua: bridge.Lua) -> None:
    code = """
    local ffi = require 'ffi'
    local ctype = ffi.typeof('struct { int x; }')
    torch.metatype('zoo.Point', {__factory = function() return ctype() end}, ctype)
    return torch.typename(ctype()), torch.typename(torch.factory('zoo.Point')())
    """
    assert lua.execute(code) == ("zoo.Point", "zoo.Point")
