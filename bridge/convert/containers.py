"""Modules that hold modules. Children are named by their position."""

from __future__ import annotations

from torch import nn

from bridge.convert import linear, torch_modules
from bridge.convert.layer import Layer


def sequential(layer: Layer) -> nn.Module:
    """One behind the other."""
    return nn.Sequential(*layer.children())


def concat(layer: Layer) -> nn.Module:
    """Return outputs side by side along a dimension."""
    return torch_modules.Concat(layer.children(), layer.integer("dimension") - 1)


def depth_concat(layer: Layer) -> nn.Module:
    """Return outputs of different sizes side by side."""
    return torch_modules.DepthConcat(layer.children(), layer.integer("dimension") - 1)


def parallel(layer: Layer) -> nn.Module:
    """Return a slice of the input for each."""
    inputs, outputs = layer.integers(("inputDimension", "outputDimension"))
    return torch_modules.Parallel(layer.children(), inputs - 1, outputs - 1)


def map_table(layer: Layer) -> nn.Module:
    """Return the same for each entry of a table, or what clones became that learn apart."""
    if layer.get("shared", True) is False:
        return torch_modules.MapTableApart(layer.children())
    return torch_modules.MapTable(layer.child(layer.get("module"), "module"))


def bottle(layer: Layer) -> nn.Module:
    """Dimensions in front as one."""
    return torch_modules.Bottle(
        layer.child(layer.get("modules")[0], "module"),
        layer.integer("nInputDim", 2),
        layer.integer("nOutputDim", layer.integer("nInputDim", 2)),
    )


def inside(layer: Layer) -> nn.Module:
    """Return only what the layer is around: the rest of it is of no use to PyTorch."""
    return layer.child(layer.get("modules")[0], "0")


def own_type(layer: Layer) -> nn.Module:
    """Return a module that keeps its type whatever the model's: input and output are cast where the layer says so."""
    inner = layer.get("modules")[0]
    dtypes = [Layer(inner, layer.conversion).dtype if layer.get("castin", False) else None]
    dtypes.append(layer.dtype if layer.get("castout", False) else None)
    return torch_modules.Cast(layer.child(inner, "module"), *dtypes)


def weight_norm(layer: Layer) -> nn.Module:
    """Return a module whose weight is learned as length times direction."""
    made = layer.child(layer.get("modules")[0], "module")
    v, g = layer.parameter("v"), layer.parameter("g")
    if v is None or g is None or "weight" not in made._parameters:
        return made
    settings = {"added": 1e-4, "least": 0.0, "shape": tuple(made.get_parameter("weight").shape)}
    return torch_modules.WithWeight(
        made,
        linear.length_times_direction,
        {"v": v, "g": g},
        **settings,
        dim=layer.integer("outputDim", 1) - 1,
    )


ROWS = {
    "nn.Bottle": bottle,
    "nn.Concat": concat,
    "nn.ConcatTable": lambda layer: torch_modules.ConcatTable(layer.children()),
    "nn.Decorator": inside,
    "nn.DepthConcat": depth_concat,
    "nn.DontCast": own_type,
    "nn.GPU": inside,
    "nn.LayerNormalization": sequential,
    "nn.MapTable": map_table,
    "nn.Maxout": sequential,
    "nn.NaN": inside,
    "nn.Parallel": parallel,
    "nn.ParallelTable": lambda layer: torch_modules.ParallelTable(layer.children()),
    "nn.PrintSize": lambda _layer: nn.Identity(),
    "nn.Profile": inside,
    "nn.Sequential": sequential,
    "nn.SpatialLPPooling": sequential,
    "nn.WeightNorm": weight_norm,
}
