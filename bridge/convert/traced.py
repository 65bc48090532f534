"""A module of any kind that `torch.fx` can trace, as an nn.gModule with the same wiring."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional

from bridge.convert.builder import Builder, refused

# A module of nngraph called with nodes: a node.
NODE = "function(module, nodes) if #nodes > 0 then return module(nodes) end return module() end"
GRAPH = "function(inputs, outputs) require 'nngraph' return nn.gModule(inputs, outputs) end"


class Tracer(fx.Tracer):
    """Follows calls down to the layers that have a row; ours and PyTorch's containers are followed into."""

    def __init__(self, rows: Any) -> None:
        super().__init__()
        self._rows = rows

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is a layer."""
        del module_qualified_name
        return any(kind in self._rows for kind in type(m).__mro__) or not list(m.children())


def network(builder: Builder, module: nn.Module, name: str) -> Any:
    """Return an nn.gModule.

    Raises
    ------
    ConversionError
        When the module cannot be traced, or calls what Torch7 has no layer for.
    """
    try:
        graph = Tracer(builder.rows).trace(module)
    except Exception as error:
        raise refused(module, name, f"torch.fx cannot trace it ({error})") from error
    builder.lua.require("nngraph")
    node_of, gmodule = builder.lua.eval(NODE), builder.lua.eval(GRAPH)
    nodes: dict[fx.Node, Any] = {}
    inputs: list[Any] = []
    for step in graph.nodes:
        if step.op == "placeholder":
            nodes[step] = node_of(builder.nn.Identity(), [])
            inputs.append(nodes[step])
        elif step.op == "output":
            results = step.args[0] if isinstance(step.args[0], list | tuple) else [step.args[0]]
            return gmodule(inputs, [nodes[one] for one in results])
        elif step.op == "call_module":
            inner = f"{name}.{step.target}" if name else str(step.target)
            made = builder.made(module.get_submodule(str(step.target)), inner)
            nodes[step] = node_of(made, _nodes(nodes, step.args[0]))
        else:
            made, sources = _call(builder, module, name, step)
            nodes[step] = node_of(made, [nodes[one] for one in sources])
    raise refused(module, name, "it has no output")


def _nodes(nodes: dict[fx.Node, Any], argument: Any) -> list[Any]:
    return [nodes[one] for one in (argument if isinstance(argument, list | tuple) else [argument])]


def _call(builder: Builder, module: nn.Module, name: str, step: fx.Node) -> tuple[Any, list[fx.Node]]:
    """Return the layer for a call of a function, and the nodes that it takes."""
    key = step.target if step.op == "call_function" else str(step.target)
    maker = CALLS.get(key)
    made = None if maker is None else maker(builder, step)
    if made is None:
        shown = getattr(step.target, "__name__", str(step.target))
        raise refused(module, name, f"it calls {shown}{step.args!r:.80}, which has no counterpart")
    sources: list[fx.Node] = []
    for argument in step.args:
        listed = argument if isinstance(argument, list | tuple) else [argument]
        sources += [one for one in listed if isinstance(one, fx.Node)]
    return made, sources


def _element(table: str, constant: str, sign: float = 1) -> Callable[[Builder, fx.Node], Any]:
    """Return the maker of an operation on two tensors, or on a tensor and a number."""

    def maker(builder: Builder, step: fx.Node) -> Any:
        first, second = step.args[0], step.args[1]
        if isinstance(first, fx.Node) and isinstance(second, fx.Node):
            return builder.nn[table]() if first is not second else None
        if isinstance(first, fx.Node) and isinstance(second, int | float):
            return builder.nn[constant](second * sign if constant == "AddConstant" else second**sign)
        return None

    return maker


def _plain(layer: str) -> Callable[[Builder, fx.Node], Any]:
    return lambda builder, step: builder.nn[layer]() if len(step.args) == 1 else None


def _cat(builder: Builder, step: fx.Node) -> Any:
    dim = step.args[1] if len(step.args) > 1 else step.kwargs.get("dim", 0)
    return builder.nn.JoinTable(dim + 1 if isinstance(dim, int) and dim >= 0 else dim)


def _flatten(builder: Builder, step: fx.Node) -> Any:
    start = step.args[1] if len(step.args) > 1 else step.kwargs.get("start_dim", 0)
    return builder.nn.Collapse(1) if start == 1 and len(step.args) < 3 else None


ADD, SUB = _element("CAddTable", "AddConstant"), _element("CSubTable", "AddConstant", -1)
MUL, DIV = _element("CMulTable", "MulConstant"), _element("CDivTable", "MulConstant", -1)

# What is called -> the layer; a method by its name.
CALLS: dict[Any, Callable[[Builder, fx.Node], Any]] = {
    **dict.fromkeys((operator.add, operator.iadd, torch.add, "add", "add_"), ADD),
    **dict.fromkeys((operator.sub, torch.sub, "sub"), SUB),
    **dict.fromkeys((operator.mul, torch.mul, "mul"), MUL),
    **dict.fromkeys((operator.truediv, torch.div, "div"), DIV),
    **dict.fromkeys((torch.relu, functional.relu, "relu", "relu_"), _plain("ReLU")),
    **dict.fromkeys((torch.tanh, functional.tanh, "tanh"), _plain("Tanh")),
    **dict.fromkeys((torch.sigmoid, functional.sigmoid, "sigmoid"), _plain("Sigmoid")),
    **dict.fromkeys((torch.cat, torch.concat), _cat),
    **dict.fromkeys((torch.flatten, "flatten"), _flatten),
}
