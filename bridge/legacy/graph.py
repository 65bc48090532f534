"""nngraph from Python: calling a module with nodes makes a node."""

from __future__ import annotations

from typing import Any, Self

from bridge.legacy.objects import LegacyObject


class Node(LegacyObject, native=True):
    """A node of a network: the output of a module for the outputs of other nodes.

    Made by `module(node)`, `module([node, ...])` and, for an input, `nn.Identity()()`. `node - module` is
    `module(node)`.
    """

    _typename = "nngraph.Node"
    _lineage = ("Node",)

    def __init__(self) -> None:
        raise TypeError(
            "nodes are made by calling a module: nn.Linear(3, 4)(node), or nn.Identity()() for an input"
        )

    def split(self, count: int) -> list[Node]:
        """Return a node for each element of the table that this node outputs."""
        nodes = self._session.from_lua(self._session.call(self._object, "split", count))
        return list(nodes) if isinstance(nodes, tuple) else [nodes]

    def annotate(self, annotations: dict[str, Any] | None = None, **more: Any) -> Self:
        """Attach annotations to the node, such as `name=`, which graphs and messages show."""
        self._session.call(self._object, "annotate", {**(annotations or {}), **more})
        return self


def is_nodes(value: Any) -> bool:
    """Return whether a value is a node or a list that begins with one."""
    return isinstance(value, Node) or (
        isinstance(value, list | tuple) and any(isinstance(v, Node) for v in value)
    )


def node_of(module: LegacyObject, arguments: tuple[Any, ...]) -> Node:
    """Return the node for a module called with nodes."""
    session = module._session
    session.require("nngraph")
    node: Node = session.from_lua(
        session.call(module._object, "__call__", *[session.to_lua(argument) for argument in arguments])
    )
    return node
