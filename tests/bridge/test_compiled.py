"""The first state of a process compiles our files; the others load what it made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bridge

# `count` is how many files and forms have been compiled since.
COUNTING = """
local compiled = require 'bridge.runtime.compiled'
local get, count = compiled.get, 0
function compiled.get(key, compile, ...)
   return get(key, function(...)
      count = count + 1
      return compile(...)
   end, ...)
end
"""


@pytest.mark.parametrize("package", ["torch", "nn", "image", "threads"])
def test_a_second_state_compiles_nothing_of_ours(lua: bridge.Lua, package: str) -> None:
    lua.require(package)
    with bridge.Lua() as second:
        assert second.execute(f"{COUNTING} require '{package}' return count") == 0


@pytest.mark.slow
def test_the_first_state_compiles_each_file_and_form() -> None:
    code = f"""
import bridge
print(bridge.Lua().execute({COUNTING!r} + "require 'torch' return count"))
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(found.stdout) > 200


def test_a_second_state_computes_as_the_first(lua: bridge.Lua) -> None:
    code = """
    require 'nn'
    torch.manualSeed(3)
    local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Tanh())
    return tostring(net), tostring(net:forward(torch.range(1, 3))), tostring(torch.randn(4):sort(true))
    """
    first = lua.execute(code)
    with bridge.Lua() as second:
        assert second.execute(code) == first


def test_loaded_code_knows_its_file_and_lines(lua: bridge.Lua) -> None:
    where = "require 'nn' local i = debug.getinfo(nn.Module.forward, 'S') return i.source, i.linedefined"
    with bridge.Lua() as second:
        source, line = second.execute(where)
    assert source.startswith("@")
    assert source.endswith("nn/Module.lua")
    assert "forward" in Path(source[1:]).read_text().splitlines()[line - 1]


def load(lua: bridge.Lua, file: Path) -> object:
    return lua.execute(
        "return (require('bridge.runtime.compiled').file('test', ..., loadfile))()",
        str(file).encode(),
        name="=x",
    )


def test_a_file_that_changed_is_compiled_again(lua: bridge.Lua, tmp_path: Path) -> None:
    file = tmp_path / "one.lua"
    file.write_text("return 'old'")
    assert load(lua, file) == "old"
    before = file.stat()
    file.write_text("return 'new'")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, same time
    assert load(lua, file) == "new"


def test_two_files_of_one_name_are_told_apart(lua: bridge.Lua, tmp_path: Path) -> None:
    file = tmp_path / "one.lua"
    file.write_text("return 1")
    assert load(lua, file) == 1
    other = tmp_path / "other"
    other.write_text("return 2")
    other.replace(file)
    assert load(lua, file) == 2


def test_a_file_that_is_missing_is_reported_as_loadfile_does(lua: bridge.Lua, tmp_path: Path) -> None:
    code = "return select(2, require('bridge.runtime.compiled').file('test', ..., loadfile))"
    assert lua.execute(code, str(tmp_path / "none.lua")) == lua.execute(
        "return select(2, loadfile(...))", str(tmp_path / "none.lua")
    )


def test_a_syntax_error_is_not_kept(lua: bridge.Lua, tmp_path: Path) -> None:
    file = tmp_path / "one.lua"
    file.write_text("return (")
    code = "return require('bridge.runtime.compiled').file('test', ..., loadfile)"
    chunk, message = lua.execute(code, str(file))
    assert chunk is None
    assert "unexpected symbol" in message


@pytest.mark.parametrize("on", [True, False])
def test_loading_leaves_the_compiler_as_it_was(on: bool) -> None:
    with bridge.Lua() as lua:
        assert lua.execute("jit[...]() require 'nn' return (jit.status())", "on" if on else "off") is on


def test_a_package_that_cannot_be_loaded_leaves_the_compiler_on(lua: bridge.Lua) -> None:
    code = "local ok, message = pcall(require, 'cunn') return ok, message, (jit.status())"
    ok, message, on = lua.execute(code)
    assert (ok, on) == (False, True)
    assert "cunn" in message


def test_a_programs_own_module_stands_before_ours(tmp_path: Path) -> None:
    (tmp_path / "nn.lua").write_text("return 'mine'")
    with bridge.Lua(path=[tmp_path]) as lua:
        assert lua.require("nn") == "mine"


@pytest.mark.parametrize("place", ["nn/init.lua", "nn.lua"])
def test_a_path_that_changes_is_seen(lua: bridge.Lua, tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text("return 'mine'")
    code = "package.path = ... .. '/?.lua;' .. ... .. '/?/init.lua;' .. package.path return require 'nn'"
    assert lua.execute(code, str(tmp_path)) == "mine"


@pytest.mark.slow
def test_eight_threads_may_be_the_first() -> None:
    code = """
import threading, bridge
sums = []
barrier = threading.Barrier(8)
def work():
    barrier.wait()
    with bridge.Lua(interruptible=False) as lua:
        sums.append(lua.execute("require 'nn' torch.manualSeed(1) return nn.Linear(3, 4).weight:sum()"))
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(len(sums), len(set(sums)))
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100
    )
    assert found.stdout.split() == ["8", "1"]


@pytest.mark.slow
def test_a_forked_child_loads_what_its_parent_compiled(lua: bridge.Lua) -> None:
    code = f"""
import os, bridge
bridge.Lua(interruptible=False).require("torch")
child = os.fork()
if child == 0:
    with bridge.Lua(interruptible=False) as lua:
        os._exit(lua.execute({COUNTING!r} + "require 'torch' return count"))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.split() == ["0"]


@pytest.mark.parametrize(
    "options", ["", "require('jit.opt').start(3)", "require('jit').opt.start('hotloop=10')"]
)
def test_a_number_is_read_before_the_call_that_writes_over_it(lua: bridge.Lua, options: str) -> None:
    code = """
    local ffi = require 'ffi'
    ffi.cdef 'double modf(double, double *);'
    local whole = ffi.new('double[1]')
    local function floor(x)
       ffi.C.modf(x, whole)
       return whole[0]
    end
    local wrong = 0
    for i = 1, 1000 do
       local a, b = floor(i + 0.5), floor(i + 1.5)
       if a == b then
          wrong = wrong + 1
       end
    end
    return wrong
    """
    lua.execute(options)
    assert lua.execute(code) == 0
