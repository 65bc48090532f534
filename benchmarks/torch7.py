"""Torch7's torch in Lua: elements beside lupa's tables, operations beside PyTorch eager, files beside a plain read."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lupa.luajit21
import torch

import bridge
from benchmarks.harness import Row, seconds_per_call
from benchmarks.t7 import plain_read

NAME = "Torch7's torch in Lua"

ELEMENTS = "elements and views"
FUNCTIONS = "a Lua function over elements"
SMALL = "operations on 10 doubles"
LARGE = "operations on a million doubles"
MATRICES = "matrices and planes"
FILES = "torch.load and torch.save"

SETUP = """
t = torch.DoubleTensor(1000):fill(1)
m = torch.DoubleTensor(100, 100):fill(1)
a, b, r = torch.DoubleTensor(10):fill(1), torch.DoubleTensor(10):fill(2), torch.DoubleTensor(10)
A, B, R = torch.DoubleTensor(10^6):fill(0.5), torch.DoubleTensor(10^6):fill(2), torch.DoubleTensor(10^6)
M = torch.DoubleTensor(1000, 1000):fill(0.5)
P, Q, S = torch.rand(512, 512), torch.rand(512, 512), torch.Tensor(512, 512)
U = torch.rand(10^6)
C, D, E, V = torch.rand(16, 64, 64), torch.rand(16, 64, 64), torch.Tensor(16, 64, 64), torch.rand(512)
W, G, H = torch.Tensor(512), torch.rand(1000), torch.rand(300, 300) + torch.eye(300) * 300
I, K, N = torch.rand(300, 10), torch.rand(9, 9), torch.Tensor(2000, 1000)
O, J = torch.Tensor(1000, 1000), torch.LongTensor()
flip = function(x) return 1 - x end
times = function(x, y) return x * y end
few = torch.DoubleTensor(100):fill(1)
mv, sv, lv, cv = torch.Tensor(), torch.Tensor(), torch.Tensor(), torch.Tensor()
"""
TABLE = "t = {} for i = 1, 1000 do t[i] = 1 end"
# what, the body of a loop over i = 1 .. 100 (those with `t` alone: in lupa with a table too), target in ns
BODIES = [
    ("element read", "s = s + t[i]", 2),
    ("element written", "t[i] = i", 2),
    ("element of a matrix, by a table", "s = s + m[{i, 5}]", 100),
    ("element of a matrix, by its row", "s = s + m[i][5]", 100),
    ("t:size(1)", "s = s + t:size(1)", 100),
    ("m:narrow(1, i, 1)", "s = m:narrow(1, i, 1) and s", 800),
    ("torch.DoubleTensor(10)", "s = torch.DoubleTensor(10) and s", 1000),
]
# what, Lua's statement, how many of them, target in us: a tenth more than a real Torch7 takes
CALLBACKS = [
    ("apply to a million", "A:apply(flip)", 1, 285),
    ("map of a million", "R:map(B, times)", 1, 325),
    ("apply to 100", "few:apply(flip)", 100, 0.7),
]
# what, Lua's statement, the same in Python, target in ns
OPERATIONS = [
    ("t:add(1)", "r:add(1)", lambda x: x.r.add_(1), 150),
    ("torch.add(r, a, b)", "torch.add(r, a, b)", lambda x: torch.add(x.a, x.b, out=x.r), 200),
    ("t:cmul(b)", "r:cmul(b)", lambda x: x.r.mul_(x.b), None),
    ("t:sum()", "s = s + a:sum()", lambda x: x.a.sum().item(), 100),
    ("t:copy(a)", "r:copy(a)", lambda x: x.r.copy_(x.a), None),
    ("a + b", "s = a + b", lambda x: x.a + x.b, 800),
    ("torch.cat(a, b)", "s = torch.cat(a, b)", lambda x: torch.cat((x.a, x.b)), 1000),
]
# what, Lua's statement, the same in Python, target as a ratio
Operation = tuple[str, str, Callable[[Any], object], str]
HEAVY: list[Operation] = [
    ("add", "R:add(A, B)", lambda x: torch.add(x.A, x.B, out=x.R), "<= 1.1x"),
    ("randn", "torch.randn(R, 10^6)", lambda x: torch.randn(10**6, dtype=torch.double, out=x.R), "<= 1.1x"),
    ("exp", "R:exp(A)", lambda x: torch.exp(x.A, out=x.R), "<= 1.1x"),
    ("sum", "s = A:sum()", lambda x: x.A.sum().item(), "<= 1.1x"),
    ("sum along columns", "M:sum(1)", lambda x: x.M.sum(0, keepdim=True), "<= 1.1x"),
    ("sort", "U:sort()", lambda x: x.U.sort(), "<= 1.1x"),
    (
        "copy of a transposed matrix",
        "R:copy(M:t())",
        lambda x: x.R.view(1000, 1000).copy_(x.M.t()),
        "<= 1.1x",
    ),
    ("pow(3)", "R:pow(U, 3)", lambda x: torch.pow(x.U, 3, out=x.R), "<= 1.1x"),
    ("pow(0.5)", "R:pow(U, 0.5)", lambda x: torch.pow(x.U, 0.5, out=x.R), "<= 1.1x"),
    ("fmod", "R:fmod(U, 0.3)", lambda x: torch.fmod(x.U, 0.3, out=x.R), "<= 1.1x"),
    ("max along rows", "torch.max(mv, J, M, 2)", lambda x: x.M.max(1, keepdim=True), "<= 1.1x"),
    ("min along columns", "torch.min(mv, J, M, 1)", lambda x: x.M.min(0, keepdim=True), "<= 1.1x"),
    ("cumsum", "torch.cumsum(R, U)", lambda x: torch.cumsum(x.U, 0, out=x.R), "<= 1.1x"),
    ("cumsum along columns", "torch.cumsum(O, M, 1)", lambda x: torch.cumsum(x.M, 0, out=x.O), "<= 1.1x"),
    ("cat", "torch.cat(N, M, M, 1)", lambda x: torch.cat((x.M, x.M), out=x.N), "<= 1.1x"),
]
PRODUCTS: list[Operation] = [
    ("mm 512", "torch.mm(S, P, Q)", lambda x: torch.mm(x.P, x.Q, out=x.S), "<= 1.05x"),
    ("mv 512", "torch.mv(W, P, V)", lambda x: torch.mv(x.P, x.V, out=x.W), "<= 1.1x"),
    ("ger 1000", "torch.ger(O, G, G)", lambda x: torch.outer(x.G, x.G, out=x.O), "<= 1.1x"),
    ("bmm 16 x 64", "torch.bmm(E, C, D)", lambda x: torch.bmm(x.C, x.D, out=x.E), "<= 1.1x"),
    ("gesv 300", "torch.gesv(sv, lv, I, H)", lambda x: torch.linalg.solve(x.H, x.I), "<= 1.1x"),
    ("inverse 300", "torch.inverse(sv, H)", lambda x: torch.inverse(x.H), "<= 1.1x"),
    (
        "xcorr2 512, 9 x 9",
        "torch.xcorr2(cv, P, K)",
        lambda x: torch.conv2d(x.P[None, None], x.K[None, None]),
        "<= 1.1x",
    ),
]


class Peer:
    """The same tensors, as PyTorch's."""

    def __init__(self, lua: bridge.Lua) -> None:
        for name in "abrABRMPQSUCDEVWGHIKNO":
            setattr(self, name, torch.as_tensor(lua.eval(name)).clone())


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    with bridge.Lua() as lua:
        lua.require("torch")
        lua.execute(SETUP)
        peer = Peer(lua)
        rows = [*elements(lua, quick), *callbacks(lua, quick), *small(lua, peer, quick)]
        rows += [*heavy(LARGE, HEAVY, lua, peer, quick), *heavy(MATRICES, PRODUCTS, lua, peer, quick)]
        with tempfile.TemporaryDirectory() as directory:
            return [*rows, *files(lua, Path(directory), quick)]


def loop(lua: bridge.Lua, body: str, rounds: int) -> Callable[[], Any]:
    """A Lua function that runs `body` with i = 1 .. 100, `rounds` times."""
    return lua.execute(source(body, rounds))  # type: ignore[no-any-return]


def source(body: str, rounds: int) -> str:
    """Lua's text of such a function."""
    return (
        f"return function() local s = 0; for _ = 1, {rounds} do for i = 1, 100 do {body} end end return s end"
    )


def nanoseconds(
    lua: bridge.Lua, body: str, quick: bool, peer: Callable[[], Any] | None = None
) -> list[float]:
    """Of one iteration in Lua, and of one call of the peer."""
    rounds = 1 if quick else 500
    ours, *theirs = seconds_per_call(loop(lua, body, rounds), *([peer] if peer else []), quick=quick)
    return [ours / rounds / 100 * 1e9, *(1e9 * t for t in theirs)]


def elements(lua: bridge.Lua, quick: bool) -> Iterator[Row]:
    """Elements and views, inside a loop that LuaJIT compiles."""
    other = lupa.luajit21.LuaRuntime()
    other.execute(TABLE)
    rounds = 1 if quick else 500
    for what, body, target in BODIES:
        same = other.execute(source(body, rounds)) if "t[i]" in body else None
        ours, *theirs = nanoseconds(lua, body, quick, same)
        yield Row(
            table=ELEMENTS,
            what=what,
            ours=ours,
            unit="ns",
            peer="lupa's table" if theirs else "",
            theirs=theirs[0] / rounds / 100 if theirs else None,
            target=f"<= {target} ns",
        )


def small(lua: bridge.Lua, peer: Peer, quick: bool) -> Iterator[Row]:
    """What a call costs beside the few numbers it works on."""
    for what, body, same, target in OPERATIONS:
        ours, theirs = nanoseconds(lua, body, quick, lambda same=same: same(peer))  # type: ignore[misc]
        bound = f"<= {target} ns" if target else ""
        yield Row(table=SMALL, what=what, ours=ours, unit="ns", peer="PyTorch", theirs=theirs, target=bound)


def callbacks(lua: bridge.Lua, quick: bool) -> Iterator[Row]:
    """What a call of a Lua function for each element costs."""
    for what, statement, count, target in CALLBACKS:
        run = lua.execute(f"return function() for _ = 1, {count} do {statement} end end")
        (ours,) = seconds_per_call(run, quick=quick)
        yield Row(table=FUNCTIONS, what=what, ours=ours / count * 1e6, unit="us", target=f"<= {target} us")


def heavy(table: str, operations: list[Operation], lua: bridge.Lua, peer: Peer, quick: bool) -> Iterator[Row]:
    """What the loops themselves cost."""
    for what, statement, same, target in operations:
        ours, theirs = seconds_per_call(
            lua.execute(f"return function() local s = 0; {statement}; return s end"),
            lambda same=same: same(peer),  # type: ignore[misc]
            quick=quick,
        )
        yield Row(
            table=table,
            what=what,
            ours=ours * 1e6,
            unit="us",
            peer="PyTorch",
            theirs=theirs * 1e6,
            target=target,
        )


def files(lua: bridge.Lua, directory: Path, quick: bool) -> Iterator[Row]:
    """Tensors beside a plain read of their bytes into warm memory; small tables."""
    scale = 100 if quick else 1
    for what, code, size in (
        ("load one tensor of 100 MB", "torch.rand(n / 8)", 100_000_000),
        ("load 1000 tensors of 100 KB", "{torch.rand(12500)}", 100_000),
    ):
        path = directory / f"{size}.t7"
        count = 1000 // scale if size == 100_000 else 1
        lua.execute(
            f"""
            local path, n, count = ...
            local made = {code}
            for i = 2, count do made[i] = torch.rand(12500) end
            torch.save(path, made)
            """,
            str(path),
            size // scale if count == 1 else size,
            count,
        )
        ours, theirs = seconds_per_call(
            lua.execute("local path = ... return function() torch.load(path) end", str(path)),
            plain_read(path),
            quick=quick,
        )
        yield Row(
            table=FILES,
            what=what,
            ours=ours * 1e3,
            unit="ms",
            peer="plain read",
            theirs=theirs * 1e3,
            target="<= 1.3x",
        )
        path.unlink()
    path = directory / "tables.t7"
    lua.execute(
        """
        records = {}
        for i = 1, ... do
           records[i] = {id = i, name = 'row ' .. i, values = {i, i + 1, i * 0.5}}
        end
        """,
        100_000 // scale,
    )
    save = lua.execute("local path = ... return function() torch.save(path, records) end", str(path))
    save()
    load = lua.execute("local path = ... return function() torch.load(path) end", str(path))
    saving, loading = seconds_per_call(save, load, quick=quick, rounds=5)
    many = f"{200_000 // scale:,} small tables, {path.stat().st_size / 1e6:.0f} MB"
    yield Row(table=FILES, what=f"load {many}", ours=loading * 1e3, unit="ms", target="<= 350 ms")
    yield Row(table=FILES, what=f"save {many}", ours=saving * 1e3, unit="ms", target="<= 700 ms")
