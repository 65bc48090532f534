"""A Lua state with torch for each test, and where the data written by a real Torch7 lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

import bridge


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        yield state


# What stands behind cutorch, as MOONTIDE_CUDA names it: tensors in host memory; the code for devices, with the CPU as
# the device; and a GPU, where there is one.
CUDA_BACKENDS = {"cpu": "cpu", "device": "aten"} | ({"gpu": ""} if torch.cuda.is_available() else {})


@pytest.fixture(scope="session", params=list(CUDA_BACKENDS))
def backend(request: pytest.FixtureRequest) -> str:
    """The name of a backend of cutorch: cpu, device or gpu."""
    return str(request.param)


@contextmanager
def cuda_state(backend: str) -> Iterator[bridge.Lua]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOONTIDE_CUDA", CUDA_BACKENDS[backend])
        if backend == "gpu":  # torch rounds what it convolves to ten bits there, unless told otherwise
            patch.setattr(torch.backends.cudnn, "allow_tf32", False)
        with bridge.Lua() as lua:
            lua.execute("require 'cutorch' require 'nn'")
            yield lua


@pytest.fixture
def cuda(backend: str) -> Iterator[bridge.Lua]:
    """A state with a device, on each backend, and a tensor `t` there."""
    with cuda_state(backend) as lua:
        lua.execute("t = torch.CudaTensor{{1, 2, 3}, {4, 5, 6}}")
        yield lua


@pytest.fixture(params=[name for name in CUDA_BACKENDS if name != "cpu"])
def there(request: pytest.FixtureRequest) -> Iterator[bridge.Lua]:
    """The same on those backends whose tensors do not lie in host memory."""
    with cuda_state(request.param) as lua:
        lua.execute("t = torch.CudaTensor{{1, 2, 3}, {4, 5, 6}}")
        yield lua


@pytest.fixture(scope="session", params=[name for name in CUDA_BACKENDS if name != "cpu"])
def lasting_there(request: pytest.FixtureRequest) -> Iterator[bridge.Lua]:
    """Such a state for tests that change nothing."""
    with cuda_state(request.param) as lua:
        yield lua


@pytest.fixture(scope="session")
def lasting(backend: str) -> Iterator[bridge.Lua]:
    with cuda_state(backend) as lua:
        yield lua


@pytest.fixture
def shared(lasting: bridge.Lua) -> bridge.Lua:
    """Such a state for tests that change nothing but `t`."""
    lasting.execute("t = torch.CudaTensor{{1, 2, 3}, {4, 5, 6}}")
    return lasting


@pytest.fixture(scope="session")
def data() -> Path:
    return Path(__file__).parents[1] / "data" / "torch7"


@pytest.fixture(scope="module", autouse=True)
def one_thread_of_torch() -> Iterator[None]:
    """Its threads cost these tests' small operations more than they give, without end on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def f(lua: bridge.Lua) -> bridge.Lua:
    """A state whose global `f` is an empty memory file."""
    lua.execute("f = torch.MemoryFile()")
    return lua


def prepared(state: bridge.Lua, data: Path) -> bridge.Lua:
    state.require("torch")
    state.execute((data / "files" / "truth_classes.lua").read_text())
    state.execute("if not torch.Tester then torch.class('torch.Tester') end")
    return state


@pytest.fixture(scope="module")
def module(data: Path) -> Iterator[bridge.Lua]:
    """One state for a module's tests, with the classes of the stored objects."""
    with bridge.Lua() as state:
        yield prepared(state, data)


@pytest.fixture(scope="module")
def running(data: Path) -> Iterator[bridge.Lua]:
    """Provide such a state in which stored functions run."""
    with bridge.Lua(allow_functions=True) as state:
        yield prepared(state, data)
