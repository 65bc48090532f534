"""Networks in Lua on a GPU beside PyTorch eager on the same one: the same layers on the same kernels.

A GPU is given much at a time and waited for at the end. Where torch has none there is nothing to measure, and `quick`
sees that the code runs with the CPU as the device.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import torch

import bridge
from benchmarks import nn
from benchmarks.harness import Row, seconds_per_call
from pyps import wholememory as wm

NAME = "cutorch: Lua on a GPU"

LAYERS = "layers, float"
OPERATORS = "what an operator costs beside few numbers"
ROWS = "rows of 128 floats of a tensor in the memory of all GPUs; ours looks at the indices first"
GPU = torch.cuda.is_available()
ROUNDS = 50 if GPU else 1
TARGET = "<= 1.1x"
DEVICE = "cuda" if GPU else "cpu"

# of a and b (4 x 4), in Lua and in Python
CALLS: list[tuple[str, Callable[[torch.Tensor, torch.Tensor], object]]] = [
    ("a:add(1)", lambda a, b: a.add_(1)),
    ("a:cmul(b)", lambda a, b: a.mul_(b)),
    ("a:addmm(b, b)", lambda a, b: a.addmm_(b, b)),
    ("a:copy(b)", lambda a, b: a.copy_(b)),
    ("a:sum()", lambda a, b: a.sum().item()),
]


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    if not GPU and not quick:
        print("no GPU here that torch can use: nothing to measure", file=sys.stderr)
        return []
    with patch.dict(os.environ, MOONTIDE_CUDA="" if GPU else "aten"), bridge.Lua() as lua:
        lua.execute("require 'cutorch' require 'nn' torch.setdefaulttensortype('torch.CudaTensor')")
        lenet: nn.Layer = ("LeNet, 32 images", nn.LENET, nn.lenet, (32, 1, 32, 32))
        layers = [lenet, nn.CONVOLUTION, *nn.LARGE, nn.POOL]
        rows = [row for layer in layers for row in passes(lua, *layer, quick)]
        rows += [operator(lua, *call, quick) for call in CALLS]
    return [*rows, *gathered(quick)] if GPU else rows


def waited(function: Callable[[], object]) -> Callable[[], None]:
    """Do it some times, then wait for the GPU."""

    def loop() -> None:
        for _ in range(ROUNDS):
            function()
        if GPU:
            torch.cuda.synchronize()

    return loop


def beside(
    table: str, what: str, ours: Callable[[], object], theirs: Callable[[], object], quick: bool
) -> Row:
    """Time both in turn, in microseconds a call."""
    seconds = seconds_per_call(waited(ours), waited(theirs), quick=quick, least=0.05)
    here, there = (1e6 * t / ROUNDS for t in seconds)
    return Row(
        table=f"{table} ({torch.cuda.get_device_name() if GPU else 'CPU'})",
        what=what,
        ours=here,
        unit="us",
        peer="PyTorch there",
        theirs=there,
        target=TARGET,
    )


def passes(
    lua: bridge.Lua,
    what: str,
    constructor: str,
    make: Callable[[], torch.nn.Module],
    size: tuple[int, ...],
    quick: bool,
) -> Iterator[Row]:
    """A forward pass, then one with its backward pass."""
    code = f"""
    local m, x = {constructor}, torch.CudaTensor({",".join(map(str, size))}):normal()
    local g = m:forward(x):clone()
    return function() m:forward(x) end, function() m:forward(x) m:backward(x, g) end
    """
    ours = lua.execute(code)
    module, x = make().to(DEVICE), torch.randn(size, device=DEVICE)
    g = torch.randn_like(module(x))

    def forward() -> None:
        with torch.no_grad():
            module(x)

    def backward() -> None:
        leaf: Any = x.detach().requires_grad_()
        module(leaf).backward(g)

    yield beside(LAYERS, f"{what}, forward", ours[0], forward, quick)
    yield beside(LAYERS, f"{what}, forward + backward", ours[1], backward, quick)


def operator(
    lua: bridge.Lua, code: str, call: Callable[[torch.Tensor, torch.Tensor], object], quick: bool
) -> Row:
    """Compare one operator, called from Lua's loop and from Python's."""
    loop = f"""
    local a, b = torch.CudaTensor(4, 4):fill(0), torch.CudaTensor(4, 4):fill(0)
    return function() for _ = 1, 20 do {code} end end
    """
    a, b = torch.zeros(4, 4, device=DEVICE), torch.zeros(4, 4, device=DEVICE)

    def theirs() -> None:
        for _ in range(20):
            call(a, b)

    return beside(OPERATORS, f"20 x {code}", lua.execute(loop), theirs, quick)


def gathered(quick: bool) -> list[Row]:
    """Gather 100,000 rows of a tensor of all ranks, of which there is one here, beside index_select of torch's own."""
    count, chosen_count = (10_000, 1_000) if quick else (10_000_000, 100_000)
    wm.init_lib()
    wm.mp_init(0, 1)
    try:
        shared = wm.create_tensor([count, 128], [], torch.float32, False, [])
        plain = torch.ones(count, 128, device="cuda")
        shared.fill_(1)
        chosen = torch.randint(count, (chosen_count,), device="cuda")
        out = torch.empty(chosen_count, 128, device="cuda")
        return [
            beside(
                ROWS,
                f"gather of {chosen_count:,} of {count:,}",
                lambda: wm.gather(shared, chosen, out=out),
                lambda: torch.index_select(plain, 0, chosen, out=out),
                quick,
            )
        ]
    finally:
        wm.finalize_lib()
