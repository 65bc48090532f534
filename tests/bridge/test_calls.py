"""Loading Lua files, calling functions and methods, and values that stay in Lua."""

from __future__ import annotations

from pathlib import Path

import pytest

import bridge

MODEL = """
-- Adds two numbers.
-- Both of them.
function add(a, b) return a + b end
greeting = 'hello'
local hidden = 1
Counter = {}
"""


@pytest.fixture
def model(lua: bridge.Lua, tmp_path: Path) -> bridge.LuaFile:
    path = tmp_path / "model.lua"
    path.write_text(MODEL)
    return lua.load(path)


def test_a_files_functions_are_attributes(model: bridge.LuaFile) -> None:
    assert model.add(1, 2) == 3
    assert model.greeting == "hello"


def test_a_compiled_chunk_is_a_function_that_was_not_run(lua: bridge.Lua) -> None:
    chunk = lua.compile("ran = true return ...")
    assert isinstance(chunk, bridge.LuaFunction)
    assert lua.eval("ran") is None
    assert (chunk(6), lua.ran) == (6, True)


def test_dir_lists_what_the_file_defined(model: bridge.LuaFile) -> None:
    assert dir(model) == ["Counter", "add", "greeting"]


def test_help_shows_the_comment_above_a_function(model: bridge.LuaFile) -> None:
    assert model.add.__doc__.startswith("Adds two numbers.\nBoth of them.\n")
    assert model.add.__name__ == "add"


def test_a_missing_attribute_names_what_there_is(model: bridge.LuaFile) -> None:
    with pytest.raises(AttributeError, match=r"defines no 'subtract'; it defines Counter, add, greeting"):
        model.subtract(1)


def test_a_file_that_returns_a_table_offers_its_fields(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "m.lua").write_text("local m = {} function m.twice(x) return 2 * x end return m")
    module = lua.load(tmp_path / "m.lua")
    assert module.twice(4) == 8
    assert dir(module) == ["twice"]


def test_a_file_receives_arguments(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "m.lua").write_text("first, second = ...")
    module = lua.load(tmp_path / "m.lua", 1, "two")
    assert (module.first, module.second) == (1, "two")


def test_a_missing_file_is_named(lua: bridge.Lua) -> None:
    with pytest.raises(FileNotFoundError, match=r"no_such\.lua"):
        lua.load("no_such.lua")


def test_a_syntax_error_names_file_and_line(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "broken.lua"
    path.write_text("x = 1\ny = = 2\n")
    with pytest.raises(bridge.LuaError, match=r"broken\.lua:2: unexpected symbol near '='"):
        lua.load(path)


def test_globals_are_attributes(lua: bridge.Lua) -> None:
    lua.answer = 42
    assert lua.answer == 42
    assert lua.eval("answer") == 42
    assert "answer" in dir(lua)
    with pytest.raises(AttributeError, match="no Lua global 'nothing'"):
        _ = lua.nothing


def test_torch_is_reached_as_a_namespace(lua: bridge.Lua) -> None:
    assert lua.torch.ones(2, 3).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_table_by_reference(lua: bridge.Lua) -> None:
    lua.execute("config = {rate = 0.1, layers = {4, 5}, [1] = 'one'}")
    table = lua.config
    assert isinstance(table, bridge.LuaTable)
    table.rate = 0.5
    table["depth"] = 3
    assert lua.eval("config.rate, config.depth") == (0.5, 3)
    assert table[1] == "one"
    assert "rate" in table
    assert "none" not in table
    assert table.layers.value() == [4, 5]
    assert len(table.layers) == 2
    assert sorted(key for key in table if isinstance(key, str)) == ["depth", "layers", "rate"]
    with pytest.raises(KeyError):
        table["none"]
    with pytest.raises(AttributeError, match="'none'"):
        _ = table.none


def test_a_function_by_reference_is_equal_to_itself(lua: bridge.Lua) -> None:
    lua.execute("function f() end")
    assert lua.f == lua.f
    assert hash(lua.f) == hash(lua.f)
    assert lua.f != lua.eval("function() end")


CLASSES = """
local Animal = torch.class('Animal')
function Animal:__init(name) self.name = name end
function Animal:speak(loud) return self.name .. (loud and '!' or '.') end
function Animal:__tostring() return 'Animal ' .. self.name end
local Dog, parent = torch.class('Dog', 'Animal')
function Dog:fetch(n) return n + 1 end
"""


def test_an_object_of_a_torch_class_has_methods_without_self(lua: bridge.Lua) -> None:
    lua.execute(CLASSES)
    dog = lua.Dog("Rex")
    assert isinstance(dog, bridge.LuaObject)
    assert dog.typename == "Dog"
    assert dog.fetch(1) == 2
    assert dog.speak(True) == "Rex!"
    assert dog._speak(False) == "Rex."
    assert dog.name == "Rex"
    assert dog.fields() == {"name": "Rex"}
    dog.name = "Fido"
    assert lua.eval("(...).name", dog) == "Fido"
    with pytest.raises(AttributeError, match="'bark'"):
        dog.bark()


def test_isinstance_knows_torch_classes(lua: bridge.Lua) -> None:
    lua.execute(CLASSES)
    dog, animal = lua.Dog("Rex"), lua.Animal("Generic")
    assert isinstance(dog, lua.Dog)
    assert isinstance(dog, lua.Animal)
    assert not isinstance(animal, lua.Dog)
    assert not isinstance(3, lua.Dog)


def test_dir_of_an_object_has_inherited_methods(lua: bridge.Lua) -> None:
    lua.execute(CLASSES)
    assert {"fetch", "speak", "name"} <= set(dir(lua.Dog("Rex")))


def test_str_of_an_object_is_its_lua_text(lua: bridge.Lua) -> None:
    lua.execute(CLASSES)
    assert str(lua.Animal("Rex")) == "Animal Rex"


def test_objects_of_different_states_do_not_mix(lua: bridge.Lua) -> None:
    with bridge.Lua() as other, pytest.raises(ValueError, match="another Lua state"):
        lua.eval("...", other.eval("function() end"))


def test_a_proxy_cannot_be_pickled(lua: bridge.Lua) -> None:
    import pickle

    with pytest.raises(TypeError, match=r"torch\.save"):
        pickle.dumps(lua.eval("function() end"))


def test_a_closed_state_says_so(lua: bridge.Lua) -> None:
    function = lua.eval("function() end")
    lua.close()
    lua.close()
    assert lua.closed
    for use in (function, lambda: lua.eval("1"), lambda: lua.globals):
        with pytest.raises(bridge.StateClosed, match="closed"):
            use()
    assert "closed" in repr(function)


def test_a_state_is_not_closed_from_its_own_callback(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="cannot be closed from a callback"):
        lua.eval("(...)()", lua.close)
    assert lua.eval("1") == 1


def test_a_directory_is_put_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "mine.lua").write_text("return {answer = 7}")
    with bridge.Lua(path=[tmp_path]) as lua:
        assert lua.require("mine").answer == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tensors": "jax"}, 'tensors= is "numpy" or "torch"'),
        ({"tables": "list"}, 'tables= is "auto" or "dict"'),
        ({"busy_timeout": 0}, "busy_timeout="),
    ],
)
def test_a_wrong_option_names_the_choices(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bridge.Lua(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [None, 3, ["x"]])
def test_code_that_is_not_text_is_refused(lua: bridge.Lua, code: object) -> None:
    with pytest.raises(TypeError, match="Lua code is a str or bytes"):
        lua.execute(code)  # type: ignore[arg-type]


def test_code_may_be_bytes(lua: bridge.Lua) -> None:
    assert lua.eval(b"1 + 1") == 2
    assert lua.execute(b"return '\xff'") == b"\xff"


def test_code_with_a_nul_byte_runs(lua: bridge.Lua) -> None:
    assert lua.execute("return 'a\0b'") == "a\0b"


def test_keyword_arguments_are_refused(lua: bridge.Lua) -> None:
    with pytest.raises(TypeError, match="keyword"):
        lua.eval("function() end")(x=1)  # type: ignore[call-arg]


def test_coroutines_call_back_into_python_and_lua(lua: bridge.Lua) -> None:
    def inner(x: int) -> int:
        return int(lua.eval("... * 10", x))

    assert lua.execute(
        "local f = ... local co = coroutine.wrap(function() coroutine.yield(f(1)) return f(2) end)"
        " return co(), co()",
        inner,
    ) == (10, 20)


def test_the_language_is_torch7s(lua: bridge.Lua) -> None:
    assert lua.execute("local t = setmetatable({}, {__len = function() return 7 end}) return #t") == 7
    assert lua.eval("table.pack(1, 2).n, select('#', table.unpack{1, 2, 3})") == (2, 3)
