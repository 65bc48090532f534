"""Converting nn.gModule to an `fx.GraphModule` with the same connections.

Modules get the name of their annotation, or their node's number.
"""

from __future__ import annotations

import operator
import re
from typing import Any

from torch import fx, nn

from bridge.convert.layer import FieldError, Layer


def gmodule(layer: Layer) -> nn.Module:
    """Return the nodes in the order in which Torch7 runs them."""
    nodes = layer.get("forwardnodes", [])
    graph = fx.Graph()
    values: dict[int, Any] = {}
    modules: dict[str, nn.Module] = {}
    used: dict[int, str] = {}
    outer = layer.get("innode").fields()["data"]
    result = layer.get("outnode").fields()["data"]
    output = None
    for node in nodes:
        data = node.fields()["data"]
        sources = [values[id(source)] for source in inputs(data)]
        if data is outer or id(data) == id(outer):
            values[id(data)] = graph.placeholder("input")
            continue
        value: Any = sources[0] if len(sources) == 1 else sources
        if data.get("selectindex") is not None:
            value = graph.call_function(operator.getitem, (value, int(data["selectindex"]) - 1))
        elif data.get("module") is not None:
            obj = data["module"]
            if id(obj) not in used:
                used[id(obj)] = name_of(data, modules)
                modules[used[id(obj)]] = layer.child(obj, used[id(obj)])
            value = graph.call_module(used[id(obj)], (value,))
        values[id(data)] = value
        if data is result:
            output = value
    if output is None:
        raise FieldError("its output node is not among its forwardnodes")
    graph.output(output)
    return fx.GraphModule(nn.ModuleDict(modules), graph, "gModule")


def inputs(data: dict[Any, Any]) -> list[dict[Any, Any]]:
    """Return the data of a node's inputs, in order; the same table also maps data to indices, which are left out."""
    mapindex = data.get("mapindex") or []
    if isinstance(mapindex, list):
        return mapindex
    count = sum(1 for key in mapindex if isinstance(key, int))
    return [mapindex[place] for place in range(1, count + 1)]


def name_of(data: dict[Any, Any], taken: dict[str, nn.Module]) -> str:
    """Return a name for a node's module that no other has."""
    annotated = (data.get("annotations") or {}).get("name")
    number = data.get("forwardNodeId", len(taken))
    name = re.sub(r"\W+", "_", str(annotated)) if annotated else f"node{int(number)}"
    name = name if not name[0].isdigit() else f"_{name}"
    while name in taken or hasattr(nn.ModuleDict, name):
        name += "_"
    return name


ROWS = {"nn.gModule": gmodule}
