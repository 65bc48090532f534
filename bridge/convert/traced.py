"""Converting any module that `torch.fx` can trace to an nn.gModule with the same connections."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional

from bridge.convert.lua_builder import Builder, refused

# Calls a module with nodes, which makes a node of nngraph.
NODE = "function(module, nodes) if #nodes > 0 then return module(nodes) end return module() end"
GRAPH = "function(inputs, outputs) require 'nngraph' return nn.gModule(inputs, outputs) end"


class Tracer(fx.Tracer):
    """Traces calls down to the layers that have a row; containers, ours and PyTorch's, are traced into."""

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
        The module cannot be traced, or calls a function that Torch7 has no layer for.
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
            layer = module.get_submodule(str(step.target))
            given = _given(layer, inner, step)
            made = builder.made(layer, inner)
            nodes[step] = node_of(made, _sources(builder, node_of, nodes, given))
        elif step.target is operator.getitem and _gives_several(module, step.args[0]):
            if step.args[1] != 0 and not step.users:  # `outputs, _ = ...`
                continue
            if step.args[1] != 0:
                reason = f"it takes result {step.args[1]} of a layer that has its output alone in Torch7"
                raise refused(module, name, reason)
            nodes[step] = nodes[step.all_input_nodes[0]]
        else:
            made, sources = _call(builder, module, name, step)
            nodes[step] = node_of(made, [nodes[one] for one in sources])
    raise refused(module, name, "it has no output")


# PyTorch's modules that return more than their output; Torch7's return only the output.
SEVERAL = (nn.RNNBase, nn.MultiheadAttention)


def _gives_several(module: nn.Module, source: Any) -> bool:
    """Whether a value is the result of one of those modules."""
    if not isinstance(source, fx.Node) or source.op != "call_module":
        return False
    return isinstance(module.get_submodule(str(source.target)), SEVERAL)


def _given(layer: nn.Module, name: str, step: fx.Node) -> Any:
    """Return the input of a module's call: its argument, or a list of several arguments."""
    ignored = ("need_weights",) if isinstance(layer, nn.MultiheadAttention) else ()
    for key, value in step.kwargs.items():
        if value is not None and key not in ignored:
            raise refused(layer, name, f"it is called with {key}={value!r:.40}, which Torch7 has no form for")
    if isinstance(layer, nn.RNNBase) and len(step.args) > 1:
        raise refused(layer, name, "it is called with the states before the first step, which are zero here")
    return step.args[0] if len(step.args) == 1 else step.args


def _entry(builder: Builder, step: fx.Node) -> Any:
    """Return the maker of an entry of a table."""
    place = step.args[1]
    return builder.nn.SelectTable(place + 1 if place >= 0 else place) if isinstance(place, int) else None


def _sources(builder: Builder, node_of: Any, nodes: dict[fx.Node, Any], given: Any) -> list[Any]:
    """Return the nodes of an input. One that occurs again gets an Identity: nngraph allows each only once."""
    found: list[Any] = []
    seen: set[fx.Node] = set()
    for one in given if isinstance(given, list | tuple) else [given]:
        found.append(node_of(builder.nn.Identity(), [nodes[one]]) if one in seen else nodes[one])
        seen.add(one)
    return found


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

# Function, or name of a method -> the function that makes the layer for it.
CALLS: dict[Any, Callable[[Builder, fx.Node], Any]] = {
    **dict.fromkeys((operator.add, operator.iadd, torch.add, "add", "add_"), ADD),
    **dict.fromkeys((operator.sub, torch.sub, "sub"), SUB),
    **dict.fromkeys((operator.mul, torch.mul, "mul"), MUL),
    **dict.fromkeys((operator.truediv, torch.div, "div"), DIV),
    **dict.fromkeys((torch.relu, functional.relu, "relu", "relu_"), _plain("ReLU")),
    **dict.fromkeys((torch.tanh, functional.tanh, "tanh"), _plain("Tanh")),
    **dict.fromkeys((torch.sigmoid, functional.sigmoid, "sigmoid"), _plain("Sigmoid")),
    operator.getitem: _entry,
    **dict.fromkeys((torch.cat, torch.concat), _cat),
    **dict.fromkeys((torch.flatten, "flatten"), _flatten),
}
