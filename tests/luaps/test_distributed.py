"""A Torch7 model at a server: beside PyTorch's model of the same architecture, and alone."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import bridge
import pyps
from moontide import locations
from moontide.demo.data import Digits, load_digits
from pyps.nn.dense.pieces import LENGTHS, keys_of
from tests.torch_threads import one_thread

EPOCHS, BATCH = 12, 16
SGD = "sgd:lr=0.1"

# The network of examples/digits at a server; `train` makes a step with a batch, which counts its classes from 1.
LUA = """
luaps = require 'luaps'
function begin(address, options)
   kv = luaps.worker{address = address}
   model_at_server = luaps.distributed(model, kv, options or {optimizer = {'sgd', lr = 0.1}})
end
function step(batch)
   return model_at_server:step(function()
      local output = model:forward(batch.inputs)
      local loss = criterion:forward(output, batch.targets)
      model:backward(batch.inputs, criterion:backward(output, batch.targets))
      return loss
   end)
end
function values()
   model_at_server:pull()
   return parameters:clone()
end
"""


@pytest.fixture(autouse=True)
def of_the_environment(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua opens the ZeroMQ library that is here."""
    monkeypatch.setenv("PYPS_ZMQ", library)


@pytest.fixture(autouse=True)
def one_thread_each() -> Iterator[None]:
    """Several models learn at the same time."""
    with one_thread():
        yield


@pytest.fixture(scope="module")
def digits() -> Digits:
    return load_digits()


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    """A Lua state with the model file of the digits."""
    with bridge.Lua() as state:
        yield state


def network() -> nn.Sequential:
    """The same network in PyTorch."""
    return nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10), nn.LogSoftmax(dim=1))


def batches(digits: Digits, worker: int) -> Iterator[tuple[Any, Any]]:
    """Yield the inputs and targets of a worker of two."""
    for epoch in range(EPOCHS):
        order = np.random.default_rng(epoch).permutation(len(digits.train_targets))[worker::2]
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            yield digits.train_inputs[chosen], digits.train_targets[chosen]


def right(outputs: Any, digits: Digits) -> float:
    """Return the share of test samples whose class is the right one."""
    return float((np.asarray(outputs).argmax(axis=1) == digits.test_targets).mean())


@pytest.mark.slow
def test_lua_and_pytorch_learn_one_network_together(lua: bridge.Lua, digits: Digits) -> None:
    model_file = lua.load(locations.example("digits") / "model.lua")
    lua.execute(LUA)
    here = lua.globals
    net = network()

    def learn_in_lua() -> None:
        for inputs, targets in batches(digits, 0):
            here.step({"inputs": inputs, "targets": bridge.index(targets)})

    with pyps.Server(1) as server, server.worker() as kv:
        here.begin(server.address)
        with pyps.nn.Distributed(net, kv, optimizer=SGD) as model:
            thread = threading.Thread(target=learn_in_lua)
            thread.start()
            for inputs, targets in batches(digits, 1):
                outputs = model(torch.from_numpy(inputs))
                nn.functional.nll_loss(outputs, torch.from_numpy(targets)).backward()  # type: ignore[no-untyped-call]
            thread.join(50)
            assert not thread.is_alive()
        values = here.values()
        here.kv.finalize(here.kv)
    assert np.array_equal(values, nn.utils.parameters_to_vector(net.parameters()).detach().numpy())
    with torch.no_grad():
        ours = net(torch.from_numpy(digits.test_inputs)).numpy()
    theirs = model_file.predict({"inputs": digits.test_inputs})
    np.testing.assert_allclose(theirs, ours, atol=1e-5)
    assert right(ours, digits) == right(theirs, digits) > 0.93


MAKE = """
require 'nn'
luaps = require 'luaps'
function make(address, inputs, outputs, options)
   kv = luaps.worker{address = address}
   net = nn.Linear(inputs, outputs):float()
   at_server = luaps.distributed(net, kv, options or {optimizer = 'sgd:lr=0.5'})
end
"""


@pytest.fixture
def here(lua: bridge.Lua) -> Any:
    """The functions and variables of a state that can make models."""
    lua.execute(MAKE)
    return lua.globals


@pytest.mark.parametrize(("inputs", "outputs"), [(3, 2), (1024, 3), (777, 11)])
def test_values_lie_under_the_same_keys(inputs: int, outputs: int, here: Any, lua: bridge.Lua) -> None:
    with pyps.Server(1) as server, server.worker() as kv:
        here.make(server.address, inputs, outputs)
        keys = np.concatenate(keys_of([inputs * outputs, outputs]))
        values = lua.eval("net.weight:view(-1):cat(net.bias)")
        assert np.array_equal(kv.table("model").pull(keys), values)
        assert server.table("model").options.startswith(
            f"capacity=1000000 lengths={','.join(map(str, LENGTHS))} "
        )
        lua.execute("kv:finalize()")


@pytest.mark.parametrize("first", ["lua", "python"])
def test_the_second_takes_the_values_of_the_first(first: str, here: Any, lua: bridge.Lua) -> None:
    torch.manual_seed(3)
    net = nn.Linear(5, 4)
    with pyps.Server(1) as server, server.worker() as kv:
        if first == "lua":
            here.make(server.address, 5, 4)
            begun = np.array(lua.eval("net.weight:clone()"))
        else:
            begun = net.weight.detach().numpy().copy()
        with pyps.nn.Distributed(net, kv, optimizer="sgd:lr=0.5"):
            if first == "python":
                here.make(server.address, 5, 4)
            assert np.array_equal(net.weight.detach().numpy(), begun)
            assert np.array_equal(lua.eval("net.weight"), begun)
        lua.execute("kv:finalize()")


def test_what_is_pushed_is_applied_and_set_to_zero(here: Any, lua: bridge.Lua) -> None:
    with pyps.Server(1) as server:
        here.make(server.address, 3, 2)
        before = np.array(lua.eval("net.bias:clone()"))
        lua.execute("net.gradBias:fill(2); at_server:push(); at_server:pull()")
        np.testing.assert_allclose(lua.eval("net.bias"), before - 1, rtol=1e-6)
        assert not np.any(lua.eval("net.gradBias"))
        assert lua.eval("tostring(at_server)").startswith("luaps model 'model': 2 parameters, luaps.worker ")
        lua.execute("kv:finalize()")


@pytest.mark.parametrize(
    ("inputs", "outputs", "options", "error"),
    [
        (4, 2, None, "parameter 1 of the model in table 'model' has 6 elements, and that of this one 8"),
        (3, 2, "{optimizer = 'adam:lr=1'}", "table 'model' is there with other options"),
        (3, 2, "{}", "luaps.distributed needs optimizer, as in luaps.distributed(module, kv, {optimizer ="),
        (
            3,
            2,
            "{optimizer = 'sgd:lr=1', mode = 'sync'}",
            "luaps.distributed has no argument 'mode'; there are: name",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    inputs: int, outputs: int, options: str | None, error: str, here: Any, lua: bridge.Lua
) -> None:
    with (
        pyps.Server(1) as server,
        server.worker() as kv,
        pyps.nn.Distributed(nn.Linear(3, 2), kv, optimizer="sgd:lr=0.5"),
    ):
        with pytest.raises(bridge.LuaError, match=re.escape(error)):
            here.make(server.address, inputs, outputs, options and lua.eval(options))
        lua.execute("kv:finalize()")


def test_a_gradient_that_is_no_number_is_named(here: Any, lua: bridge.Lua) -> None:
    with pyps.Server(1) as server:
        here.make(server.address, 3, 2, lua.eval("{optimizer = 'sgd:lr=0.5,refuse_nan=1'}"))
        before = np.array(lua.eval("net.bias:clone()"))
        with pytest.raises(bridge.LuaError, match=r"luaps: the gradient of parameter 2: .*PS_EINVAL"):
            lua.execute("net.gradBias:fill(0/0); at_server:push()")
        lua.execute("at_server:pull()")
        assert np.array_equal(lua.eval("net.bias"), before)
        lua.execute("kv:finalize()")


@pytest.mark.slow
def test_a_first_worker_that_sets_no_values_is_not_waited_for_for_ever(here: Any, lua: bridge.Lua) -> None:
    with pyps.Server(1) as server:
        server.table("model.shapes", dim=1, dtype="int64", initializer="constant:value=-7")
        with pytest.raises(
            bridge.LuaError, match=r"has not set its values within 0\.2 s; if it has ended, drop_table"
        ):
            here.make(server.address, 3, 2, lua.eval("{optimizer = 'sgd:lr=1', timeout = 0.2}"))
        lua.execute("kv:finalize()")


@pytest.mark.parametrize(
    ("module", "error"),
    [
        ("nn.Tanh()", "the module has no parameters"),
        (
            "nn.Sequential():add(nn.Linear(2, 2):double()):add(nn.Linear(2, 2):float())",
            "parameter 3 is torch.FloatTensor, and the first one torch.DoubleTensor; a table has one dtype",
        ),
    ],
)
def test_a_module_that_cannot_be_trained(module: str, error: str, here: Any, lua: bridge.Lua) -> None:
    with pyps.Server(1) as server:
        lua.execute("kv = luaps.worker{address = ...}", server.address)
        with pytest.raises(bridge.LuaError, match=error):
            lua.execute(f"luaps.distributed({module}, kv, {{optimizer = 'sgd:lr=1'}})")
        lua.execute("kv:finalize()")
