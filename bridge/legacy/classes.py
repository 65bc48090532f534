"""Finding the Python class for a Lua class of nn, optim or nngraph, or for one that a program derived from those."""

from __future__ import annotations

from bridge.legacy import graph, modules, optim
from bridge.legacy.objects import LegacyObject, make_class
from bridge.legacy.positions import ANYTHING, Row, rows


def class_of(lineage: list[str]) -> type[LegacyObject] | None:
    """Return the Python class for a Lua class, given its lineage; None for a class that is not derived from ours."""
    if not lineage:
        return None
    typename = lineage[0]
    if typename == "nngraph.Node":
        return graph.Node
    package, _, name = typename.partition(".")
    if package == "nn" and name in rows():
        return modules.class_named(name)
    if package == "optim" and name in optim.CLASSES:
        return optim.class_named(name)
    parent = class_of(lineage[1:])
    if parent is None or parent is graph.Node:
        return parent
    row = Row(name or typename, parent.__name__, ANYTHING)
    text = f"{typename}, a class that a Lua program defined."
    made = make_class(row, parent, text, package if name else "nn")
    made._typename = typename
    return made
