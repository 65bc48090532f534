"""Networks in Lua beside PyTorch eager: the same layers on the same kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn as theirs

import bridge
from benchmarks.harness import Row, seconds_per_call

NAME = "nn in Lua"

NETWORK = "LeNet, 32 images, float"
LAYERS = "layers, float"
SMALL = "what a module costs beside few numbers, float"
GRAPHS = "LSTM cell, a graph of 17 modules here, one fused kernel there; float"

LENET = """nn.Sequential()
   :add(nn.SpatialConvolution(1,6,5,5)):add(nn.ReLU()):add(nn.SpatialMaxPooling(2,2))
   :add(nn.SpatialConvolution(6,16,5,5)):add(nn.ReLU()):add(nn.SpatialMaxPooling(2,2))
   :add(nn.View(400)):add(nn.Linear(400,120)):add(nn.ReLU()):add(nn.Linear(120,84)):add(nn.ReLU())
   :add(nn.Linear(84,10)):add(nn.LogSoftMax())"""


def lenet() -> theirs.Module:
    """The same network, PyTorch's."""
    return theirs.Sequential(
        *(theirs.Conv2d(1, 6, 5), theirs.ReLU(), theirs.MaxPool2d(2)),
        *(theirs.Conv2d(6, 16, 5), theirs.ReLU(), theirs.MaxPool2d(2)),
        *(theirs.Flatten(), theirs.Linear(400, 120), theirs.ReLU(), theirs.Linear(120, 84), theirs.ReLU()),
        *(theirs.Linear(84, 10), theirs.LogSoftmax(1)),
    )


LSTM = """function(n)
   local x, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
   local sums = nn.CAddTable()({nn.Linear(n, 4 * n)(x), nn.Linear(n, 4 * n)(h)})
   local n1, n2, n3, n4 = nn.SplitTable(2)(nn.Reshape(4, n)(sums)):split(4)
   local i, f, o = nn.Sigmoid()(n1), nn.Sigmoid()(n2), nn.Sigmoid()(n3)
   local next_c = nn.CAddTable()({nn.CMulTable()({f, c}), nn.CMulTable()({i, nn.Tanh()(n4)})})
   return nn.gModule({x, c, h}, {next_c, nn.CMulTable()({o, nn.Tanh()(next_c)})})
end"""


# what, Lua's module, PyTorch's, size of the input, the target of the ratio
LARGE: list[tuple[str, str, Callable[[], theirs.Module], tuple[int, ...]]] = [
    (
        "conv 64 -> 64, 3x3, 8 x 56 x 56",
        "nn.SpatialConvolution(64,64,3,3,1,1,1,1)",
        lambda: theirs.Conv2d(64, 64, 3, padding=1),
        (8, 64, 56, 56),
    ),
    (
        "batch norm, 8 x 64 x 56 x 56",
        "nn.SpatialBatchNormalization(64)",
        lambda: theirs.BatchNorm2d(64),
        (8, 64, 56, 56),
    ),
    ("ReLU, 8 x 64 x 56 x 56", "nn.ReLU()", theirs.ReLU, (8, 64, 56, 56)),
    (
        "max pool 2x2, 8 x 64 x 56 x 56",
        "nn.SpatialMaxPooling(2,2)",
        lambda: theirs.MaxPool2d(2),
        (8, 64, 56, 56),
    ),
]
FEW: list[tuple[str, str, Callable[[], theirs.Module], tuple[int, ...]]] = [
    ("conv", "nn.SpatialConvolution(1,1,2,2)", lambda: theirs.Conv2d(1, 1, 2), (1, 1, 4, 4)),
    ("batch norm", "nn.SpatialBatchNormalization(1)", lambda: theirs.BatchNorm2d(1), (1, 1, 4, 4)),
    ("max pool", "nn.SpatialMaxPooling(2,2)", lambda: theirs.MaxPool2d(2), (1, 1, 4, 4)),
    ("average pool", "nn.SpatialAveragePooling(2,2)", lambda: theirs.AvgPool2d(2, 1), (1, 1, 4, 4)),
]


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    with bridge.Lua() as lua:
        lua.require("nngraph")
        lua.execute("torch.setdefaulttensortype('torch.FloatTensor')")
        return [
            *both(lua, NETWORK, "LeNet", LENET, lenet, (32, 1, 32, 32), quick),
            *(row for layer in LARGE for row in both(lua, LAYERS, *layer, quick)),
            *(row for layer in FEW for row in both(lua, SMALL, *layer, quick, rounds=200)),
            *lstm(lua, 16, 1, quick, 200, ("<= 2.5x", "<= 0.7x")),
            *lstm(lua, 128, 50, quick, 10, ("<= 1.7x", "<= 1.2x")),
        ]


def both(
    lua: bridge.Lua,
    table: str,
    what: str,
    constructor: str,
    make: Callable[[], theirs.Module],
    size: tuple[int, ...],
    quick: bool,
    rounds: int = 1,
) -> Iterator[Row]:
    """A forward pass, then one with its backward pass."""
    rounds = 1 if quick else rounds
    code = f"""
    local m, x = {constructor}, torch.randn({",".join(map(str, size))})
    local g = m:forward(x):clone()
    return function() for _ = 1, {rounds} do m:forward(x) end end,
       function() for _ = 1, {rounds} do m:forward(x) m:backward(x, g) end end
    """
    module, x = make(), torch.randn(size)
    g = torch.randn_like(module(x))

    def forward() -> None:
        with torch.no_grad():
            for _ in range(rounds):
                module(x)

    def backward() -> None:
        leaf: Any = x.detach().requires_grad_()
        for _ in range(rounds):
            leaf.grad = None
            module(leaf).backward(g)

    yield from rows(lua.execute(code), (forward, backward), table, what, quick, rounds)


def lstm(
    lua: bridge.Lua, n: int, batch: int, quick: bool, rounds: int, targets: tuple[str, str]
) -> Iterator[Row]:
    """An LSTM's step, with its state and all gradients; the targets follow what Torch7 reached beside the kernel."""
    rounds = 1 if quick else rounds
    code = f"""
    local m = ({LSTM})({n})
    local x = {{torch.randn({batch},{n}), torch.randn({batch},{n}), torch.randn({batch},{n})}}
    local g = {{torch.randn({batch},{n}), torch.randn({batch},{n})}}
    return function() for _ = 1, {rounds} do m:forward(x) end end,
       function() for _ = 1, {rounds} do m:forward(x) m:backward(x, g) end end
    """
    cell = theirs.LSTMCell(n, n)
    x, h, c, gh, gc = torch.randn(5, batch, n).unbind()

    def forward() -> None:
        with torch.no_grad():
            for _ in range(rounds):
                cell(x, (h, c))

    def backward() -> None:
        leaves = [t.detach().requires_grad_() for t in (x, h, c)]
        for _ in range(rounds):
            torch.autograd.backward(cell(leaves[0], (leaves[1], leaves[2])), (gh, gc))

    yield from rows(
        lua.execute(code), (forward, backward), GRAPHS, f"{n}, batch {batch}", quick, rounds, targets
    )


def rows(
    ours: tuple[Callable[[], object], ...],
    peers: tuple[Callable[[], object], ...],
    table: str,
    what: str,
    quick: bool,
    rounds: int,
    targets: tuple[str, str] = ("<= 1.1x", "<= 1.1x"),
) -> Iterator[Row]:
    """Measure a forward pass, then one with its backward pass, in `rounds` at a time."""
    names = ("forward", "forward + backward")
    for name, mine, peer, target in zip(names, ours, peers, targets, strict=True):
        here, there = seconds_per_call(mine, peer, quick=quick)
        yield Row(
            table=table,
            what=f"{what}, {name}",
            ours=here / rounds * 1e6,
            unit="us",
            peer="PyTorch",
            theirs=there / rounds * 1e6,
            target=target,
        )
