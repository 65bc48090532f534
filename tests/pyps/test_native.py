"""The native programs of tests/native, plain and under sanitizers; and the header for others."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from decimal import Decimal, localcontext
from pathlib import Path
from typing import TypeVar

import pytest
import zmq

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "tests/native"
HEADER = ROOT / "pyps/core/ps.h"
LIMIT = 50.0  # seconds

Test = TypeVar("Test", bound=Callable[..., None])
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is missing")


def native(test: Test) -> Test:
    """A test of the programs, which are built for the first one."""
    marked: Test = needs_compiler(pytest.mark.slow(pytest.mark.timeout(340)(test)))
    return marked


def build(sanitizer: str, directory: Path) -> dict[str, str]:
    done = subprocess.run(
        [NATIVE / "build.sh", sanitizer, directory],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=280,
    )
    return {Path(line).name: line for line in done.stdout.splitlines()}


@pytest.fixture(scope="module", params=["none", "address", "thread"])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return build(request.param, tmp_path_factory.mktemp(request.param))


def run(*command: str) -> str:
    """Run a program by itself: a sanitizer's library that this process has preloaded is not meant for it."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def is_plain(programs: dict[str, str]) -> bool:
    """Whether no sanitizer slows them down."""
    return Path(programs["threads"]).parent.name.startswith("none")


def zmq_library() -> str:
    """The ZeroMQ library that came with pyzmq, else the system's."""
    bundled = sorted(Path(zmq.__file__).parents[1].glob("pyzmq.libs/libzmq*.so*"))
    return str(bundled[0]) if bundled else "libzmq.so.5"


@native
@pytest.mark.parametrize("program", ["threads", "slabs", "changes", "sampling"])
def test_native_program(programs: dict[str, str], program: str) -> None:
    assert run(programs[program]) == "ok\n"


@native
@pytest.mark.parametrize(("values", "seeds"), [("plain", 20_000), ("memory", 2_000)])
def test_the_protocol_holds_in_any_order_of_messages(
    programs: dict[str, str], values: str, seeds: int
) -> None:
    plain = is_plain(programs)
    assert run(programs["interleavings"], "0", str(seeds if plain else seeds // 20), values) == "ok\n"


def exact_quantile(mean: str) -> int:
    """Return the 0.9999 quantile of a Poisson distribution, summed with sixty digits."""
    with localcontext() as context:
        context.prec = 60
        mass = total = (-Decimal(mean)).exp()
        k = 0
        while total < Decimal("0.9999"):
            k += 1
            mass *= Decimal(mean) / k
            total += mass
    return k


@native
def test_intents_are_acted_on_in_time(programs: dict[str, str]) -> None:
    assert run(programs["timing"]) == "ok\n"
    means = ["0.001", "0.01", "0.1", "0.5", "1", "2", "7.5", "20", "100", "745", "1000", "20000"]
    found = run(programs["timing"], "quantile", *means).split()
    assert [int(number) for number in found] == [exact_quantile(mean) for mean in means]


@native
def test_barriers_hold_in_any_order_of_messages(programs: dict[str, str]) -> None:
    plain = is_plain(programs)
    assert run(programs["gates"], "0", "50000" if plain else "5000") == "ok\n"


@native
def test_the_protocol_survives_lost_nodes(programs: dict[str, str]) -> None:
    plain = is_plain(programs)
    assert run(programs["losses"], "0", "20000" if plain else "2000") == "ok\n"


@native
def test_members_agree_whatever_is_killed_stopped_or_cut(programs: dict[str, str]) -> None:
    plain = is_plain(programs)
    assert run(programs["members"], "0", "20000" if plain else "2000") == "ok\n"


@native
def test_damaged_messages_are_refused(programs: dict[str, str]) -> None:
    plain = is_plain(programs)
    assert run(programs["wire"], "1000000" if plain else "50000") == "ok\n"


@native
def test_sums_of_a_cluster_are_exact(programs: dict[str, str]) -> None:
    plain = is_plain(programs)
    assert run(programs["cluster"], zmq_library(), "200" if plain else "20") == "ok\n"


@native
def test_nodes_live_through_hostile_messages(programs: dict[str, str]) -> None:
    plain = is_plain(programs)
    output = run(programs["hostile"], zmq_library(), "200000" if plain else "40000")
    assert output.startswith("ok: ")


@native
def test_killed_workers_leave_whole_values(programs: dict[str, str]) -> None:
    """3,000 SIGKILLs into pushes of 100 floats; a tenth of them, and no clock, where a sanitizer slows everything."""
    plain = is_plain(programs)
    output = run(programs["killed_worker"], *(["3000", "100"] if plain else ["300", "5000"]))
    restored = re.search(r"(\d+) values restored", output)
    assert restored is not None
    assert int(restored[1]) > 0


@needs_compiler
@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_header_is_plain(language: str) -> None:
    standard = "-std=c99" if language == "c" else "-std=c++17"
    flags = [standard, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror"]
    subprocess.run(
        ["g++" if language == "c++" else "gcc", "-x", language, *flags, HEADER], check=True, timeout=60
    )


def test_the_declarations_between_the_markers_have_no_macros() -> None:
    text = HEADER.read_text()
    begin, end = (f"/* ---- declarations for ffi.cdef: {word} ---- */" for word in ("begin", "end"))
    assert text.count(begin) == text.count(end) == 1
    declarations = text.split(begin)[1].split(end)[0]
    assert not re.search(r"^\s*#", declarations, re.MULTILINE)
    assert "ps_pull(" in declarations


def test_luajit_reads_the_declarations() -> None:
    lua = pytest.importorskip("lupa.luajit21").LuaRuntime()
    declarations = HEADER.read_text().split("ffi.cdef: begin ---- */")[1].split("/* ---- declarations")[0]
    check = lua.eval(
        'function(text, lib) local ffi = require "ffi"; ffi.cdef(text); '
        "return ffi.load(lib).ps_abi_version(), ffi.C.PS_ABI_VERSION end"
    )
    found, expected = check(declarations, str(ROOT / "pyps/libps.so"))
    assert found == expected


def test_only_the_interface_is_exported() -> None:
    names = subprocess.run(
        ["nm", "-D", "--defined-only", ROOT / "pyps/libps.so"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    ).stdout
    symbols = {line.split()[-1] for line in names.splitlines() if " T " in line} - {"_init", "_fini"}
    assert symbols == set(
        re.findall(r"^(?:\w+ )+\*?(ps_\w+)\(", re.sub("const ", "", HEADER.read_text()), re.MULTILINE)
    )
