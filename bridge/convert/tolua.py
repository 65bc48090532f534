"""`to_lua`: converting a PyTorch module to a Torch7 network in a Lua state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from bridge._boundary import LuaObject
from bridge.convert import traced
from bridge.convert.lua_builder import Builder
from bridge.convert.lua_rows import ROWS

if TYPE_CHECKING:
    from bridge.lua import Lua


def to_lua(
    module: nn.Module, lua: Lua, *, share: bool = False, dtype: torch.dtype | None = None
) -> LuaObject:
    """Return a network in a Lua state with the outputs and gradients of a PyTorch module.

    Indices that the network takes (nn.Embedding's, classes) count from 1, as Torch7's do.

    Parameters
    ----------
    module : Module
        A module of layers in the table `ROWS`, inside Sequential or any module that `torch.fx` can trace.
    lua : bridge.Lua
        The state in which the network is made.
    share : bool
        Whether Lua's parameters and running statistics share the module's memory, so that training one side trains
        both; by default they are copies.
    dtype : torch.dtype, optional
        The type that the network computes in; by default that of the module's parameters, or torch's default type if it
        has none.

    Returns
    -------
    LuaObject
        An `nn.Module` (or `nn.Criterion`) in Lua; each layer has the mode, training or evaluation, of the module's.

    Raises
    ------
    ConversionError
        Torch7 has no counterpart for a layer; the message names the layer and says what to do.
    """
    if dtype is None:
        floats = (tensor.dtype for tensor in module.state_dict().values() if tensor.is_floating_point())
        dtype = next(floats, torch.get_default_dtype())
    with lua.exclusive().texts():
        builder = Builder(lua, ROWS, traced.network, share=share, dtype=dtype)
        made: LuaObject = builder.made(module, "").type(builder.typename)
    return made
