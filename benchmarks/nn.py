"""Networks in Lua beside PyTorch eager: the same layers on the same kernels."""

from __future__ import annotations

import ctypes
import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import torch
from torch import nn as theirs

import bridge
from benchmarks.harness import Row, seconds_per_call

NAME = "nn in Lua"

NETWORK = "LeNet, 32 images, float"
LAYERS = "layers, float"
DOUBLES = "layers, double"
FUNCTIONS = "functions of each element, 8 x 64 x 28 x 28, float"
FRESH = "layers, float, where malloc gives memory back to the system: fresh pages are most of the time"
OVERHEAD = (
    "a module's forward pass beside the same call of aten made from Python, few numbers: at most 1.5 us more"
)
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


Layer = tuple[
    str, str, Callable[[], theirs.Module], tuple[int, ...]
]  # what, Lua's module, PyTorch's, size of the input
IMAGES, POINTS = (8, 64, 56, 56), (8, 64, 28, 28)
CONVOLUTION: Layer = (
    "conv 64 -> 64, 3x3, 8 x 56 x 56",
    "nn.SpatialConvolution(64,64,3,3,1,1,1,1)",
    lambda: theirs.Conv2d(64, 64, 3, padding=1),
    IMAGES,
)
LARGE: list[Layer] = [
    (
        "batch norm, 8 x 64 x 56 x 56",
        "nn.SpatialBatchNormalization(64)",
        lambda: theirs.BatchNorm2d(64),
        IMAGES,
    ),
    ("ReLU, 8 x 64 x 56 x 56", "nn.ReLU()", theirs.ReLU, IMAGES),
]
POOL: Layer = (
    "max pool 2x2, 8 x 64 x 56 x 56",
    "nn.SpatialMaxPooling(2,2)",
    lambda: theirs.MaxPool2d(2),
    IMAGES,
)
ELEMENTS: list[Layer] = [
    ("Tanh", "nn.Tanh()", theirs.Tanh, POINTS),
    ("LeakyReLU", "nn.LeakyReLU(0.2)", lambda: theirs.LeakyReLU(0.2), POINTS),
    ("ELU", "nn.ELU()", theirs.ELU, POINTS),
    ("PReLU", "nn.PReLU(64)", lambda: theirs.PReLU(64), POINTS),
    ("HardTanh", "nn.HardTanh()", theirs.Hardtanh, POINTS),
    ("SoftPlus", "nn.SoftPlus()", theirs.Softplus, POINTS),
]
FEW: list[Layer] = [
    ("conv", "nn.SpatialConvolution(1,1,2,2)", lambda: theirs.Conv2d(1, 1, 2), (1, 1, 4, 4)),
    ("batch norm", "nn.SpatialBatchNormalization(1)", lambda: theirs.BatchNorm2d(1), (1, 1, 4, 4)),
    ("max pool", "nn.SpatialMaxPooling(2,2)", lambda: theirs.MaxPool2d(2), (1, 1, 4, 4)),
    ("average pool", "nn.SpatialAveragePooling(2,2)", lambda: theirs.AvgPool2d(2, 1), (1, 1, 4, 4)),
]


# a module and the same from Python: of x, w (4 x 4), b and the tensor for the result, all of 4 numbers a row
Call = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], object]
CALLS: list[tuple[str, Call]] = [
    ("nn.Linear(4,4)", lambda x, w, b, y: torch.addmm(b, x, w, out=y)),
    ("nn.Tanh()", lambda x, w, b, y: torch.tanh(x, out=y)),
    ("nn.Sigmoid()", lambda x, w, b, y: torch.sigmoid(x, out=y)),
    ("nn.ReLU()", lambda x, w, b, y: torch.clamp_min(x, 0, out=y)),
    ("nn.LogSoftMax()", lambda x, w, b, y: torch._log_softmax(x, 1, False, out=y)),
    ("nn.MulConstant(2)", lambda x, w, b, y: torch.mul(x, 2, out=y)),
    ("nn.View(-1)", lambda x, w, b, y: x.view(-1)),
    ("nn.Narrow(2,1,2)", lambda x, w, b, y: x.narrow(1, 0, 2)),
]


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run.

    It runs in a process of its own, in which malloc keeps freed memory. Otherwise chance decides whether a large tensor
    gets fresh pages, and these cost more than all that is compared here. A table at the end shows layers with them.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, keep_memory, (torch.get_num_threads(),)) as keeping:
        rows = keeping.submit(measure, quick).result()
    with floats() as lua:
        return rows + [
            row
            for layer in (CONVOLUTION, LARGE[0], POOL)
            for row in both(lua, FRESH, *layer, quick, targets=("", ""))
        ]


def keep_memory(threads: int) -> None:
    """Let malloc hand nothing back: all memory from the heap (M_MMAP_THRESHOLD), none trimmed (M_TRIM_THRESHOLD)."""
    torch.set_num_threads(threads)
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(-3, 1 << 30)
    mallopt(-1, 1 << 30)


def floats() -> bridge.Lua:
    lua = bridge.Lua()
    lua.require("nngraph")
    lua.execute("torch.setdefaulttensortype('torch.FloatTensor')")
    return lua


def measure(quick: bool) -> list[Row]:
    """Return the rows that are judged."""
    with floats() as lua:
        rows = [
            *both(lua, NETWORK, "LeNet", LENET, lenet, (32, 1, 32, 32), quick),
            *(row for layer in (CONVOLUTION, *LARGE) for row in both(lua, LAYERS, *layer, quick)),
            *both(
                lua, LAYERS, *POOL, quick, targets=("<= 0.3x", "<= 1.1x")
            ),  # what Torch7 needs beside PyTorch
            *(row for layer in ELEMENTS for row in both(lua, FUNCTIONS, *layer, quick)),
            *(overhead(lua, constructor, call, quick) for constructor, call in CALLS),
            *(row for layer in FEW for row in both(lua, SMALL, *layer, quick, rounds=200)),
            *lstm(lua, 16, 1, quick, 200, ("<= 2.5x", "<= 0.7x")),
            *lstm(lua, 128, 50, quick, 10, ("<= 1.7x", "<= 1.2x")),
        ]
        lua.execute("torch.setdefaulttensortype('torch.DoubleTensor')")
        torch.set_default_dtype(torch.float64)
        doubles = (CONVOLUTION, LARGE[0], POOL, ELEMENTS[2])
        return rows + [row for layer in doubles for row in both(lua, DOUBLES, *layer, quick)]


def overhead(lua: bridge.Lua, constructor: str, call: Call, quick: bool) -> Row:
    """Compare a module with one call on tensors of the same sizes."""
    rounds = 1 if quick else 1000
    forward = lua.execute(
        f"local m, x = {constructor}, torch.randn(2,4) return function() for _ = 1, {rounds} do m:forward(x) end end"
    )
    x, w, b, y = torch.randn(2, 4), torch.randn(4, 4), torch.randn(4), torch.empty(2, 4)

    def aten() -> None:
        with torch.inference_mode():
            for _ in range(rounds):
                call(x, w, b, y)

    here, there = seconds_per_call(forward, aten, quick=quick)
    here, there = here / rounds * 1e6, there / rounds * 1e6
    return Row(
        table=OVERHEAD,
        what=constructor,
        ours=here,
        unit="us",
        peer="aten from Python",
        theirs=there,
        target=f"<= {there + 1.5:.2f} us",
    )


def both(
    lua: bridge.Lua,
    table: str,
    what: str,
    constructor: str,
    make: Callable[[], theirs.Module],
    size: tuple[int, ...],
    quick: bool,
    rounds: int = 1,
    targets: tuple[str, str] = ("<= 1.1x", "<= 1.1x"),
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

    yield from rows(lua.execute(code), (forward, backward), table, what, quick, rounds, targets)


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
    targets: tuple[str, str],
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
