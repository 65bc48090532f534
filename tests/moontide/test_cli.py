"""The command line: every command explains itself and reports errors in one line."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from moontide import locations
from moontide.cli import COMMANDS, main
from moontide.errors import CommandError


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


# The command line in a process that does not find some packages, as after a plain `pip install`.
WITHOUT = """
import sys
from importlib.machinery import PathFinder
missing, finders = set(sys.argv.pop(1).split(",")), list(sys.meta_path)

class Finder:
    find_distributions = PathFinder.find_distributions

    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in missing:
            return None
        return next((spec for f in finders if (spec := f.find_spec(name, path, target)) is not None), None)

sys.meta_path[:] = [Finder]
from moontide.cli import main
sys.exit(main(sys.argv[1:]))
"""
OPTIONAL = (
    "shtab,matplotlib,rich,sklearn,onnx,onnxscript,onnxruntime,safetensors,h5py,redis,torchfile,"
    "google,grpc,httptools,orjson,prometheus_client,starlette,uvicorn,uvloop"
)


def without_extras(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, OPTIONAL, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("arguments", "packages", "extra"),
    [
        (("completion", "bash"), "shtab", "completion"),
        (("demo",), "matplotlib, rich, sklearn", "demo"),
        (("convert", "model.t7", "model.onnx"), "onnx, onnxscript", "onnx"),
        (("convert", "model.t7", "model.safetensors"), "safetensors", "safetensors"),
        (
            ("serve", "model.t7"),
            "google.protobuf, grpc, httptools, orjson, prometheus_client, starlette, uvicorn, uvloop",
            "serve",
        ),
    ],
    ids=["completion", "demo", "onnx", "safetensors", "serve"],
)
def test_a_command_says_first_what_it_needs_beside_moontide(
    arguments: tuple[str, ...], packages: str, extra: str
) -> None:
    done = without_extras(*arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert packages in done.stderr
    assert done.stderr.endswith(f"missing: {packages}; pip install 'moontide[{extra}]'\n")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.long
def test_the_other_commands_run_without_extras(tmp_path: Path) -> None:
    program, model = tmp_path / "program.lua", tmp_path / "model.t7"
    program.write_text("require 'optim' torch.save(arg[1], nn.Sequential():add(nn.Linear(2, 1))) print(#arg)")
    for arguments in (
        ("run", "-l", "nn", program, model),
        ("inspect", model),
        ("convert", model, tmp_path / "model.pt"),
        ("paths",),
        ("version",),
        ("launch", "-n", "1", "true"),
        ("node", "--generate-keys"),
    ):
        done = without_extras(*arguments)
        assert (done.returncode, done.stderr) == (0, ""), arguments


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself_and_its_options(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    options = [line.strip() for line in text.splitlines() if line.startswith("  --")]
    assert (COMMANDS[name].__doc__ or "").split(":")[0].split(".")[0][:40] in text
    assert [line for line in options if "  " not in line] == []


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("version",), ("paths",), ("run", "-e", "print(1)")])
def test_output_that_nobody_reads_ends_the_command_in_silence(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-c", "import sys; from moontide.cli import main; sys.exit(main())"]
        done = subprocess.run(
            [*command, *arguments], check=False, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_the_list_of_commands_names_each_with_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(name in text and command.HELP in text for name, command in COMMANDS.items())


def test_a_command_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_version_prints_the_installed_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert f"moontide  {version('moontide')}\n" in output(capsys, "version")


def test_the_lua_template_leads_to_luaps(capsys: pytest.CaptureFixture[str]) -> None:
    templates = output(capsys, "paths", "--lua").strip().split(";")
    assert any(Path(template.replace("?", "luaps")).is_file() for template in templates)


def test_the_library_path_is_that_of_libps(capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(output(capsys, "paths", "--libps").strip())
    assert path.name == "libps.so"
    assert path.is_file()


def test_paths_prints_both_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "paths")
    assert locations.lua_path() in text
    assert str(locations.libps()) in text


@pytest.mark.skipif(not shutil.which("luajit"), reason="luajit is missing (Debian: luajit)")
def test_the_lines_for_a_shell_let_a_plain_luajit_require_luaps(capsys: pytest.CaptureFixture[str]) -> None:
    script = output(capsys, "paths", "--shell") + """luajit -e "print(type(require('luaps').worker))" """
    clean = {key: value for key, value in os.environ.items() if not key.startswith("LUA")}
    done = subprocess.run(
        ["sh", "-c", script], check=False, capture_output=True, text=True, timeout=30, env=clean
    )
    assert (done.stdout, done.stderr) == ("function\n", "")


@pytest.mark.slow
def test_run_gives_a_program_its_arguments(tmp_path: Path) -> None:
    program = tmp_path / "sum.lua"
    program.write_text("print(arg[1] + arg[2])")
    done = subprocess.run(
        [sys.executable, "-m", "moontide", "run", program, "1", "2"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("3\t\n", "", 0)


@pytest.mark.parametrize("option", ["--workers=0", "--epochs=-1", "--epochs=many"])
def test_the_demo_refuses_a_size_below_one(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["demo", option])
    assert ended.value.code == 2
    assert option.split("=", maxsplit=1)[0] in capsys.readouterr().err


def test_an_error_that_a_user_can_act_on_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Path:
        raise CommandError("libps has not been built")

    monkeypatch.setattr(locations, "libps", missing)
    assert main(["paths", "--libps"]) == 1
    assert capsys.readouterr().err == "moontide paths: libps has not been built\n"


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(CommandError, match="no_such_package"):
        locations.package_directory("no_such_package")
