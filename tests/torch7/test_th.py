"""The th command: scripts, arguments, exit codes, tracebacks, code and libraries from the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.th import UsageError, parse


def th(
    *arguments: str, given: str | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bridge.th", *arguments],
        input=given if given is not None else "",
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        check=False,
    )


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "script.lua"


@pytest.mark.slow
def test_a_script_gets_its_arguments(script: Path) -> None:
    script.write_text("print(arg[0], arg[1], arg[2], select('#', ...), (...))")
    assert th(str(script), "a", "-e").stdout == f"{script}\ta\t-e\t2\ta\t\n"


@pytest.mark.slow
def test_torch_and_its_companions_are_there(script: Path) -> None:
    script.write_text("print(torch.Tensor{1}:sum(), paths ~= nil, sys ~= nil, ('a b'):split(' ')[2])")
    assert th(str(script)).stdout == "1\ttrue\ttrue\tb\t\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("os.exit(7)", 7),
        ("os.exit()", 0),
        ("os.exit(true)", 0),
        ("os.exit(false)", 1),
        ("error('x')", 1),
        ("", 0),
    ],
)
def test_exit_codes(script: Path, code: str, status: int) -> None:
    script.write_text(code)
    assert th(str(script)).returncode == status


@pytest.mark.slow
def test_exit_leaves_through_pcall_with_everything_written(script: Path, tmp_path: Path) -> None:
    script.write_text(
        "io.write('one ') io.open('out.txt', 'w'):write('kept') pcall(function() os.exit(3) end) print('never')"
    )
    done = th(str(script), cwd=tmp_path)
    assert (done.returncode, done.stdout, (tmp_path / "out.txt").read_text()) == (3, "one ", "kept")


@pytest.mark.slow
def test_an_error_shows_the_programs_own_traceback(script: Path) -> None:
    script.write_text("local function f()\n   error('deep')\nend\nlocal ok = f()\n")
    done = th(script.name, cwd=script.parent)
    assert done.stdout == ""
    assert done.stderr == (
        "th: script.lua:2: deep\nstack traceback:\n\t[C]: in function 'error'\n"
        "\tscript.lua:2: in function 'f'\n\tscript.lua:4: in main chunk\n"
    )


@pytest.mark.slow
def test_a_missing_script_is_named() -> None:
    done = th("/no/such.lua")
    assert (done.returncode, done.stderr) == (1, "th: cannot open /no/such.lua: No such file or directory\n")


@pytest.mark.slow
def test_a_syntax_error_is_told_without_traceback(script: Path) -> None:
    script.write_text("x = = 1")
    assert th(script.name, cwd=script.parent).stderr == "th: script.lua:1: unexpected symbol near '='\n"


@pytest.mark.slow
def test_code_and_libraries_run_in_order(tmp_path: Path) -> None:
    (tmp_path / "mine.lua").write_text("return {n = 5}")
    assert th("-e", "n = 1", "-l", "mine", "-e", "print(n, mine.n)", cwd=tmp_path).stdout == "1\t5\t\n"


@pytest.mark.slow
def test_a_file_beside_the_script_can_be_required(tmp_path: Path) -> None:
    (tmp_path / "mine.lua").write_text("return #setmetatable({}, {__len = function() return 9 end})")
    assert th("-e", "print(require './mine')", cwd=tmp_path).stdout == "9\t\n"


@pytest.mark.slow
def test_names_with_dots_are_looked_for_beside_the_file_that_requires_them(tmp_path: Path) -> None:
    for folder in ("tool", "data/deep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tool" / "run.lua").write_text(
        "local a = require '../data/load' local b = require './same' print(a, b)"
    )
    (tmp_path / "tool" / "same.lua").write_text("return 'tool'")
    (tmp_path / "data" / "load.lua").write_text(
        "local s, d = require './same', require './deep' return s .. d"
    )
    (tmp_path / "data" / "same.lua").write_text("return 'data'")
    (tmp_path / "data" / "deep" / "init.lua").write_text("return ' deep'")
    assert th("tool/run.lua", cwd=tmp_path).stdout == "data deep\ttool\t\n"
    failed = th("-e", "require './none'", cwd=tmp_path)
    assert failed.returncode == 1
    assert "cannot open" in failed.stderr
    assert "/none/init.lua" in failed.stderr


@pytest.mark.slow
def test_paths_dofile_looks_beside_the_calling_file(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.lua").write_text("local b = paths.dofile('b.lua') return b")
    (tmp_path / "inner" / "b.lua").write_text("return 'found'")
    assert th("-e", f"print(dofile('{tmp_path}/inner/a.lua'))").stdout == "found\t\n"


@pytest.mark.slow
def test_what_comes_through_a_pipe_is_run() -> None:
    assert th(given="print(1 + 1)").stdout == "2\t\n"


@pytest.mark.slow
def test_a_dash_reads_the_script_from_standard_input() -> None:
    assert th("-", "a", given="print(...)").stdout == "a\t\n"


PRINTED = [
    ("print('a', 1, nil, true)", "a\t1\tnil\ttrue\t\n"),
    ("print()", ""),
    ("print(nil)", "nil\t\n"),
    ("print('a', {1})", "a\t{\n  1 : 1\n}\n"),
    ("print({})", "{}\n"),
    ("print({x = {1}})", "{\n  x : \n    {\n      1 : 1\n    }\n}\n"),
    ("print({'a', false})", '{\n  1 : "a"\n  2 : false\n}\n'),
    ("print({{}})", "{\n  1 : {...}\n}\n"),
    ("print({torch.FloatTensor(3, 2)})", "{\n  1 : FloatTensor - size: 3x2\n}\n"),
    ("print({torch.Tensor()})", "{\n  1 : DoubleTensor - empty\n}\n"),
    ("print({torch.LongStorage(4)})", "{\n  1 : LongStorage - size: 4\n}\n"),
    ("print({torch.LongStorage()})", "{\n  1 : LongStorage - size: 0\n}\n"),
    ("print('t', torch.Tensor{5}, 6)", "t\t 5\n[torch.DoubleTensor of size 1]\n\n6\t\n"),
    ("require 'nn' print(nn.Linear(2, 3))", "nn.Linear(2 -> 3)\n"),
    ("setprintlevel(1) print({{1}})", "{\n  1 : {...}\n}\n"),
    ("local t = {} t.t = t setprintlevel(2) print(t)", "{\n  t : \n    {\n      t : {...}\n    }\n}\n"),
    (
        "require 'nn' local m = nn.Identity() for k in pairs(m) do m[k] = nil end m.n = 1 print{m}",
        "{\n  1 : \n    {\n      n : 1\n    }\n}\n",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("code", "text"), PRINTED)
def test_print_shows_values_as_torch7_does(code: str, text: str) -> None:
    assert th("-e", code).stdout == text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("print(('%d items'):format(2) == '%d items' % 2, '%s-%s' % {1, 'b'})", "true\t1-b\t\n"),
        ("print(dok.unpack ~= nil, help == dok.help)", "true\ttrue\t\n"),
        ("setprintlevel(0) print({} ~= nil)", "true\n"),
        ("print_old('plain', 1)", "plain\t1\n"),
        ("print_new('new')", "new\t\n"),
        (
            "print(pcall(setprintlevel), (select(2, pcall(setprintlevel, -1))):match('expected.*'))",
            "false\texpected number [0,+)\t\n",
        ),
        ("import 'sys' print(tic == sys.tic)", "true\t\n"),
        ("x_y = {1} z = torch.ones(2, 3) who()", "== User Variables ==\t\n"),
        ("print(type(require 'trepl'), _LAST == '', #_RESULTS)", "function\ttrue\t0\t\n"),
        ("print(require 'trepl.colorize'.red('x'))", "x\t\n"),
        ("print(sys.COLORS.red:byte())", "27\t\n"),
        ("require 'image' print({nn = 1, image.lena ~= nil})", "{\n  1 : true\n  nn : 1\n}\n"),
    ],
)
def test_what_th_brings_is_there(code: str, text: str) -> None:
    assert text in th("-e", code).stdout


@pytest.mark.slow
def test_who_lists_the_programs_variables() -> None:
    shown = th("-e", "mine = torch.ones(2, 3) text = ('x'):rep(50) who()").stdout
    assert "== System Variables ==" not in shown
    assert "DoubleTensor - size: 2x3" in shown
    assert f'string : "{"x" * 40}..."' in shown
    assert "[torch]" not in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("data.json", '{"a": [1, 2]}', "2"),
        ("data.csv", "a,b\n1,2\n", "2"),
        ("code.lua", "return {a = {1, 2}}", "2"),
    ],
)
def test_kinds_of_files_are_required_as_what_they_are(
    tmp_path: Path, name: str, content: str, shown: str
) -> None:
    (tmp_path / name).write_text(content)
    kind = name.partition(".")[2]
    last = {"json": "d.a[2]", "csv": "d.b[1]", "lua": "d.a[2]"}[kind]
    for required in (name.partition(".")[0], name) if kind != "lua" else ("code",):
        done = th("-e", f"local d = require './{required}' print({last})", cwd=tmp_path)
        assert done.stdout.splitlines()[-1:] == [f"{shown}\t"], done.stderr


@pytest.mark.slow
def test_saved_objects_are_required_beside(tmp_path: Path) -> None:
    code = "torch.save('t.th', torch.ones(2)) require 'nn' torch.save('m.net', nn.Linear(1, 2))"
    assert th(
        "-e", f"{code} print(require('./t'):sum(), torch.type(require './m.net'))", cwd=tmp_path
    ).stdout == ("2\tnn.Linear\t\n")


@pytest.mark.slow
def test_new_globals_are_told_of(script: Path) -> None:
    script.write_text("x = 1\nlocal y = z\n")
    told = th("-g", script.name, cwd=script.parent).stdout
    assert told == (
        "created global variable: x @ script.lua:1\t\nattempt to read undeclared variable: z @ script.lua:2\t\n"
    )


@pytest.mark.slow
def test_new_globals_are_errors_when_strict(script: Path) -> None:
    script.write_text("x = 1")
    done = th("-gg", script.name, cwd=script.parent)
    assert done.returncode == 1
    assert "created global variable: x @ script.lua:1" in done.stderr


@pytest.mark.slow
def test_what_is_printed_is_written_at_once(script: Path) -> None:
    script.write_text("print('now') io.read()")
    with subprocess.Popen(
        [sys.executable, "-m", "bridge.th", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\t\n"  # while the program waits
        process.communicate("\n", timeout=60)


@pytest.mark.slow
def test_what_stood_before_the_script_has_negative_indices(script: Path) -> None:
    script.write_text("print(arg[-3], arg[-2], arg[-1], arg[0] == ..., arg[1])")
    assert th("-l", "nn", str(script), str(script)).stdout == f"th\t-l\tnn\ttrue\t{script}\t\n"


@pytest.mark.slow
def test_moontide_run_is_the_same(script: Path) -> None:
    script.write_text("print(n, nn ~= nil, arg[1], arg[2]) os.exit(3)")
    done = subprocess.run(
        [sys.executable, "-m", "moontide", "run", "-e", "n = 1", "-l", "nn", str(script), "-e", "-i"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("1\ttrue\t-e\t-i\t\n", 3)


@pytest.mark.slow
def test_failing_tests_end_with_status_1(script: Path) -> None:
    script.write_text("local t = torch.Tester() t:add(function() t:eq(1, 2) end, 'it') t:run()")
    done = th(str(script))
    assert done.returncode == 1
    assert "with \33[0;31m1 failure\33[0m and \33[0;32m0 errors\33[0m" in done.stdout


@pytest.mark.slow
def test_output_that_nobody_reads_ends_the_program_quietly() -> None:
    command = f"{sys.executable} -m bridge.th -e 'for i = 1, 100000 do print(i) end'"
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("1\t\n141\n", "")


@pytest.mark.slow
def test_bytes_that_are_no_text_reach_the_program(script: Path) -> None:
    script.write_bytes(b"print(#arg[1], arg[1]:byte(1), #'\xff\xfe')")
    done = subprocess.run(
        [os.fsencode(sys.executable), b"-m", b"bridge.th", bytes(script), b"\xff\xfe\xfd"],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == b"3\t255\t2\t\n"


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["-i"]])
def test_input_that_is_no_text_is_run(options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bridge.th", *options],
        input=b"print(#'\xff\xfe')\n",
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.replace(b"th> ", b"").strip() == b"2"


@pytest.mark.slow
def test_help_tells_the_options() -> None:
    done = th("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: th [options] [script.lua [arguments]]")


@pytest.mark.parametrize("argv", [["-e"], ["-l"], ["--nonsense"]])
def test_a_wrong_command_line_is_refused(argv: list[str]) -> None:
    with pytest.raises(UsageError):
        parse(argv)


def test_options_end_at_the_script() -> None:
    arguments = parse(["-lnn", "-e", "x = 1", "run.lua", "-i", "--help"])
    assert arguments.before == [("library", "nn"), ("code", "x = 1")]
    assert (arguments.script, arguments.rest) == ("run.lua", ["-i", "--help"])
    assert not arguments.interactive
