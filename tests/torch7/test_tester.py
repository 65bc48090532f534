"""torch.Tester, torch.TestSuite and torch.test: what they assert, count, print and how they end."""

from __future__ import annotations

import re

import pytest

import bridge

# An assertion, whether it holds, and the message that it leaves when it does not.
ASSERTIONS: list[tuple[str, str | None]] = [
    ("assert(true)", None),
    ("assert(false, 'why')", "why\nBOOL violation condition=false"),
    ("assert(nil)", "BOOL violation condition=nil"),
    ("assertlt(1, 2)", None),
    ("assertlt(2, 2)", "LT failed: 2 >= 2"),
    ("assertgt(2, 1)", None),
    ("assertgt(1, 2, 'm')", "m\nGT failed: 1 <= 2"),
    ("assertle(2, 2)", None),
    ("assertle(3, 2)", "LE failed: 3 > 2"),
    ("assertge(2, 2)", None),
    ("assertge(1, 2)", "GE failed: 1 < 2"),
    ("asserteq('a', 'a')", None),
    ("asserteq(1, 2)", "EQ failed: 1 ~= 2"),
    ("assertne(1, 2)", None),
    ("assertne(2, 2)", "NE failed: 2 == 2"),
    ("assertalmosteq(1, 1)", None),
    ("assertalmosteq(1, 1.05, 0.1)", None),
    ("assertalmosteq(1, 2, 0.5, 'm')", "m\nALMOST_EQ failed: 1 ~= 2 with tolerance=0.5"),
    ("assertalmosteq(1, 2, 'm', 0.5)", "m\nALMOST_EQ failed: 1 ~= 2 with tolerance=0.5"),
    ("assertTensorEq(T{1, 2}, T{1, 2})", None),
    ("assertTensorEq(T{1, 2}, T{1, 3}, 1)", None),
    ("assertTensorEq(T{1, 2}, T{1, 4}, 1, 'm')", "m\nTensorEQ(==) violation: max diff=2, tolerance=1"),
    ("assertTensorEq(T{1}, torch.FloatTensor{1})", "The tensors have different types"),
    ("assertTensorEq(T{1}, T{1, 2})", "The tensors have different sizes"),
    ("assertTensorEq(T{{1}}, T{1})", None),
    ("assertTensorNe(T{1, 2}, T{1, 3})", None),
    ("assertTensorNe(T{1, 2}, T{1, 2})", "TensorNE(==) violation: max diff=0, tolerance=0"),
    ("assertTensorEq(T{0/0}, T{1})", "TensorEQ(==) violation: max diff=nan, tolerance=0"),
    ("assertTensorEq(T{1/0}, T{1/0})", "TensorEQ(==) violation: max diff=nan, tolerance=0"),
    (
        "assertTensorEq(torch.ByteTensor{1}, torch.ByteTensor{3})",
        "TensorEQ(==) violation: max diff=2, tolerance=0",
    ),
    ("assertTableEq({1, {2}}, {1, {2}})", None),
    ("assertTableEq({1, {2}}, {1, {3}})", "At table location 2.1: EQ failed: 2 ~= 3"),
    ("assertTableEq({1, {2}}, {1, {3}}, 1)", None),
    ("assertTableNe({1}, {2})", None),
    ("assertTableNe({1}, {1})", "The tables are equal"),
    ("eq(1, 1)", None),
    ("eq(1, 1.5, 0.5)", None),
    ("eq(1, 2, 'm')", "m\nEQ failed: 1 ~= 2"),
    ("eq(1, '1')", "EQ failed: values have different types (first: number, second: string)"),
    ("eq('a', 'a')", None),
    ("eq('a', 'b')", "EQ failed: a (string) ~= b (string)"),
    ("eq(T{{1}}, T{1})", "The tensors have different dimensions"),
    ("eq(torch.LongStorage{1, 2}, torch.LongStorage{1, 2})", None),
    ("eq(torch.LongStorage{1, 2}, torch.LongStorage{1, 3}, 1)", None),
    ("eq(torch.LongStorage{1}, torch.LongStorage{1, 3})", "The storages have different sizes"),
    ("eq(torch.LongStorage{1}, torch.IntStorage{1})", "The storages have different types"),
    (
        "eq({x = 1, y = {z = T{1, 2}}}, {x = 1, y = {z = T{1, 5}}})",
        "At table location y.z: TensorEQ(==) violation: max diff=3, tolerance=0",
    ),
    ("eq({1}, {1, 2})", "Entry 2 missing in first table (is 2 in second)"),
    ("eq({1, 'b'}, {1})", "Entry 2 missing in second table (is b in first)"),
    ("eq({a = {b = 1}}, {a = {}})", "Entry a.b missing in second table (is 1 in first)"),
    ("eq(1, 2, 0.5)", "EQ failed: 1 ~= 2 with tolerance=0.5"),
    ("eq({1/0}, {1/0})", "At table location 1: EQ failed: inf ~= inf"),
    ("eq(torch.LongStorage{1}, torch.LongStorage{3})", "StorageEQ(==) violation: max diff=2, tolerance=0"),
    ("eq(true, false)", "EQ failed: true (boolean) ~= false (boolean)"),
    ("eq(T(), T())", None),
    ("ne(1, 2)", None),
    ("ne(1, 1)", "NE failed: 1 == 1"),
    ("ne(1, '1')", None),
    ("ne(T{1}, T{1, 2})", None),
    ("assertGeneralEq({}, {})", None),
    ("assertGeneralNe('a', 'a')", "NE failed: a (string) == a (string)"),
    ("assertError(function() error('x') end)", None),
    ("assertError(function() end)", "ERROR violation: err=nil"),
    ("assertNoError(function() end)", None),
    ("assertNoError(function() error('x', 0) end, 'm')", "m\nERROR violation: err=x"),
    ("assertErrorMsg(function() error('x', 0) end, 'x')", None),
    ("assertErrorMsg(function() error('y', 0) end, 'x')", "ERROR violation: err=y"),
    ("assertErrorPattern(function() error('abc', 0) end, 'b')", None),
    ("assertErrorPattern(function() error('abc', 0) end, 'x')", "ERROR violation: err=abc"),
    ("assertErrorObj(function() error({7}) end, function(e) return e[1] == 7 end)", None),
]

SUITE = """
local tests = torch.TestSuite()
tester = torch.Tester()
function tests.fails()
   tester:eq(1, 2, 'not the same')
end
function tests.breaks() error('broken') end
function tests.passes()
   tester:assert(true)
   tester:assert(5)
end
function tests.disabled() error('never') end
tester:add(tests):disable('disabled')
"""


@pytest.mark.parametrize(("assertion", "message"), ASSERTIONS)
def test_assertions(
    lua: bridge.Lua, capsys: pytest.CaptureFixture[str], assertion: str, message: str | None
) -> None:
    code = f"""
    local T = torch.DoubleTensor
    local tester, value = torch.Tester(), nil
    tester:add(function() value = tester:{assertion} end, 'it')
    local ok, raised = pcall(tester.run, tester)
    return ok, value, tester.countasserts, tester.errors[1]
    """
    ok, value, count, told = lua.execute(code)
    assert (ok, value, count) == (message is None, message is None, 1)
    if message is not None:
        assert told.startswith(f"it\n{message}\nstack traceback:\n\t(python):4: in function")
        assert told in capsys.readouterr().out
    else:
        assert told is None


def test_tables_with_cycles_are_compared(lua: bridge.Lua) -> None:
    lua.execute(
        "local t = torch.Tester() local a, b = {}, {} a.a, b.a = a, b t:add(function() t:eq(a, b) end) t:run()"
    )


@pytest.mark.parametrize("method", ["assertGeneralEq", "assertGeneralNe"])
def test_short_names_call_the_long_ones(lua: bridge.Lua, method: str) -> None:
    code = """
    local tester = torch.Tester()
    tester[...] = function() return 'replaced' end
    return tester[({assertGeneralEq = 'eq', assertGeneralNe = 'ne'})[...]](tester, 1, 2)
    """
    assert lua.execute(code, method) == "replaced"


@pytest.mark.parametrize(
    ("call", "warning"),
    [
        (
            "assert(nil)",
            " :assert should only be used for boolean conditions. To check for non-nil variables, ",
        ),
        ("assertne({}, {})", "Consider using either :assertGeneralNe or :assert(a ~= b)."),
        ("assertne(torch.Tensor(), 1)", " :assertne should only be used to compare basic lua objects "),
        (
            "assertTensorEq(torch.ones(1, 2), torch.ones(2))",
            "different dimensions. For backwards compatibility, ",
        ),
    ],
)
def test_warnings_have_the_originals_words(lua: bridge.Lua, call: str, warning: str) -> None:
    code = f"""
    local tester = torch.Tester()
    tester:add(function() tester:{call} end, 'it')
    pcall(tester.run, tester)
    return #tester.warnings, tester.warnings[1]
    """
    count, told = lua.execute(code)
    assert count == 1
    assert warning in told


def test_programs_with_arguments_report_in_colours(
    lua: bridge.Lua, capsys: pytest.CaptureFixture[str]
) -> None:
    lua.execute("arg = {} " + SUITE + "pcall(tester.run, tester)")
    printed = capsys.readouterr().out
    for part in [
        "\r\33[0;36m1/4 \33[0m",
        "[\33[0;36mWAIT\33[0m]",
        "[\33[0;32mPASS\33[0m]",
        "[\33[0;31mFAIL\33[0m]",
        "[\33[0;35mERROR\33[0m]",
        "[\33[0;33mSKIP\33[0m]",
        "[\33[0;33m+warning\33[0m]",
        "with \33[0;31m1 failure\33[0m and \33[0;35m1 error\33[0m and \33[0;33m1 warning\33[0m and ",
        " and \33[0;33m1 disabled\33[0m\n",
    ]:
        assert part in printed


def test_the_report_tells_what_happened(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute(SUITE)
    with pytest.raises(bridge.LuaError, match="An error was found while running tests!"):
        lua.execute("tester:run()")
    printed = capsys.readouterr().out
    lines = printed.replace("\r", "\n").splitlines()
    assert lines[0] == "Running 4 tests"
    finished = {line.split()[1]: line for line in lines if re.match(r"\d/4 ", line) and "WAIT" not in line}
    assert {name: line[-6:].strip("[ ]") for name, line in finished.items()} == {
        "fails": "FAIL",
        "breaks": "ERROR",
        "passes": "PASS",
        "disabled": "SKIP",
    }
    assert finished["fails"][4:] == "fails " + "." * 63 + " [FAIL]"
    assert (
        "Completed 3 asserts in 4 tests with 1 failure and 1 error and 1 warning and 1 disabled\n" in printed
    )
    assert f"{'-' * 80}\nfails\nnot the same\nEQ failed: 1 ~= 2\n" in printed
    assert "breaks\n Function call failed\n(python):7: broken\nstack traceback:" in printed
    assert "passes\n :assert should only be used for boolean conditions." in printed


def test_a_warning_is_shown_below_the_test(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute("local t = torch.Tester() t:add(function() t:assert(5) end, 'it') t:run()")
    assert f" [PASS]\n{' ' * 70}[+warning]\n" in capsys.readouterr().out


def test_all_is_well_when_all_pass(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    assert lua.execute("return torch.Tester():add(function() end, 'nothing'):run()") == 0
    assert capsys.readouterr().out.endswith("Completed 0 asserts in 1 test with 0 failures and 0 errors\n")


def test_names_are_patterns_of_tests_to_run(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute(SUITE)
    assert lua.execute("return tester:run('^pass'), tester:run{'passes', 'disabled'}") == (0, 0)
    assert "Running 2 tests" in capsys.readouterr().out


def test_set_up_and_tear_down_are_around_each_test(lua: bridge.Lua) -> None:
    code = """
    local said, tests, tester = {}, torch.TestSuite(), torch.Tester()
    local function say(text) return function(name) said[#said + 1] = text .. tostring(name) end end
    tests._setUp, tests._tearDown, tests.one = say('up '), say('down '), say('test ')
    tester:add(tests):run()
    return said
    """
    assert lua.execute(code) == ["up one", "test nil", "down one"]


def test_an_early_abort_leaves_the_rest(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    code = """
    local tester, runs = torch.Tester(), 0
    for i = 1, 5 do tester:add(function() runs = runs + 1 tester:assert(false) end, 'test' .. i) end
    tester:setEarlyAbort(true)
    pcall(tester.run, tester)
    return runs
    """
    assert lua.execute(code) == 1
    assert "Aborting on first error, not all tests have been executed\n" in capsys.readouterr().out


def test_failures_may_be_rethrown(lua: bridge.Lua) -> None:
    lua.execute("t = torch.Tester() t:add(function() t:eq(1, 2, 'mine') end, 'it') t:setRethrowErrors(true)")
    with pytest.raises(bridge.LuaError, match="mine\nEQ failed"):
        lua.execute("t:run()")


def test_a_summary_leaves_the_messages_out(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute(SUITE + "tester:setSummaryOnly(true) pcall(tester.run, tester)")
    printed = capsys.readouterr().out
    assert "Completed 3 asserts" in printed
    assert "-----" not in printed
    assert "not the same" not in printed


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("local s = torch.TestSuite() s.a = print s.a = print", "Test a is already defined."),
        ("torch.TestSuite().a = {}", "Nested tables of tests are not supported"),
        ("torch.TestSuite().a = 5", "Only functions are supported as members of a TestSuite"),
        ("torch.Tester():add(print, 'a'):add(print, 'a')", "Test with name a already exists!"),
        ("torch.Tester():add({a = {}})", "Nested sets of tests are not supported"),
        ("torch.Tester():add({}, 'a')", "Name parameter is forbidden for a table of tests"),
        ("torch.Tester():add(5)", "Only tables of functions and functions supported"),
        ("torch.Tester():disable('a')", "Unrecognized test 'a'"),
        ("torch.Tester():run('a')", "Couldn't find test 'a'"),
        ("torch.Tester():eq(1, 1, -1)", "tolerance cannot be negative"),
        ("torch.Tester():eq(1, 1, {})", "bad argument #2 to 'error' (number expected, got table)"),
        ("torch.Tester():eq(1, 1, 1, 2)", "Unexpected number argument; already have tolerance"),
        ("torch.Tester():eq(1, 1, 'a', 'b')", "bad argument #2 to 'error' (number expected, got string)"),
        ("torch.Tester():assert(true, 'a', 'b')", "Unexpected arguments passed to test function"),
        ("torch.Tester():assertTensorEq(1, 1)", "First argument should be a Tensor"),
        ("torch.Tester():assertTableEq({}, 1)", "Second argument should be a Table"),
    ],
)
def test_misuse_is_told(lua: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code)
    assert message in raised.value.message


def test_a_suite_can_be_read(lua: bridge.Lua) -> None:
    assert lua.execute("local s = torch.TestSuite() s.a = print return s.a == print, s.b") == (True, None)


def test_the_fields_are_those_of_files(lua: bridge.Lua) -> None:
    code = "local names = {} for name in pairs(torch.Tester()) do names[#names + 1] = name end return names"
    assert set(lua.execute(code)) == {
        "_currentTestName",
        "_warningCount",
        "warnings",
        "errors",
        "tests",
        "disabledTests",
        "_assertTensorEqIgnoresDims",
    }


def test_this_runtime_passes_its_own_test(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    assert lua.eval("torch.test()") == 0
    assert capsys.readouterr().out.endswith(" with 0 failures and 0 errors\n")
