"""Lua modules and criterions of Torch7 inside PyTorch models; autograd runs through them.

net = bridge.nn.LuaModule(lua.torch.load("model.t7"))
loss = bridge.nn.LuaCriterion(legacy.nn.ClassNLLCriterion())(net(x), target)
loss.backward()                                     # computed in Lua
torch.optim.Adam(net.parameters()).step()           # on the memory of the Lua weights
"""

from __future__ import annotations

from bridge.nn.criterion import LuaCriterion
from bridge.nn.module import LuaModule

__all__ = ["LuaCriterion", "LuaModule"]


def __dir__() -> list[str]:
    return sorted(__all__)
