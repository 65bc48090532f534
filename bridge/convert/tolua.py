"""`to_lua`: a PyTorch module as a network of Torch7 in a Lua state."""

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
        Made of layers that `ROWS` has, in Sequential or in any module that `torch.fx` can trace.
    lua : bridge.Lua
        The state that the network is made in.
    share : bool
        Whether Lua's parameters and running statistics lie in the module's memory, so that both sides learn at once;
        by default they are copies.
    dtype : torch.dtype, optional
        What the network computes in; that of the module's parameters by default, torch's default where it has none.

    Returns
    -------
    LuaObject
        An `nn.Module` (or `nn.Criterion`) of Lua, each layer in the mode, training or evaluation, of the module's.

    Raises
    ------
    ConversionError
        For a layer that Torch7 has no counterpart for, with its name and the way out.
    """
    if dtype is None:
        floats = (tensor.dtype for tensor in module.state_dict().values() if tensor.is_floating_point())
        dtype = next(floats, torch.get_default_dtype())
    with lua.exclusive().texts():
        builder = Builder(lua, ROWS, traced.network, share=share, dtype=dtype)
        made: LuaObject = builder.made(module, "").type(builder.typename)
    return made
