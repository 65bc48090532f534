"""Attention, and transformers' encoders of it, as tables of nn's layers: one for each head, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bridge.convert.lua_builder import Builder, Row, need, refused

ACTIVATIONS = {functional.relu: "ReLU", torch.relu: "ReLU", torch.tanh: "Tanh", torch.sigmoid: "Sigmoid"}


def attention(builder: Builder, module: nn.MultiheadAttention, name: str) -> Any:
    """Make attention from a table {query, key, value} to its output, without masks."""
    need(module, name, bias_k=None, bias_v=None, add_zero_attn=False)
    lua, size = builder.nn, module.head_dim
    projected = lua.ParallelTable()
    for place in range(3):
        projected.add(_rows(builder, module, name, place))
    heads = lua.ConcatTable()
    for head in range(module.num_heads):
        parts = lua.ParallelTable()
        for _ in range(3):
            parts.add(lua.Narrow(3, head * size + 1, size))
        scores = lua.Sequential().add(lua.NarrowTable(1, 2)).add(lua.MM(False, True))
        scores.add(lua.MulConstant(size**-0.5)).add(lua.Bottle(lua.SoftMax()))
        if module.dropout:
            scores.add(lua.Dropout(module.dropout))
        both = lua.ConcatTable().add(scores).add(lua.SelectTable(3))
        heads.add(lua.Sequential().add(parts).add(both).add(lua.MM()))
    made = lua.Sequential()
    if not module.batch_first:
        made.add(lua.MapTable(lua.Transpose([1, 2])))
    made.add(projected).add(heads).add(lua.JoinTable(3))
    made.add(lua.Bottle(builder.made(module.out_proj, f"{name}.out_proj" if name else "out_proj")))
    return made if module.batch_first else made.add(lua.Transpose([1, 2]))


def _rows(builder: Builder, module: nn.MultiheadAttention, name: str, place: int) -> Any:
    """Make the matrix of the query, the key or the value."""
    whole: Tensor | None = module._parameters["in_proj_weight"]
    if whole is None:
        weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
        weight: Tensor = weights[place]
    else:
        weight = whole.narrow(0, place * module.embed_dim, module.embed_dim)
    tensors: dict[str, Tensor] = {"weight": weight}
    if module.in_proj_bias is not None:
        tensors["bias"] = module.in_proj_bias.narrow(0, place * module.embed_dim, module.embed_dim)
    layer = builder.nn.Linear(weight.shape[1], module.embed_dim, "bias" in tensors)
    builder.put(layer, module, name, tensors)
    return builder.nn.Bottle(layer)


def encoder_layer(builder: Builder, module: nn.TransformerEncoderLayer, name: str) -> Any:
    """Make self-attention and two matrices, each added to its input."""
    lua = builder.nn
    activation: Any = module.activation
    kind = ACTIVATIONS.get(activation)
    if kind is None and not isinstance(activation, nn.Module):
        raise refused(module, name, f"activation={activation!r}, where relu and modules have a counterpart")

    def part(child: str) -> Any:
        return builder.made(module.get_submodule(child), f"{name}.{child}" if name else child)

    attend = lua.Sequential().add(
        lua.ConcatTable().add(lua.Identity()).add(lua.Identity()).add(lua.Identity())
    )
    attend.add(part("self_attn")).add(part("dropout1"))
    forward = lua.Sequential().add(lua.Bottle(part("linear1")))
    forward.add(lua[kind]() if kind else part("activation"))
    forward.add(part("dropout")).add(lua.Bottle(part("linear2"))).add(part("dropout2"))
    made = lua.Sequential()
    for inner, norm in ((attend, "norm1"), (forward, "norm2")):
        through = lua.Sequential().add(part(norm)).add(inner) if module.norm_first else inner
        made.add(lua.ConcatTable().add(lua.Identity()).add(through)).add(lua.CAddTable())
        if not module.norm_first:
            made.add(part(norm))
    return made


def encoder(builder: Builder, module: nn.TransformerEncoder, name: str) -> Any:
    """Make layers of an encoder behind each other."""
    made = builder.children(builder.nn.Sequential(), module.layers, f"{name}.layers" if name else "layers")
    if module.norm is not None:
        made.add(builder.made(module.norm, f"{name}.norm" if name else "norm"))
    return made


ROWS: Mapping[type[nn.Module], Row] = {
    nn.MultiheadAttention: attention,
    nn.TransformerEncoder: encoder,
    nn.TransformerEncoderLayer: encoder_layer,
}
