"""What is built and shipped: the sdist is complete, the wheel has all that runs and nothing more."""

from __future__ import annotations

import faulthandler
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

BUILD_LIMIT = 900.0  # seconds; a core that others use as well takes minutes for all compiled modules

# Whichever test is the first to ask for the archives waits for them.
pytestmark = [pytest.mark.long, pytest.mark.timeout(BUILD_LIMIT + 60)]

ROOT = Path(__file__).parents[1]
NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", "build", "dist", "out", "prototypes", "*.egg-info", "*.so", "__pycache__", ".*_cache"
)
COMPILED = sorted(path for package in ("bridge", "pyps") for path in (ROOT / package).rglob("_*.pyx"))

needs_readelf = pytest.mark.skipif(
    not shutil.which("readelf"), reason="readelf is missing (Debian: binutils)"
)


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**clean, **environment},
        timeout=BUILD_LIMIT,
    )
    assert done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the sources without anything built."""
    return Path(shutil.copytree(ROOT, tmp_path_factory.mktemp("packaging") / "src", ignore=NOT_SOURCE))


@pytest.fixture(scope="module")
def sources(checkout: Path) -> set[str]:
    """List the files of the clean checkout."""
    return {str(path.relative_to(checkout)) for path in checkout.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def archives(checkout: Path, sources: set[str]) -> tuple[Path, Path]:
    """Build the sdist, and from it the wheel, in half the time: unoptimised, without what debuggers read.

    .ci/versions builds without our packages.
    """
    assert sources  # listed before the build leaves files of its own
    faulthandler.cancel_dump_traceback_later()  # which would end the run; the build has a limit of its own
    dist = checkout.parent / "dist"
    run(
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        dist,
        checkout,
        cwd=checkout.parent,
        CFLAGS="-O0 -g0",
        CXXFLAGS="-O0 -g0",
    )
    return next(dist.glob("moontide-*.tar.gz")), next(dist.glob("moontide-*.whl"))


@pytest.fixture(scope="module")
def wheel_files(archives: tuple[Path, Path]) -> set[str]:
    with zipfile.ZipFile(archives[1]) as wheel:
        return set(wheel.namelist())


@pytest.fixture(scope="module")
def installed(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel alone into a new environment, which borrows the dependencies of this one."""
    environment = tmp_path_factory.mktemp("installed") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment.parent)
    python = environment / "bin" / "python"
    own = sysconfig.get_path("purelib", vars={"base": str(environment)})
    Path(own, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--no-deps",
        archives[1],
        cwd=environment.parent,
    )
    return environment


def test_the_sdist_holds_every_source_file(archives: tuple[Path, Path], sources: set[str]) -> None:
    with tarfile.open(archives[0]) as sdist:
        packed = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    assert sources - packed == set()
    assert [name for name in packed if name.endswith((".so", ".pyc"))] == []


def test_no_two_files_differ_in_case_alone(sources: set[str]) -> None:
    """A disk that does not tell case apart would keep one of them."""
    by_name: dict[str, list[str]] = {}
    for name in sorted(sources):
        by_name.setdefault(name.lower(), []).append(name)
    assert [names for names in by_name.values() if len(names) > 1] == []


def test_the_wheel_holds_what_programs_need_at_run_time(wheel_files: set[str], sources: set[str]) -> None:
    packages = ("bridge/", "pyps/", "moontide/", "luaps/")
    wanted = {
        name
        for name in sources
        if name.startswith(packages) and name.endswith((".py", ".pyi", ".lua", "py.typed", "core/ps.h"))
    }
    wanted |= {f"moontide/{name}" for name in sources if name.startswith("examples/digits/")}
    wanted |= {"pyps/libps.so"}
    assert wanted - wheel_files == set()


def test_the_wheel_holds_no_sources_of_compiled_modules_and_no_foreign_packages(
    wheel_files: set[str],
) -> None:
    assert [name for name in wheel_files if name.endswith((".c", ".cpp", ".pyx", ".o"))] == []
    assert {name.split("/")[0].split("-")[0] for name in wheel_files} == {
        "bridge",
        "pyps",
        "moontide",
        "luaps",
    }


@pytest.mark.parametrize("package", ["bridge", "pyps", "moontide"])
def test_an_installed_package_imports_from_its_environment(installed: Path, package: str) -> None:
    code = f"import {package}; print({package}.__file__)"
    where = run(installed / "bin" / "python", "-I", "-c", code, cwd=installed)
    assert where.startswith(str(installed))


def test_an_installed_command_finds_the_lua_client_and_the_library(installed: Path) -> None:
    moontide = installed / "bin" / "moontide"
    template = run(moontide, "paths", "--lua", cwd=installed).split(";")[-1].strip()
    assert Path(template.replace("?", "luaps")).is_file()
    library = Path(run(moontide, "paths", "--libps", cwd=installed).strip())
    assert library.is_file()
    assert library.is_relative_to(installed)


def test_an_installed_th_runs_a_program(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "hello.lua"
    program.write_text("print('hello ' .. arg[1])")
    assert run(installed / "bin" / "th", program, "moon", cwd=tmp_path) == "hello moon\t\n"


def test_every_compiled_module_has_a_stub() -> None:
    assert [path.name for path in COMPILED if not path.with_suffix(".pyi").is_file()] == []


def needed(library: Path) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-d", library, cwd=ROOT)))


@needs_readelf
def test_the_wheels_libraries_carry_no_symbols_for_debuggers(
    archives: tuple[Path, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(archives[1]) as wheel:
        libraries = [name for name in wheel.namelist() if name.endswith(".so")]
        wheel.extractall(tmp_path, libraries)
    assert len(libraries) == 8
    for name in libraries:
        sections = run("readelf", "--wide", "--sections", tmp_path / name, cwd=ROOT)
        assert not re.search(r" \.(symtab|debug_\w+) ", sections), name
        assert ".dynsym" in sections


@needs_readelf
def test_nothing_is_linked_to_torch_lua_or_zmq() -> None:
    libraries = [*(ROOT / "bridge").rglob("*.so"), *(ROOT / "pyps").rglob("*.so")]
    assert libraries
    allowed = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|ps)\.so|ld-linux")
    wrong = [f"{p.name}: {name}" for p in libraries for name in needed(p) if not allowed.match(name)]
    assert wrong == []


@needs_readelf
def test_libps_is_a_plain_library() -> None:
    symbols = run("readelf", "--wide", "--dyn-syms", ROOT / "pyps" / "libps.so", cwd=ROOT)
    names = [line.split()[7].split("@")[0] for line in symbols.splitlines() if len(line.split()) > 7]
    assert [name for name in names if name.startswith(("Py", "_Py"))] == []


def test_the_modules_find_libps_beside_them() -> None:
    code = "import pyps._core; print(*{l.split()[-1] for l in open('/proc/self/maps') if 'libps' in l})"
    assert run(sys.executable, "-c", code, cwd=ROOT).strip() == str((ROOT / "pyps" / "libps.so").resolve())


@pytest.mark.parametrize("package", ["bridge", "pyps", "moontide"])
def test_a_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()
