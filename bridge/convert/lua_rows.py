"""The table of `to_lua`: PyTorch's class -> the function that makes the Torch7 layer for a module of it."""

from __future__ import annotations

from collections.abc import Mapping

from torch import nn

from bridge.convert import (
    lua_attention,
    lua_containers,
    lua_convolutions,
    lua_criterions,
    lua_functions,
    lua_layers,
    lua_recurrent,
)
from bridge.convert.lua_builder import Row

ROWS: Mapping[type[nn.Module], Row] = {
    kind: row
    for family in (
        lua_attention,
        lua_containers,
        lua_convolutions,
        lua_criterions,
        lua_functions,
        lua_layers,
        lua_recurrent,
    )
    for kind, row in family.ROWS.items()
}
