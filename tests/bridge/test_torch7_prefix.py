"""A Torch7 installation named by its prefix: tensors are its own userdata, whose memory it moves and gives back.

The installation here is small (`installation/`), but lays out its structs, counts references and resizes as TH does;
what it gives back nobody can read any more, so that an array over it would end the process.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import bridge
from bridge import legacy
from bridge.nn import LuaModule
from tests.elements import NUMERIC

DTYPES = [dtype.name for dtype in NUMERIC.values()]


@pytest.fixture
def lua(prefix: Path) -> Iterator[bridge.Lua]:
    with bridge.Lua(torch7=prefix) as state:
        state.require("torch")
        yield state


def test_the_prefix_comes_first_on_the_paths(lua: bridge.Lua, prefix: Path) -> None:
    assert lua.eval("package.path").startswith(f"{prefix}/share/lua/5.1/?.lua;")
    assert f"{prefix}/lib/?.so" in lua.eval("package.cpath")


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_is_shared_in(lua: bridge.Lua, dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype).T
    lua.execute("local x = ... assert(x:size(1) == 3 and x:stride(1) == 1) x[3][2] = 99", array)
    assert array[2, 1] == 99


@pytest.mark.parametrize("name", NUMERIC)
def test_a_tensor_is_shared_out(lua: bridge.Lua, name: str) -> None:
    array = lua.execute(f"x = torch.{name}Tensor(2, 3):fill(5) return x:t()")
    assert array.shape == (3, 2)
    array[2, 1] = 9
    assert lua.eval("x[2][3]") == 9


def test_the_array_is_kept_until_the_last_tensor_over_it_is_gone(lua: bridge.Lua) -> None:
    array = np.zeros(1000)
    gone = weakref.ref(array)
    lua.execute("x = ... y = x:narrow(1, 500, 2) x = nil", array)
    del array
    lua.collect()
    lua.execute("y:fill(3)")
    assert gone() is not None
    lua.execute("y = nil")
    for _ in range(3):  # the tensor, then its storage, then what Python held of them
        lua.collect()
    assert gone() is None


def test_the_tensor_is_kept_until_the_array_is_gone(lua: bridge.Lua) -> None:
    array = lua.eval("torch.DoubleTensor(1000):fill(4)")
    lua.collect()
    lua.close()
    assert (array == 4).all()


def test_an_empty_array_passes(lua: bridge.Lua) -> None:
    assert lua.eval("(...):dim()", np.zeros((0, 3))) == 0
    assert lua.eval("torch.FloatTensor()").shape == (0,)


def test_a_prefix_without_torch7_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no Torch7"):
        bridge.Lua(torch7=tmp_path)


def test_lupas_own_runtime_still_works(lua: bridge.Lua) -> None:
    import lupa

    assert lupa.LuaRuntime().eval("6 * 7") == 42
    assert lua.eval("6 * 7") == 42


def test_legacy_modules_run_in_it(lua: bridge.Lua) -> None:
    with legacy.use(lua):
        net = legacy.nn.Sequential().add(legacy.nn.LookupTable(4, 3)).add(legacy.nn.Linear(3, 2))
        table = net.get(0).weight
        hidden = table[[0, 3]]
        wanted = hidden @ net.get(1).weight.T + net.get(1).bias
        np.testing.assert_allclose(net.forward(np.array([0, 3])), wanted)
        module = LuaModule(net)
        module(torch.tensor([0, 3])).sum().backward()
        gradient = module.get_parameter("0.weight").grad
        np.testing.assert_allclose(gradient[3], net.get(1).weight.sum(0))
        assert gradient[1].tolist() == [0, 0, 0]


# ---- memory that TH moves and gives back


def linear(lua: bridge.Lua, inputs: int, outputs: int) -> bridge.LuaObject:
    module = lua.execute("require 'nn' return nn.Linear(...)", inputs, outputs)
    assert isinstance(module, bridge.LuaObject)
    return module


def test_an_output_stays_when_a_larger_batch_moves_the_buffer(lua: bridge.Lua) -> None:
    net = linear(lua, 3, 2)
    first = net.forward(np.ones((2, 3)))
    net.forward(np.full((20000, 3), 2.0))
    lua.collect()
    assert first.tolist() == [[3, 3], [3, 3]]


def test_arrays_of_many_batch_sizes_may_be_written(lua: bridge.Lua) -> None:
    net = lua.execute("require 'nn' return nn.Sequential():add(nn.Linear(8, 8)):add(nn.Linear(8, 8))")
    outputs = [net.forward(np.ones((batch, 8))) for batch in range(1, 200)]
    for output in outputs:
        output[:] = 7
    for batch in range(1, 200):
        assert (net.forward(np.ones((batch, 8))) == 64).all()
    assert all((output == 7).all() or (output == 64).all() for output in outputs)


def test_a_weight_stays_when_get_parameters_moves_it(lua: bridge.Lua) -> None:
    net = linear(lua, 100, 50)
    weight = net.weight
    net.getParameters()
    for _ in range(2):
        lua.collect()
    assert weight.sum() == 5000
    assert net.weight.sum() == 5000


def test_an_array_stays_when_its_tensor_is_set_to_another(lua: bridge.Lua) -> None:
    array = lua.execute("x = torch.ones(1000) return x")
    lua.execute("x:set(torch.zeros(10))")
    lua.collect()
    assert array.sum() == 1000


def test_an_array_stays_when_its_storage_shrinks(lua: bridge.Lua) -> None:
    array = lua.execute("x = torch.ones(100000) return x")
    lua.execute("x:resize(1):resize(200000):fill(3)")
    lua.collect()
    assert array.sum() == 100000


def test_arrays_over_one_storage_share_it(lua: bridge.Lua) -> None:
    whole, row = lua.execute("x = torch.zeros(2, 3) return x, x[2]")
    row[:] = 5
    assert whole[1].tolist() == [5, 5, 5]
    assert lua.eval("x:sum()") == 15


@pytest.mark.slow
def test_memory_goes_back_once_the_last_reader_is_gone(lua: bridge.Lua) -> None:
    before = resident()
    for _ in range(100):
        array = lua.eval("torch.ones(1000000)")
        assert array[999999] == 1
        del array
    lua.execute("x = nil")
    lua.collect()
    assert resident() - before < 400 * 2**20


@pytest.mark.slow
def test_arrays_that_are_passed_in_are_let_go_of(lua: bridge.Lua) -> None:
    rows = lua.eval("function(x) return x:size(1) end")
    before = resident()
    for _ in range(600):
        assert rows(np.ones(1000000)) == 1000000
    assert resident() - before < 1 << 30


def resident() -> int:
    """Return the bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- lent arrays that Lua resizes


def test_a_lent_array_grows_into_memory_of_its_own(lua: bridge.Lua) -> None:
    array = np.zeros(4)
    grown = lua.eval("(...):resize(8):fill(5)", array)
    assert grown.tolist() == [5] * 8
    assert array.tolist() == [0] * 4


@pytest.mark.parametrize(
    "code", ["torch.DoubleTensor():resizeAs(...):copy(...)", "torch.cat({..., ...})"], ids=["resizeAs", "cat"]
)
def test_operations_make_their_results_of_lent_arrays(lua: bridge.Lua, code: str) -> None:
    assert set(lua.eval(code, np.full(3, 2.0)).tolist()) == {2}


def test_an_array_that_is_lent_twice_survives_the_first_tensor(lua: bridge.Lua) -> None:
    array = np.ones(1000)
    lua.execute("x = ...", array)
    lua.execute("y = ...", array)
    lua.execute("x:resize(2000) x = nil")
    lua.collect()
    array[999] = 8
    assert lua.eval("y[1000]") == 8


# ---- storages


def test_a_storage_is_an_array(lua: bridge.Lua) -> None:
    sizes = lua.eval("torch.zeros(3, 2):size()")
    assert sizes.tolist() == [3, 2]
    assert sizes.dtype == np.int64


@pytest.mark.parametrize("name", NUMERIC)
def test_a_storage_shares_its_memory(lua: bridge.Lua, name: str) -> None:
    array = lua.execute(f"x = torch.{name}Storage{{1, 2, 3}} return x")
    array[1] = 7
    assert lua.eval("x:totable()") == [1, 7, 3]


def test_an_empty_storage_is_an_empty_array(lua: bridge.Lua) -> None:
    assert lua.eval("torch.LongStorage()").shape == (0,)


@pytest.mark.parametrize("source", ["torch.IntStorage()", "torch.IntTensor()", "torch.IntStorage{1}"])
def test_storages_and_tensors_come_as_torchs(prefix: Path, source: str) -> None:
    with bridge.Lua(torch7=prefix, tensors="torch") as lua:
        lua.require("torch")
        assert lua.eval(source).dtype == torch.int32


def test_a_result_comes_in_memory_of_its_own_on_request(lua: bridge.Lua) -> None:
    get = lua.execute("x = torch.DoubleTensor(3):fill(4) return function() return x end")
    get(copy=True)[:] = 5
    assert lua.eval("x:sum()") == 12


def test_a_storage_made_over_foreign_memory_is_copied(lua: bridge.Lua) -> None:
    lua.execute(
        "x = torch.ones(4) s = torch.DoubleStorage(4, tonumber(require('ffi').cast('intptr_t', x:data())))"
    )
    array = lua.eval("s")
    lua.execute("x:fill(9)")
    assert array.tolist() == [1] * 4


@pytest.mark.parametrize("layer", ["nn.View(-1, 4)", "nn.Reshape(4)"])
def test_layers_with_storages_become_pytorchs(lua: bridge.Lua, layer: str) -> None:
    net = lua.execute(f"require 'nn' return nn.Sequential():add({layer}):add(nn.Linear(4, 2))")
    made = bridge.to_torch(net)
    x = torch.arange(16, dtype=torch.float64).reshape(4, 2, 2)
    np.testing.assert_array_equal(made(x).detach().numpy(), net.forward(x.numpy()))


# ---- what is promised of every state


@pytest.fixture
def function(tmp_path: Path) -> str:
    path = str(tmp_path / "f.t7")
    with bridge.Lua() as lua:
        lua.require("torch")
        lua.execute("torch.save((...), function() return 'ran' end)", path)
    return path


def test_a_function_from_a_file_is_not_run(lua: bridge.Lua, function: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"allow_functions=True"):
        lua.eval("torch.load(...)()", function)


def test_a_function_from_a_file_runs_where_that_was_allowed(prefix: Path, function: str) -> None:
    with bridge.Lua(torch7=prefix, allow_functions=True) as lua:
        lua.require("torch")
        assert lua.eval("torch.load(...)()", function) == "ran"


def test_lua_loads_strings_as_before(lua: bridge.Lua) -> None:
    assert lua.eval("loadstring(string.dump(function() return 3 end))()") == 3


def test_states_that_threads_make_find_the_packages(lua: bridge.Lua, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LUA_PATH", "LUA_CPATH"):
        monkeypatch.delenv(variable, raising=False)
    lua.require("threads")
    found = lua.eval("""require('threads').run("require 'torch' return tostring(torch.ones(3):sum())")""")
    assert found == "3"
