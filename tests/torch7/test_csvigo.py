"""csvigo: files of separated values, as Python's csv module reads and writes them."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

ROWS = [
    ["name", "size", "note"],
    ["a", "1", 'says "hi", twice'],
    ["b", "", "two\nlines"],
    ["c", "3", ""],
]


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("csvigo")
        yield state


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(ROWS)
    return str(path)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "^", "%"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_rows_are_what_python_wrote(lua: bridge.Lua, tmp_path: Path, separator: str, ending: str) -> None:
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream, delimiter=separator, lineterminator=ending).writerows(ROWS)
    code = "return csvigo.load{path = (...), separator = select(2, ...), mode = 'raw', verbose = false}"
    assert lua.execute(code, str(path), separator) == ROWS


def test_python_reads_what_is_written(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    lua.execute("csvigo.save{path = (...), data = select(2, ...), verbose = false}", str(path), ROWS)
    with path.open(newline="") as stream:
        assert list(csv.reader(stream)) == ROWS


def test_tidy_are_columns(lua: bridge.Lua, file: str) -> None:
    assert lua.execute("return csvigo.load{path = ..., verbose = false}", file) == {
        "name": ["a", "b", "c"],
        "size": ["1", "", "3"],
        "note": ['says "hi", twice', "two\nlines", ""],
    }


def test_without_a_header_columns_are_numbered(lua: bridge.Lua, file: str) -> None:
    code = "return csvigo.load{path = ..., header = false, skip = 1, verbose = false}"
    assert lua.execute(code, file)["var_1"] == ["a", "b", "c"]


def test_the_order_of_columns_can_be_had(lua: bridge.Lua, file: str) -> None:
    code = "return (csvigo.load{path = ..., column_order = true, verbose = false})"
    assert lua.execute(code, file) == ["name", "size", "note"]


def test_large_makes_rows_when_they_are_asked_for(lua: bridge.Lua, file: str) -> None:
    code = """
    local rows = csvigo.load{path = ..., mode = 'large', verbose = false}
    local names = {}
    for i, row in ipairs(rows) do names[i] = row[1] end
    local count = 0
    for _ in pairs(rows) do count = count + 1 end
    return #rows, rows[3], rows[5], names, count
    """
    assert lua.execute(code, file) == (4, ROWS[2], None, ["name", "a", "b", "c"], 4)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("", ["a", "b", "a"]),
        ("'all'", ["a", "b", "a"]),
        ("'union', {name = 'a', size = 2}", ["a", "b", "a"]),
        ("'union', {size = {2, 3}}", ["b", "a"]),
        ("'inter', {name = 'a', size = {2, 3}}", ["a"]),
        ("'inter', {name = {'a', 'b'}}", ["a", "b", "a"]),
        ("'inter', {name = 'zebra'}", []),
    ],
)
def test_queries_pick_rows(lua: bridge.Lua, tmp_path: Path, question: str, names: list[str]) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("name,size\na,1\nb,2\na,3\n")
    code = f"return csvigo.load{{path = ..., mode = 'query', verbose = false}}({question or 'nil'}).name"
    assert lua.execute(code, str(path)) == names


def test_columns_are_saved_in_an_order(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    code = """
    csvigo.save{path = ..., data = {b = {1, 0/0}, a = {'x', 'y'}}, column_order = {'b', 'a'}, nan_as_missing = true,
       verbose = false}
    """
    lua.execute(code, str(path))
    assert path.read_text() == "b,a\n1,x\n,y\n"


def test_what_is_done_is_printed(lua: bridge.Lua, file: str, capfd: pytest.CaptureFixture[str]) -> None:
    lua.execute("csvigo.load(...)", file)
    assert capfd.readouterr().out.splitlines()[0] == f"<csv>\tparsing file: {file}"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("csvigo.load{path = '/nowhere/x.csv', verbose = false}", "No such file"),
        ("csvigo.load{path = ..., mode = 'neat', verbose = false}", "'tidy', 'query' or 'large', got neat"),
        ("csvigo.load{path = ..., separator = ', ', verbose = false}", "must be one character"),
        ("csvigo.load{path = ..., verbose = false}('inter', {x = 1})", "attempt to call"),
        (
            "csvigo.load{path = ..., mode = 'query', verbose = false}('inter', {x = 1})",
            "there is no column x",
        ),
        ("csvigo.load{path = ..., mode = 'query', verbose = false}('best')", "a query is"),
        ("csvigo.load{path = ..., skip = 10, verbose = false}", "there is no line 11"),
    ],
)
def test_what_cannot_be_is_told(lua: bridge.Lua, file: str, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code, file)
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("text", "message"), [('a,"b\nc', "does not end"), ("a,b\n1,2,3\n", "more fields than the 2 columns")]
)
def test_what_is_wrong_with_a_file_is_told(lua: bridge.Lua, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(bridge.LuaError, match=message):
        lua.execute("csvigo.load{path = ..., verbose = false}", str(path))
