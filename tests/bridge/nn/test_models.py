"""bridge.nn: Lua modules in threads and in a training."""

from __future__ import annotations

import threading

import pytest
import torch
from sklearn.datasets import load_digits

import bridge
from bridge.legacy import nn
from bridge.nn import LuaCriterion, LuaModule
from tests.bridge.nn.networks import F64, mlp, randn

# ---- threads


@pytest.mark.slow
def test_threads_share_a_module() -> None:
    module = LuaModule(mlp())
    plain = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3), torch.nn.LogSoftmax(1)
    ).double()
    plain.load_state_dict(module.state_dict())
    problems: list[str] = []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for _ in range(30):
            x = torch.randn(3, 4, dtype=F64, generator=generator).requires_grad_()
            mine = torch.autograd.grad(module(x)[:, 0].sum(), x)[0]
            right = torch.autograd.grad(plain(x)[:, 0].sum(), x)[0]
            if not torch.allclose(mine, right):
                problems.append("another thread's gradient")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert problems == []


@pytest.mark.slow
def test_a_state_that_is_in_use_is_told() -> None:
    with bridge.Lua(tensors="torch", busy_timeout=0.2) as lua:
        module = LuaModule(lua.execute("require 'nn' return nn.Tanh()"))
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with lua.exclusive():
                inside.set()
                leave.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        assert inside.wait(30)
        try:
            with pytest.raises(bridge.StateBusy, match=r"in use by another thread after 0.2 s"):
                module(randn(2))
        finally:
            leave.set()
            thread.join(30)
        assert torch.equal(module(torch.zeros(2, dtype=F64)), torch.zeros(2, dtype=F64))


def test_an_error_in_lua_leaves_the_module_usable() -> None:
    module = LuaModule(nn.Linear(3, 2))
    with pytest.raises(bridge.LuaError, match="size"):
        module(randn(2, 4))
    assert module(randn(2, 3)).shape == (2, 2)
    assert len(module._copies) == 1


# ---- training


@pytest.mark.slow
def test_digits_are_learnt_by_torch_s_optimiser() -> None:
    digits = load_digits()
    x, t = torch.from_numpy(digits.data / 16.0).float(), torch.from_numpy(digits.target)
    convolutions = (
        nn.Sequential().add(nn.View(1, 8, 8)).add(nn.SpatialConvolution(1, 8, 3, 3)).add(nn.ReLU(True))
    )
    convolutions.add(nn.SpatialMaxPooling(2, 2)).add(nn.View(72))
    model = torch.nn.Sequential(
        LuaModule(convolutions), torch.nn.Linear(72, 10), LuaModule(nn.LogSoftMax())
    ).float()
    criterion = LuaCriterion(nn.ClassNLLCriterion()).float()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(3):
        for at in range(0, 1500, 50):
            optimiser.zero_grad()
            criterion(model(x[at : at + 50]), t[at : at + 50]).backward()
            optimiser.step()
    with torch.no_grad():
        right = (model(x[1500:]).argmax(1) == t[1500:]).double().mean()
    assert right > 0.85  # guessing: 0.1
