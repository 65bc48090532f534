"""Recurrent layers as those of the rnn package: from a sequence to the outputs of all its steps.

The states before the first step are zero. An LSTM is nn.SeqLSTM, whose gates lie in another order; others are a
step as a graph inside nn.Sequencer, for nn.SeqGRU computes another GRU than PyTorch's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from bridge.convert.lua_builder import Builder, Row, need, refused

# Steps {x(t), h(t - 1)} -> h(t) from the layers that hold the parameters, in the order of PyTorch's gates.
STEPS = """
require 'nngraph'
require 'rnn'
local function gates(layers, x, h)
   local sums = {}
   for i = 1, #layers / 2 do
      sums[i] = {layers[i](x), layers[#layers / 2 + i](h)}
   end
   return sums
end
return {
   rnn = function(layers, nonlinearity)
      local x, h = nn.Identity()(), nn.Identity()()
      local sum = nn.CAddTable()(gates(layers, x, h)[1])
      return nn.gModule({x, h}, {nn[nonlinearity]()(sum)})
   end,
   gru = function(layers)
      local x, h = nn.Identity()(), nn.Identity()()
      local reset, update, new = unpack(gates(layers, x, h))
      local r, z = nn.Sigmoid()(nn.CAddTable()(reset)), nn.Sigmoid()(nn.CAddTable()(update))
      local n = nn.Tanh()(nn.CAddTable(){new[1], nn.CMulTable(){r, new[2]}})
      local kept = nn.CMulTable(){z, nn.CSubTable(){h, n}}
      return nn.gModule({x, h}, {nn.CAddTable(){n, kept}})
   end,
}
"""


def recurrent(builder: Builder, module: Any, name: str) -> Any:
    """Make layers behind each other, each from sequence to sequence."""
    if module.proj_size:
        raise refused(module, name, f"proj_size={module.proj_size}, where only 0 has a counterpart")
    builder.lua.require("rnn")
    made, layer = builder.nn.Sequential(), _both_ways if module.bidirectional else _one
    for depth in range(module.num_layers):
        if depth and module.dropout:
            made.add(builder.nn.Dropout(module.dropout))
        made.add(layer(builder, module, name, depth))
    return made


def _one(builder: Builder, module: Any, name: str, depth: int) -> Any:
    """Make one layer over tensors."""
    if isinstance(module, nn.LSTM):
        made = _lstm(builder, module, name, f"l{depth}")
        made.batchfirst = module.batch_first
        return made
    time = 2 if module.batch_first else 1
    made = builder.nn.Sequential().add(builder.nn.SplitTable(time))
    return _joined(builder, made.add(_sequencer(builder, module, name, f"l{depth}")), time)


def _both_ways(builder: Builder, module: Any, name: str, depth: int) -> Any:
    """Make one layer along the sequence and one against it, their outputs side by side."""
    lua, time = builder.nn, 2 if module.batch_first else 1
    ways = []
    for suffix in (f"l{depth}", f"l{depth}_reverse"):
        if isinstance(module, nn.LSTM):
            way = _joined(builder, lua.Sequential(), 1)
            ways.append(way.add(_lstm(builder, module, name, suffix)).add(lua.SplitTable(1)))
        else:
            ways.append(_sequencer(builder, module, name, suffix))
    against = lua.Sequential().add(lua.ReverseTable()).add(ways[1]).add(lua.ReverseTable())
    made = lua.Sequential().add(lua.SplitTable(time)).add(lua.ConcatTable().add(ways[0]).add(against))
    return _joined(builder, made.add(lua.ZipTable()).add(lua.MapTable(lua.JoinTable(1, 1))), time)


def _joined(builder: Builder, made: Any, time: int) -> Any:
    """Let a table of steps become a tensor again, with the steps as this dimension."""
    return made.add(builder.nn.MapTable(builder.nn.Unsqueeze(time))).add(builder.nn.JoinTable(time))


def _parameters(module: Any, suffix: str) -> dict[str, Tensor | None]:
    """Return the weights and biases of a layer, those of the input (ih) and of the state (hh)."""
    return {
        f"{kind}_{part}": getattr(module, f"{kind}_{part}_{suffix}", None)
        for kind in ("weight", "bias")
        for part in ("ih", "hh")
    }


def _lstm(builder: Builder, module: nn.LSTM, name: str, suffix: str) -> Any:
    """Make an nn.SeqLSTM; its gates are input, forget, output and new, PyTorch's have the last two exchanged."""
    need(module, name, bias=True)
    given = {key: value for key, value in _parameters(module, suffix).items() if value is not None}
    made = builder.nn.SeqLSTM(given["weight_ih"].shape[1], module.hidden_size)

    def turned(tensor: Tensor) -> Tensor:
        i, f, g, o = tensor.detach().chunk(4)
        return torch.cat([i, f, o, g])

    weight = torch.cat([turned(given["weight_ih"]).t(), turned(given["weight_hh"]).t()])
    bias = turned(given["bias_ih"]) + turned(given["bias_hh"])
    builder.copied(made, module, name, {"weight": weight, "bias": bias})
    return made


def _sequencer(builder: Builder, module: Any, name: str, suffix: str) -> Any:
    """Make an nn.Sequencer of a step, whose layers have PyTorch's parameters."""
    given = _parameters(module, suffix)
    gates = 3 if isinstance(module, nn.GRU) else 1
    layers = []
    for part in ("ih", "hh"):
        weight, bias = given[f"weight_{part}"], given[f"bias_{part}"]
        assert weight is not None
        for gate in range(gates):
            rows = (0, gate * module.hidden_size, module.hidden_size)
            tensors = {"weight": weight.narrow(*rows)}
            if bias is not None:
                tensors["bias"] = bias.narrow(*rows)
            layers.append(builder.nn.Linear(weight.shape[1], module.hidden_size, bias is not None))
            builder.put(layers[-1], module, name, tensors)
    steps = builder.lua.execute(STEPS)
    if isinstance(module, nn.GRU):
        step = steps["gru"](layers)
    else:
        step = steps["rnn"](layers, {"tanh": "Tanh", "relu": "ReLU"}[module.nonlinearity])
    return builder.nn.Sequencer(builder.nn.Recurrence(step, module.hidden_size, 1))


ROWS: Mapping[type[nn.Module], Row] = {nn.GRU: recurrent, nn.LSTM: recurrent, nn.RNN: recurrent}
