"""Lua modules inside PyTorch models: what autograd across the border costs, beside PyTorch and beside Lua alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

import bridge
from benchmarks.harness import Row, seconds_per_call
from benchmarks.nn import LENET, lenet
from bridge.nn import LuaModule

NAME = "Lua modules in PyTorch"

PERCEPTRON = "nn.Sequential():add(nn.Linear(4,8)):add(nn.Tanh()):add(nn.Linear(8,3)):add(nn.LogSoftMax())"


def perceptron() -> torch.nn.Module:
    """The same small network, PyTorch's."""
    return torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3), torch.nn.LogSoftmax(1)
    )


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    with bridge.Lua(tensors="torch") as lua:
        lua.require("nn")
        lua.execute("torch.setdefaulttensortype('torch.FloatTensor')")
        return [
            *rows(lua, "LeNet, 32 images", LENET, lenet, (32, 1, 32, 32), 1 if quick else 5, quick),
            *rows(
                lua, "perceptron 4-8-3, 5 rows", PERCEPTRON, perceptron, (5, 4), 1 if quick else 200, quick
            ),
        ]


def rows(
    lua: bridge.Lua,
    what: str,
    constructor: str,
    make: Callable[[], torch.nn.Module],
    size: tuple[int, ...],
    rounds: int,
    quick: bool,
) -> Iterator[Row]:
    """A forward and backward pass through a LuaModule, beside PyTorch's and beside the Lua module's own."""
    net = lua.eval(constructor)
    module, theirs, x = LuaModule(net), make(), torch.randn(size)
    g = torch.randn_like(theirs(x))

    def ours() -> None:
        for _ in range(rounds):
            module(x).backward(g)

    def pytorch() -> None:
        for _ in range(rounds):
            theirs(x).backward(g)

    alone = lua.eval(
        "function(m, x, g, n) for _ = 1, n do m:zeroGradParameters() m:forward(x) m:backward(x, g) end end"
    )
    for peer, other in (("PyTorch", pytorch), ("Lua alone", lambda: alone(net, x, g, rounds))):
        here, there = seconds_per_call(ours, other, quick=quick)
        yield Row(
            table="forward and backward, float",
            what=f"{what}, beside {peer}",
            ours=here / rounds * 1e6,
            unit="us",
            peer=peer,
            theirs=there / rounds * 1e6,
        )
