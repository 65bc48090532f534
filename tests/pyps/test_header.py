"""The public header: plain C, plain C++, and declarations that LuaJIT reads."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from moontide import locations
from tests.pyps.native import needs_compiler

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "pyps/core/ps.h"


@pytest.mark.slow
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
    found, expected = check(declarations, str(locations.libps()))
    assert found == expected


@pytest.mark.slow
def test_only_the_interface_is_exported() -> None:
    names = subprocess.run(
        ["nm", "-D", "--defined-only", locations.libps()],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    ).stdout
    symbols = {line.split()[-1] for line in names.splitlines() if " T " in line} - {"_init", "_fini"}
    assert symbols == set(
        re.findall(r"^(?:\w+ )+\*?(ps_\w+)\(", re.sub("const ", "", HEADER.read_text()), re.MULTILINE)
    )
