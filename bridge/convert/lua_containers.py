"""Modules that hold modules, and the modules of `to_torch` that PyTorch has none like: back to Torch7's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from bridge.convert import activation, linear, normalization, shape, torch_modules
from bridge.convert.lua_builder import Builder, Row, need, refused
from bridge.nn.host import LuaHost

# An nn.MapTable of modules that learn apart.
APART = """function(modules)
   local made = nn.MapTable(modules[1], false)
   for i, module in ipairs(modules) do made.modules[i] = module end
   return made
end"""


def inside(name: str, part: str = "module") -> str:
    """Return the name of a module inside another."""
    return f"{name}.{part}" if name else part


def table(lua_name: str) -> Row:
    """Return the row of a container whose modules are added one by one."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        return builder.children(builder.nn[lua_name](), module, name)

    return row


def concat(lua_name: str) -> Row:
    """Return the row of modules whose outputs are side by side."""

    def row(builder: Builder, module: torch_modules.Concat, name: str) -> Any:
        return builder.children(builder.nn[lua_name](module.dim + 1), module, name)

    return row


def parallel(builder: Builder, module: torch_modules.Parallel, name: str) -> Any:
    """Make a module for each slice."""
    return builder.children(builder.nn.Parallel(module.input_dim + 1, module.output_dim + 1), module, name)


def map_table(builder: Builder, module: torch_modules.MapTable, name: str) -> Any:
    """Make one module for each entry of a table."""
    return builder.nn.MapTable(builder.made(module.module, inside(name)))


def map_apart(builder: Builder, module: torch_modules.MapTableApart, name: str) -> Any:
    """Make modules that learn apart, one for each entry of a table."""
    if not len(module):
        raise refused(module, name, "it has no modules")
    made = [builder.made(inner, inside(name, place)) for place, inner in module.named_children()]
    return builder.lua.eval(APART)(made)


def bottle(builder: Builder, module: torch_modules.Bottle, name: str) -> Any:
    """Make dimensions in front one."""
    inner = builder.made(module.module, inside(name))
    return builder.nn.Bottle(inner, module.input_dims, module.output_dims)


def cast(builder: Builder, module: torch_modules.Cast, name: str) -> Any:
    """Make a module that keeps its type in a network of another."""
    floats = (t.dtype for t in module.module.state_dict().values() if t.is_floating_point())
    own = builder.within(module.inside or next(floats, builder.dtype))
    inner = own.made(module.module, inside(name)).type(own.typename)
    castin, castout = module.inside is not None, module.outside is not None
    return builder.nn.DontCast(inner, castin, castout, own.typename)


def with_weight(builder: Builder, module: torch_modules.WithWeight, name: str) -> Any:
    """Make a layer whose weight is learned as lengths and directions."""
    if module.function is not linear.length_times_direction:
        raise refused(module, name, "Torch7 has no layer for this function of the parameters")
    parameters = {key: tensor for key, tensor in module._parameters.items() if tensor is not None}
    inner, settings = module.module, module.settings
    bias = inner._parameters.get("bias")
    parameters |= {} if bias is None else {"bias": bias}
    if settings["added"]:
        within = builder.made(inner, inside(name))
        made = builder.nn.WeightNorm(within, settings["dim"] + 1)
        builder.fill(within, inner, inside(name), ("bias",))  # which WeightNorm has set to zero
        builder.put(made, module, name, parameters)
        made.updateWeight()
        return made
    if not isinstance(inner, nn.Linear):
        raise refused(module, name, "only a Linear has a counterpart without a number that is added")
    sizes = (inner.in_features, inner.out_features)
    made = builder.nn.LinearWeightNorm(*sizes, bias is not None, settings["least"])
    builder.put(made, module, name, parameters)
    made.updateWeightMatrix()
    return made


def scaled_dropout(builder: Builder, module: activation.ScaledInEvaluation, name: str) -> Any:
    """Make a dropout that scales in evaluation."""
    if module.dims == 0:
        return builder.nn.Dropout(module.p, True)
    need(module, name, dims=3 if module.dims == 3 else 2)
    return builder.nn["SpatialDropout" if module.dims == 2 else "VolumetricDropout"](module.p)


def noise(builder: Builder, module: activation.WhiteNoise, _name: str) -> Any:
    """Make normal noise in training."""
    return builder.nn.WhiteNoise(module.mean, module.std)


def constant(builder: Builder, module: shape.Constant, _name: str) -> Any:
    """Make the same tensor whatever the input."""
    return builder.nn.Constant(builder.number_tensor(module.value), module.dims)


def subtractive(builder: Builder, module: normalization.Subtractive, _name: str) -> Any:
    """Make each pixel less its neighbourhood's mean."""
    return builder.nn.SpatialSubtractiveNormalization(module.planes, builder.number_tensor(module.kernel))


def divisive(builder: Builder, module: normalization.Divisive, _name: str) -> Any:
    """Make each pixel divided by its neighbourhood's deviation."""
    kernel = builder.number_tensor(module.kernel)
    return builder.nn.SpatialDivisiveNormalization(module.planes, kernel, module.threshold, module.value)


def pair(builder: Builder, module: linear.OfPair, name: str) -> Any:
    """Make the module inside, which takes a table of two in Torch7."""
    return builder.made(module.module, inside(name))


def lua_host(builder: Builder, module: LuaHost, name: str) -> Any:
    """Return a copy of the Lua object that runs here already, from another state if it is in one."""
    target = module.lua_object
    same = target.state is builder.lua.exclusive()
    if same:
        return target if builder.share else target.clone()
    if builder.share:
        raise refused(module, name, "share=True, but it runs in another Lua state")
    saved = target.state.helper("execute", "return torch.serialize(...)", "=(convert)", target)
    return builder.lua.eval("torch.deserialize(...)", saved)


ROWS: Mapping[type[nn.Module], Row] = {
    LuaHost: lua_host,
    activation.ScaledInEvaluation: scaled_dropout,
    activation.WhiteNoise: noise,
    linear.OfPair: pair,
    torch_modules.Bottle: bottle,
    torch_modules.Cast: cast,
    torch_modules.Concat: concat("Concat"),
    torch_modules.ConcatTable: table("ConcatTable"),
    torch_modules.DepthConcat: concat("DepthConcat"),
    torch_modules.MapTable: map_table,
    torch_modules.MapTableApart: map_apart,
    torch_modules.Parallel: parallel,
    torch_modules.ParallelTable: table("ParallelTable"),
    torch_modules.WithWeight: with_weight,
    nn.Sequential: table("Sequential"),
    normalization.Divisive: divisive,
    normalization.Subtractive: subtractive,
    shape.Constant: constant,
}
