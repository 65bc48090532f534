"""Penlight: what the modules that Torch7 programs use do, checked against Penlight 1.13."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge

EXPRESSIONS: list[tuple[str, Any]] = [
    # utils, types
    ("utils.split(' a b ')", ["", "a", "b"]),
    ("utils.split('a,b,,c,', ',')", ["a", "b", "", "c"]),
    ("utils.split('a b c d', nil, nil, 2)", ["a", "b c d"]),
    ("utils.escape('a.b*[x]')", "a%.b%*%[x%]"),
    ("utils.function_arg(1, '+')(1, 2)", 3),
    ("utils.string_lambda('|x, y| x .. y')('a', 'b')", "ab"),
    ("utils.bind2('-', 1)(5)", 4),
    ("utils.quote_arg{'a', \"it's\"}", "a 'it'\\''s'"),
    ("utils.readfile('/no/file')", (None, "/no/file: No such file or directory")),
    ("utils.executeex('echo out; echo wrong >&2; exit 2')", (False, 2, "out\n", "wrong\n")),
    ("types.type(io.stdout) .. types.type(List())", "fileList"),
    ("types.is_empty('  ', true)", True),
    ("types.to_bool('yes')", True),
    # path
    ("path.splitpath('/a/b.c')", ("/a", "b.c")),
    ("path.splitext('/a/b.tar.gz')", ("/a/b.tar", ".gz")),
    ("path.splitext('/a.x/b')", ("/a.x/b", "")),
    ("path.join('a', 'b/', 'c')", "a/b/c"),
    ("path.join('a', '/b')", "/b"),
    ("path.normpath('a//b/../c/./d')", "a/c/d"),
    ("path.normpath('../../a')", "../../a"),
    ("path.abspath('../a', '/x/y')", "/x/a"),
    ("path.abspath('/')", "/"),
    ("path.relpath('/a/d', '/a/b')", "../d"),
    ("path.relpath('/a/b/c', '/')", "a/b/c"),
    ("path.exists('/')", "/"),
    ("path.exists('/no/file')", False),
    ("path.isdir('/') and not path.isfile('/')", True),
    ("dir.fnmatch('a.lua', '*.lua')", True),
    ("dir.filter({'x/a.lua', 'b.c'}, '*.lua')", ["x/a.lua"]),
    # stringx
    ("stringx.split(' a  b ')", ["a", "b"]),
    ("stringx.split('a,b,,c,', ',')", ["a", "b", "", "c", ""]),
    ("stringx.split('a.b.c', '.', 2)", ["a", "b.c"]),
    ("stringx.strip('--x-', '-')", "x"),
    ("stringx.startswith('abc', {'x', 'a'})", True),
    ("stringx.endswith('abc', 'bc')", True),
    ("stringx.join(',', {1, 2})", "1,2"),
    ("stringx.title('hello world')", "Hello World"),
    ("stringx.center('ab', 5)", " ab  "),
    ("stringx.count('banana', 'an')", 2),
    ("stringx.rfind('hello', 'l')", 4),
    ("stringx.replace('a.b', '.', '%')", "a%b"),
    ("stringx.partition('a=b=c', '=')", ("a", "=", "b=c")),
    ("stringx.rpartition('a=b=c', '=')", ("a=b", "=", "c")),
    ("stringx.splitlines('a\\nb\\r\\nc')", ["a", "b", "c"]),
    ("stringx.expandtabs('a\\tb', 4)", "a   b"),
    ("stringx.shorten('abcdefghij', 6)", "abc..."),
    ("stringx.wrap('the quick brown fox', 10)", ["the quick", "brown fox"]),
    ("stringx.Template('$x and ${y}'):substitute{x = 1, y = 2}", "1 and 2"),
    # tablex
    ("tablex.deepcompare({1, {2}}, {1, {2}})", True),
    ("tablex.deepcompare({1}, {1, 2})", False),
    ("tablex.map('_ + 1', {1, 2})", [2, 3]),
    ("tablex.imap2('*', {1, 2}, {3, 4, 5})", [3, 8]),
    ("tablex.zip({1, 2}, {3, 4})", [[1, 3], [2, 4]]),
    ("tablex.reduce('+', {1, 2, 3})", 6),
    ("tablex.filter({1, 2, 3}, '>', 1)", [2, 3]),
    ("tablex.find({1, 2, 1}, 1, -1)", 3),
    ("tablex.keys{a = 1}", ["a"]),
    ("tablex.merge({a = 1, b = 2}, {b = 3, c = 4}, true)", {"a": 1, "b": 3, "c": 4}),
    ("tablex.difference({a = 1, b = 2}, {b = 3})", {"a": 1}),
    ("tablex.sub({1, 2, 3, 4}, 2, -2)", [2, 3]),
    ("tablex.range(5, 1, -2)", [5, 3, 1]),
    ("tablex.removevalues({1, 2, 3, 4}, 2, 3)", [1, 4]),
    ("tablex.insertvalues({1, 4}, 2, {2, 3})", [1, 2, 3, 4]),
    ("tablex.search({a = {b = 5}}, 5)", "a.b"),
    # List, Map, Set, OrderedMap
    ("tostring(List{1, 'a'} .. {3})", "{1,a,3}"),
    ("List{3, 1, 2}:sort('>'):slice(-2)", [2, 1]),
    ("List{1, 2, 3}:chop(2, 3):append(4):put(0)", [0, 1, 4]),
    ("List{1, 2, 3}:slice_assign(2, 3, {7, 8, 9})", [1, 7, 8, 9]),
    ("List{1, 2} == List{1, 2}", True),
    ("List('abc'):concat('-')", "a-b-c"),
    ("List.range(3):map('_ * 2'):filter('>', 2):reduce('+')", 10),
    ("Map{a = 1}:items()", [["a", 1]]),
    ("tostring(Set{1, 2} * Set{2, 3})", "[2]"),
    ("(Set{1} + Set{2}) == Set{1, 2} and Set{1} < Set{1, 2} and Set{'len'}.len", True),
    ("tostring(OrderedMap{{z = 1}, {a = 'q'}})", '{z=1,a="q"}'),
    ("OrderedMap{{z = 1}, {a = 2}}:sort():keys()", ["a", "z"]),
    # pretty, seq, template
    ("pretty.write({1, 2, x = {y = 'a'}}, '')", '{1,2,x={y="a"}}'),
    ("pretty.write{1, a = true}", "{\n  1,\n  a = true\n}"),
    ("pretty.read('{1, x = \"a\"}').x", "a"),
    ("(pretty.read('{(\"x\"):rep(1e9)}'))", None),
    ("pretty.number(1234567, 'T')", "1,234,567"),
    ("seq{1, 2, 3}:map('_ + 1'):filter('>', 2):copy()", [3, 4]),
    ("seq.copy(seq.take(seq.range(1, 9), 2))", [1, 2]),
    ("template.substitute('# for i = 1, 2 do\\n<$(i)>\\n# end', {})", "<1>\n<2>\n"),
    ("template.substitute('$(x)!', {x = 'a'})", "a!"),
]

LAPP: list[tuple[str, list[str], dict[Any, Any]]] = [
    ("-f,--flag a flag\n-n (default 3) number", ["-f"], {"flag": True, "n": 3}),
    ("-f,--flag a flag", [], {"flag": False}),
    ("--lr (default 0.1) rate\n--name (default abc) name", ["--lr=0.5"], {"lr": 0.5, "name": "abc"}),
    ("-b,--batch (number) size", ["-b", "5"], {"batch": 5}),
    ("-b,--batch (number) size", ["-b5"], {"batch": 5}),
    ("-p (default -1) shift", ["-p", "-3"], {"p": -3}),
    ("--learning-rate (default 1e-3)", [], {"learning_rate": 0.001}),
    ("<input> (string)\n<files...> (string)", ["a", "b", "c"], {"input": "a", "files": ["b", "c"]}),
    ("--mode (a|b|c default b)", [], {"mode": "b"}),
    ("--mode (a|b|c)", ["--mode", "c"], {"mode": "c"}),
    ("-v talk\n-x exit", ["-vx"], {"v": True, "x": True}),
    ("-s (default 'a b') words", [], {"s": "a b"}),
    ("-c (optional number) count", [], {}),
    ("Usage: prog\n  -d,--depth (default 2) how deep", ["--depth", "4"], {"depth": 4}),
]

WRONG: list[tuple[str, list[str], str]] = [
    ("-n,--num (number) n", [], "missing required parameter: num"),
    ("-n,--num (number) n", ["-n", "x"], "unable to convert to number: x"),
    ("-n,--num (number) n", ["-n"], "num was expecting a value"),
    ("<n> (1..10)", ["50"], "n out of range"),
    ("--mode (a|b)", ["--mode", "z"], "value 'z' not in a|b"),
    ("-q be quiet", ["--foo"], "unrecognized parameter: foo"),
]


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("pl")
        yield state


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(lua: bridge.Lua, expression: str, value: Any) -> None:
    assert lua.eval(expression) == value


@pytest.mark.parametrize(("help_text", "line", "values"), LAPP)
def test_a_command_line_is_read_by_its_help(
    lua: bridge.Lua, help_text: str, line: list[str], values: dict[Any, Any]
) -> None:
    found = lua.execute("local found = lapp(...) found[0] = true return found", help_text + "\n", line)
    assert found == {**values, 0: True}


@pytest.mark.parametrize(("help_text", "line", "message"), WRONG)
def test_a_wrong_command_line_ends_with_its_help(
    lua: bridge.Lua, help_text: str, line: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        lua.execute("arg = {[0] = 'dir/prog.lua'} lapp(...)", help_text, line)
    assert ended.value.code == 1
    assert capsys.readouterr().err == f"prog: {message}\n\n{help_text}\n"


def test_own_types_convert_and_check(lua: bridge.Lua) -> None:
    even = "lapp.add_type('even', 'number', function(x) lapp.assert(x % 2 == 0, 'not even') end)"
    assert lua.execute(f"{even} return lapp('-n (even) n', {{'-n', '4'}}).n") == 4
    with pytest.raises(SystemExit):
        lua.execute("return lapp('-n (even) n', {'-n', '3'}).n")


def test_classes_inherit_and_call_their_parents(lua: bridge.Lua) -> None:
    result = lua.execute("""
        class.Animal()
        function Animal:_init(name) self.name = name end
        function Animal:__tostring() return self.name .. ': ' .. self:speak() end
        class.Dog(Animal)
        function Dog:_init(name, age) self:super(name) self.age = age end
        function Dog:speak() return 'bark' end
        local dog = Dog('Fido', 3)
        return tostring(dog), dog:is_a(Animal), Animal:class_of(dog), Dog:class_of(Animal('x')), Dog._name,
           rawget(dog, 'super')
    """)
    assert result == ("Fido: bark", True, True, False, "Dog", None)


def test_a_class_can_answer_for_what_it_has_not(lua: bridge.Lua) -> None:
    code = "local A = class() A:catch(function(self, name) return name .. '!' end) return A().foo"
    assert lua.execute(code) == "foo!"


def test_an_ordered_map_keeps_its_order(lua: bridge.Lua) -> None:
    assert lua.execute("""
        local map = OrderedMap()
        map.b = 1 map.a = 2 map.c = 3
        map.a = nil
        map.a = 4
        local seen = {}
        for key, value in pairs(map) do table.insert(seen, key .. value) end
        return seen
    """) == ["b1", "c3", "a4"]


def test_modules_become_fields_of_a_table() -> None:
    with bridge.Lua() as state:
        state.execute("pl = require 'pl.import_into' ()")
        assert state.execute("return pl.tablex == require 'pl.tablex', pl.nosuch, tablex") == (
            True,
            None,
            None,
        )
        state.execute("own = setmetatable({size = 5}, {__index = {old = 7}}) require 'pl.import_into' (own)")
        assert state.execute("return own.size, own.old, own.path.join('a', 'b')") == (5, 7, "a/b")


def test_strings_get_methods_by_import() -> None:
    with bridge.Lua() as state:
        state.execute("require('pl.stringx').import() require('pl.stringx').format_operator()")
        assert state.eval("('a,b'):split(',')[2] .. ('%d-%s' % {1, 'x'}) .. ('%d' % 5)") == "b1-x5"


def test_a_tree_is_walked_copied_and_removed(lua: bridge.Lua, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "inner").mkdir(parents=True)
    (here / "a.txt").write_text("a")
    (here / "inner" / "b.lua").write_text("b")
    (here / "link").symlink_to("/")
    walked = lua.execute(
        "local t = {} for root, dirs, files in dir.walk(...) do table.insert(t, {root, #dirs, #files}) end return t",
        str(here),
    )
    assert walked == [[str(here), 2, 1], [str(here / "inner"), 0, 1]]
    assert lua.execute("return dir.getallfiles((...), '*.lua')", str(here)) == [str(here / "inner" / "b.lua")]
    (here / "link").unlink()
    lua.execute("assert(dir.clonetree((...), select(2, ...), dir.copyfile))", str(here), str(there))
    assert (there / "inner" / "b.lua").read_text() == "b"
    (there / "link").symlink_to(here)
    assert lua.execute("return dir.rmtree(...)", str(there)) is True
    assert not there.exists()
    assert (here / "a.txt").exists()


def test_files_are_read_written_copied_and_moved(lua: bridge.Lua, tmp_path: Path) -> None:
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three"))
    assert lua.execute("return file.write(...)", one, "a\0b") is True
    assert lua.execute("return file.copy(...)", one, two) is True
    assert lua.execute("return file.move(...)", two, three) is True
    assert lua.execute("return file.read(...)", three) == "a\0b"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "three"]
    assert lua.execute("return dir.makepath(...)", str(tmp_path / "x" / "y")) is True
    assert lua.execute("return file.copy(...)", "/no/file", two) == (
        False,
        "/no/file: No such file or directory",
    )


def test_data_files_become_rows(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text('name,size (mm)\n"a, b",1\nc,2.5\n')
    lua.execute("d = data.read(...)", str(tmp_path / "d.csv"))
    assert lua.eval("d.fieldnames") == ["name", "size__mm_"]
    assert lua.eval("d:column_by_name('size__mm_')") == [1, 2.5]
    assert lua.eval("d[1][1]") == "a, b"
    assert (
        lua.execute(
            "for name, size in d:select('name,size__mm_', function(r) return r[2] > 1 end) do return name end"
        )
        == "c"
    )
    with pytest.raises(bridge.LuaError, match="no field named age; there are name, size__mm_"):
        lua.eval("d:column_by_name('age')")


def test_strict_refuses_undeclared_globals() -> None:
    with bridge.Lua() as state:
        state.execute(
            "require 'pl.strict' declared = 1 function read() return undeclared end function write() new = 1 end"
        )
        for call, message in (
            ("read", "variable 'undeclared' is not declared"),
            ("write", "undeclared variable 'new'"),
        ):
            with pytest.raises(bridge.LuaError, match=message):
                state.execute(f"{call}()")
        assert state.eval("declared") == 1


def test_modules_come_when_their_names_are_read() -> None:
    with bridge.Lua() as state:
        state.execute("require 'pl'")
        assert state.eval("package.loaded['pl.tablex'] == nil and tablex == require 'pl.tablex'") is True
        assert state.eval("no_such_global") is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("stringx.strip(5)", "argument 1 expected a 'string', got a 'number'"),
        ("tablex.map(5, {1})", "argument 1:  must be callable"),
        ("tablex.readonly{1}.x()", "attempt to call"),
        ("utils.split('abc', 'x*')", "matches the empty string"),
        ("stringx.split('abc', '')", "empty separator"),
        ("stringx.wrap('a b', 0, true)", "a width of at least 1 expected, got 0"),
        ("dir.getfiles('/no/directory')", "argument 1: '/no/directory' not a directory"),
        ("pretty.write(utils.assert_string(2, {}))", "argument 2 expected a 'string', got a 'table'"),
    ],
)
def test_wrong_arguments_are_named(lua: bridge.Lua, call: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        lua.eval(call)
