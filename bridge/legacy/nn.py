"""Torch7's nn and nngraph with the interface of PyTorch's torch.legacy.nn: their classes are attributes.

    net = nn.Sequential().add(nn.Linear(4, 8)).add(nn.Tanh()).add(nn.Linear(8, 3)).add(nn.LogSoftMax())
    loss = nn.ClassNLLCriterion().forward(net.forward(x), targets)     # targets count from 0
    h = nn.Tanh()(nn.Linear(4, 8)(x := nn.Identity()()))               # nngraph
    net = nn.gModule([x], [h])

Modules are objects of a Lua state (`bridge.legacy.use` chooses it); numpy arrays and torch tensors are passed without a
copy. Positions count from 0: dimensions and indices in constructors and in `get`, `insert` and `remove`, and the
indices that LookupTable, OneHot, ClassNLLCriterion and similar classes read. If an argument of a call is marked by
`bridge.index`, only marked values are shifted. Indices for a class that a Lua program defined must be marked. Type
checkers know only the classes of nn; get a class of a Lua program by `getattr(nn, "MyLayer")`. To write a module in
Python, derive it from `nn.Module` or another class.
"""

from __future__ import annotations

from typing import Any

from bridge._boundary import LuaTable
from bridge.legacy import positions
from bridge.legacy.classes import class_of
from bridge.legacy.graph import Node
from bridge.legacy.modules import NAMESPACES, Namespace, class_named
from bridge.legacy.session import current

__all__ = [*positions.rows(), *NAMESPACES, "Node"]  # noqa: PLE0604, they are strings


def __getattr__(name: str) -> Any:
    """Return a class or a namespace of nn, or a class that a Lua program has added in the state in use."""
    if name in positions.rows():
        return class_named(name)
    if name in NAMESPACES:
        return Namespace(name)
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    session = current()
    lineage = session.ask("lineage", f"nn.{name}")
    if not lineage or not isinstance(session.require("nn")[name], LuaTable):
        raise AttributeError(
            f"nn has no {name!r}, nor does a class of this name exist in the Lua state in use"
        )
    found = session.registered(lineage[0]) or class_of(lineage)
    if found is None:
        raise AttributeError(f"nn.{name} is no module or criterion")
    session.register(lineage[0], found)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
