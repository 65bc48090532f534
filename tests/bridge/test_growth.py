"""A view reads its parent's storage after that has grown, in Lua or in Python."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import torch

import bridge

ROOT = Path(__file__).parents[2]


def test_a_view_sees_its_parent_grow(lua: bridge.Lua) -> None:
    lua.execute("x = torch.Tensor{1, 2, 3, 4} y = x:narrow(1, 2, 2) z = y:narrow(1, 1, 1)")
    lua.execute("x:resize(100000):fill(5)")
    assert lua.eval("y[1], y[2], z[1]") == (5, 5, 5)


def test_memory_that_python_reads_stays_when_lua_grows_the_storage(lua: bridge.Lua) -> None:
    array = lua.execute("x = torch.Tensor{1, 2, 3, 4} return x")
    lua.execute("x:resize(100000):fill(5)")
    assert array.tolist() == [1, 2, 3, 4]


def test_a_view_sees_a_torch_parent_grow_in_python(lua: bridge.Lua) -> None:
    parent = torch.arange(4.0)
    lua.execute("x = ... y = x:narrow(1, 2, 2)", parent)
    parent.resize_(1_000_000)
    parent[1] = 42
    assert lua.eval("x[2], y[1], y:sum()") == (42, 42, 44)


def test_a_torch_parent_that_shrank_is_an_error(lua: bridge.Lua) -> None:
    parent = torch.arange(4.0)
    lua.execute("x = ...", parent)
    parent.untyped_storage().resize_(0)
    for use in ("x[1]", "x:sum()", "x:clone()"):
        with pytest.raises(bridge.LuaError, match="memory"):
            lua.eval(use)
    with pytest.raises(bridge.LuaError, match="memory"):
        lua.execute("x[1] = 1")
    with pytest.raises(ValueError, match="no longer covers"):
        lua.eval("x")


def test_a_numpy_view_pins_a_torch_parent(lua: bridge.Lua) -> None:
    parent = torch.arange(4.0)
    array = lua.eval("...", parent)
    with pytest.raises(RuntimeError, match="resizable"):
        parent.resize_(1000)
    assert array.tolist() == [0, 1, 2, 3]


def test_a_torch_view_follows_a_torch_parent() -> None:
    with bridge.Lua(tensors="torch") as lua:
        parent = torch.arange(4.0)
        view = lua.eval("...", parent)
        parent.resize_(1_000_000)
        parent[2] = 7
        assert view[2] == 7


def test_growth_of_a_numpy_array_in_lua_leaves_the_array(lua: bridge.Lua) -> None:
    array = np.arange(4.0)
    assert lua.eval("(...):resize(10):fill(1):sum()", array) == 10
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.long
@pytest.mark.timeout(300)
def test_growth_is_clean_under_address_sanitizer(tmp_path: Path) -> None:
    """Run the other tests of this file in a process whose bridge is built with AddressSanitizer."""
    runtime = " ".join(
        subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libstdc++.so")  # the second, so that C++ exceptions of torch are seen
    )
    build, tree = tmp_path / "build", tmp_path / "tree"
    tree.mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "bridge"):  # the rest need not be built
        (tree / name).symlink_to(ROOT / name)
    subprocess.run(
        [
            sys.executable,
            "setup.py",
            "-q",
            "build_ext",
            f"--build-lib={build}",
            f"--build-temp={tmp_path / 'temp'}",
        ],
        cwd=tree,
        env={**os.environ, "MOONTIDE_SANITIZE": "address", "CFLAGS": "-O0"},
        capture_output=True,
        check=True,
    )
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    package = tmp_path / "site" / "bridge"
    package.parent.mkdir(exist_ok=True)
    subprocess.run(["cp", "-r", str(ROOT / "bridge"), str(package)], check=True)
    (build / "bridge" / f"_boundary{suffix}").replace(package / f"_boundary{suffix}")
    program = """
import sys, importlib.util
import bridge, numpy, torch
spec = importlib.util.spec_from_file_location("growth", sys.argv[1])
growth = importlib.util.module_from_spec(spec)
spec.loader.exec_module(growth)
assert bridge.__file__.startswith(sys.argv[2]), bridge.__file__
import inspect
ran = 0
for name, test in list(vars(growth).items()):
    if name.startswith("test_") and name != "test_growth_is_clean_under_address_sanitizer":
        if inspect.signature(test).parameters:
            with bridge.Lua() as lua:
                lua.require("torch")
                test(lua)
        else:
            test()
        ran += 1
print("clean", ran)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, __file__, str(package.parent)],
        cwd=tmp_path,
        env={
            **os.environ,
            "LD_PRELOAD": runtime,
            "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
            "PYTHONPATH": str(package.parent),
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert "AddressSanitizer" not in done.stderr, done.stderr[-4000:]
    assert done.stdout.strip() == "clean 7", done.stderr[-4000:]
