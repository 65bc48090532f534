"""How luaps finds libps, and what it says when it cannot use it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import bridge
import pyps
from moontide import locations

ROOT = Path(__file__).parents[2]
PROGRAM = "local kv = require('luaps').worker{address = arg[1]} print(kv:num_keys(), kv:id())"

pytestmark = pytest.mark.skipif(
    shutil.which("luajit") is None, reason="luajit is missing (Debian: apt-get install luajit)"
)


def run(
    address: str, *, cwd: Path, program: str = PROGRAM, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in a plain LuaJIT that knows nothing of luaps but these variables."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LUA")}
    return subprocess.run(
        ["luajit", "-", address],
        input=program,
        cwd=cwd,
        env={**clean, **variables},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A directory that has luaps and pyps as an installation has."""
    shutil.copytree(ROOT / "luaps", tmp_path / "luaps")
    (tmp_path / "pyps" / "core").mkdir(parents=True)
    shutil.copy(locations.libps(), tmp_path / "pyps")
    shutil.copy(ROOT / "pyps" / "core" / "ps.h", tmp_path / "pyps" / "core")
    return tmp_path


def test_a_plain_luajit_finds_both_by_what_the_command_line_prints(
    server: pyps.Server, tmp_path: Path
) -> None:
    path = f"{locations.lua_path()};;"
    done = run(server.address, cwd=tmp_path, LUA_PATH=path, LUAPS_LIBPS=str(locations.libps()))
    assert (done.stdout, done.stderr) == ("10\t1\n", "")


def test_the_path_of_the_lua_files_alone_is_enough(server: pyps.Server, tmp_path: Path) -> None:
    done = run(server.address, cwd=tmp_path, LUA_PATH=locations.lua_path())
    assert (done.stdout, done.stderr) == ("10\t1\n", "")


@pytest.mark.parametrize("templates", ["./?.lua;./?/init.lua", "?.lua;?/init.lua"])
def test_the_path_may_be_relative(server: pyps.Server, templates: str) -> None:
    done = run(server.address, cwd=ROOT, LUA_PATH=templates)
    assert (done.stdout, done.stderr) == ("10\t1\n", "")


def test_libps_lies_beside_the_lua_files_of_an_installation(server: pyps.Server, site: Path) -> None:
    done = run(server.address, cwd=Path("/"), LUA_PATH=f"{site}/?.lua;{site}/?/init.lua")
    assert (done.stdout, done.stderr) == ("10\t1\n", "")


def test_the_variable_may_name_a_file_of_the_current_directory(server: pyps.Server, site: Path) -> None:
    done = run(server.address, cwd=site / "pyps", LUA_PATH=locations.lua_path(), LUAPS_LIBPS="libps.so")
    assert (done.stdout, done.stderr) == ("10\t1\n", "")


def refused(site: Path, **variables: str) -> str:
    done = run("unix:@nobody", cwd=Path("/"), LUA_PATH=f"{site}/?.lua;{site}/?/init.lua", **variables)
    assert done.returncode == 1
    return done.stderr.splitlines()[0]


def test_a_missing_library_is_named_with_the_way_out(site: Path) -> None:
    (site / "pyps" / "libps.so").unlink()
    message = refused(site)
    assert f"luaps: there is no '{site}/pyps/libps.so'" in message
    assert "LUAPS_LIBPS to what `moontide paths --libps` prints" in message


def test_a_variable_that_names_nothing_is_an_error_although_there_is_a_library_beside(site: Path) -> None:
    message = refused(site, LUAPS_LIBPS="/nowhere/libps.so")
    assert "luaps: the environment variable LUAPS_LIBPS names '/nowhere/libps.so'" in message


def test_an_empty_variable_is_none(server: pyps.Server, tmp_path: Path) -> None:
    done = run(server.address, cwd=tmp_path, LUA_PATH=locations.lua_path(), LUAPS_LIBPS="")
    assert (done.stdout, done.stderr) == ("10\t1\n", "")


def test_a_missing_header_is_named(site: Path) -> None:
    (site / "pyps" / "core" / "ps.h").unlink()
    assert f"luaps: the header of {site}/pyps/libps.so cannot be read: {site}/pyps/core/ps.h" in refused(site)


def test_a_header_of_something_else_is_refused(site: Path) -> None:
    (site / "pyps" / "core" / "ps.h").write_text("int x;\n")
    assert f"luaps: {site}/pyps/core/ps.h has no declarations for ffi.cdef" in refused(site)


def test_a_library_that_is_none_is_refused(site: Path) -> None:
    (site / "pyps" / "libps.so").write_bytes(b"not a library")
    assert f"luaps: {site}/pyps/libps.so cannot be loaded: " in refused(site)


def test_a_header_of_another_version_is_refused(site: Path) -> None:
    header = site / "pyps" / "core" / "ps.h"
    text = header.read_text()
    header.write_text(text.replace("PS_ABI_VERSION = 2", "PS_ABI_VERSION = 99"))
    message = refused(site)
    assert (
        f"luaps: {site}/pyps/libps.so has version 2, but its header core/ps.h describes version 99" in message
    )


def test_requiring_it_starts_nothing(tmp_path: Path) -> None:
    program = """
    require 'luaps'
    local tasks = io.popen("ls /proc/" .. io.open('/proc/self/stat'):read('*n') .. "/task | wc -l"):read('*n')
    print(tasks)
    """
    assert run("", cwd=tmp_path, program=program, LUA_PATH=locations.lua_path()).stdout == "1\n"


def test_it_can_be_required_afresh(server: pyps.Server, tmp_path: Path) -> None:
    program = """
    kv = require('luaps').worker{address = arg[1]}
    for name in pairs(package.loaded) do
       if name:match('^luaps') then package.loaded[name] = nil end
    end
    kv = nil collectgarbage() collectgarbage()
    """
    done = run(server.address, cwd=tmp_path, program=program + PROGRAM, LUA_PATH=locations.lua_path())
    assert (done.stdout, done.stderr) == ("10\t1\n", "")


def test_it_defines_no_globals() -> None:
    with bridge.Lua() as lua:
        source = """
        local before = {}
        for name in pairs(_G) do before[name] = true end
        require 'luaps'
        for name in pairs(_G) do assert(before[name], name) end
        return package.loaded.torch == nil
        """
        assert lua.execute(source) is True


def test_states_of_one_process_have_one_each(server: pyps.Server) -> None:
    source: Any = "kv = require('luaps').worker{address = ...} return kv:id()"
    with bridge.Lua() as first, bridge.Lua() as second:
        assert (first.execute(source, server.address), second.execute(source, server.address)) == (1, 2)
