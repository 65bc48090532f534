"""What the tests share: a fresh Lua state, torch required, and an installation of Torch7."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge import t7

INSTALLATION = Path(__file__).parent / "installation"


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        yield state


@pytest.fixture
def echo(lua: bridge.Lua) -> Any:
    """Return a Lua function that returns its arguments."""
    return lua.eval("function(...) return ... end")


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install a small Torch7 where a real one puts its Lua files and its C library."""
    root = tmp_path_factory.mktemp("prefix")
    shutil.copytree(INSTALLATION, root / "share" / "lua" / "5.1", ignore=shutil.ignore_patterns("*.c"))
    made = root / "lib" / "lua" / "5.1" / "libtorch.so"
    made.parent.mkdir(parents=True)
    compiler = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    subprocess.run([*compiler, "-o", str(made), str(INSTALLATION / "th.c")], check=True, timeout=60)
    return root


def reachable(value: Any) -> Iterator[Any]:
    """Each value that is reachable, once."""
    seen, waiting = set(), [value]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, dict):
            waiting += [key.value if isinstance(key, t7.Key) else key for key in value]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, t7.TorchObject):
            waiting.append(value.torch_payload())
        elif isinstance(value, t7.TorchFunction):
            waiting.append(value.upvalues)


@pytest.fixture(scope="session")
def everything() -> Callable[[Any], Iterator[Any]]:
    """Return what gives each value in one that `bridge.t7` loaded."""
    return reachable
