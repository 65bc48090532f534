"""to_lua of recurrent layers and of attention: sequences to the outputs of all steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import bridge
from bridge.convert import ConversionError, to_lua

RECURRENT = [
    nn.LSTM(4, 3),
    nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True),
    nn.LSTM(4, 3, 2, dropout=0.5),
    nn.GRU(4, 3),
    nn.GRU(4, 3, 2, batch_first=True, bias=False),
    nn.GRU(4, 3, bidirectional=True),
    nn.RNN(4, 3, batch_first=True),
    nn.RNN(4, 3, nonlinearity="relu", bidirectional=True),
]
EXACT = {"rtol": 1e-11, "atol": 1e-11}


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua(tensors="torch") as state:
        yield state


def trained(module: nn.Module, gradients: dict[str, Tensor]) -> float:
    """The sum of squares of what is learned, each pair of biases of an LSTM counted once, for it is one in Lua."""
    once = isinstance(module, nn.LSTM)
    return sum(float(g.square().sum()) for name, g in gradients.items() if not (once and "bias_hh" in name))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("module", RECURRENT, ids=repr)
def test_a_recurrent_layer_has_the_outputs_and_gradients(
    lua: bridge.Lua, module: Any, training: bool
) -> None:
    module = module.double().train(training and not module.dropout)
    x = torch.randn(5, 2, 4, dtype=torch.float64, requires_grad=True)
    net = to_lua(module, lua)
    y, _ = module(x)
    gradient = torch.randn_like(y)
    module.zero_grad()
    y.backward(gradient)
    torch.testing.assert_close(net.forward(x.detach()), y.detach(), **EXACT)
    if not training:  # the steps of an nn.Sequencer are one module then, without a way back
        return
    net.zeroGradParameters()
    assert x.grad is not None
    torch.testing.assert_close(net.backward(x.detach(), gradient), x.grad, **EXACT)
    gradients = {name: p.grad for name, p in module.named_parameters() if p.grad is not None}
    apart = {g.data_ptr(): g for g in net.parameters()[1]}
    found = sum(float(g.square().sum()) for g in apart.values())
    assert found == pytest.approx(trained(module, gradients), rel=1e-10)


def test_a_sequence_starts_anew_with_each_forward(lua: bridge.Lua) -> None:
    net = to_lua(nn.GRU(4, 3), lua)
    x = torch.randn(5, 2, 4)
    assert torch.equal(net.forward(x).clone(), net.forward(x))


def test_shared_parameters_of_a_gru_lie_in_the_modules_memory(lua: bridge.Lua) -> None:
    module = nn.GRU(4, 3)
    net = to_lua(module, lua, share=True)
    lua.eval("function(net) for _, p in ipairs(net:parameters()) do p:fill(7) end end")(net)
    assert all(parameter.eq(7).all() for parameter in module.parameters())


def test_an_lstm_cannot_be_shared(lua: bridge.Lua) -> None:
    with pytest.raises(ConversionError, match="share=True"):
        to_lua(nn.LSTM(4, 3), lua, share=True)


class Tagger(nn.Module):
    """A model of the usual kind, whose wiring torch.fx sees."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3, batch_first=True)
        self.head = nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.lstm(x)
        result: Tensor = self.head(states)
        return result


def test_the_output_of_a_recurrent_layer_inside_a_model(lua: bridge.Lua) -> None:
    module = Tagger()
    x = torch.randn(2, 5, 4)
    torch.testing.assert_close(to_lua(module, lua).forward(x), module(x).detach())


class Stateful(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.lstm(x)[1][0]
        return result


def test_the_last_states_are_refused(lua: bridge.Lua) -> None:
    with pytest.raises(ConversionError, match="takes result 1"):
        to_lua(Stateful(), lua)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("options", [{}, {"bias": False}, {"kdim": 5, "vdim": 6}], ids=str)
def test_attention_takes_query_key_and_value(lua: bridge.Lua, options: Any, batch_first: bool) -> None:
    module = nn.MultiheadAttention(4, 2, batch_first=batch_first, **options).double()
    sizes = (4, options.get("kdim", 4), options.get("vdim", 4))
    shapes = [(3, 7, size) if batch_first else (7, 3, size) for size in sizes]
    given = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    net = to_lua(module, lua)
    y, _ = module(*given)
    gradient = torch.randn_like(y)
    y.backward(gradient)
    inputs = [x.detach() for x in given]
    torch.testing.assert_close(net.forward(inputs), y.detach(), **EXACT)
    net.zeroGradParameters()
    for found, x in zip(net.backward(inputs, gradient), given, strict=True):
        torch.testing.assert_close(found, x.grad, **EXACT)
    total = sum(float(p.grad.square().sum()) for p in module.parameters() if p.grad is not None)
    assert sum(float(g.square().sum()) for g in net.parameters()[1]) == pytest.approx(total, rel=1e-10)


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = x + self.attention(x, x, x, need_weights=False)[0]
        return result


def test_attention_of_a_sequence_to_itself_inside_a_model(lua: bridge.Lua) -> None:
    module = SelfAttention()
    x = torch.randn(2, 5, 4)
    torch.testing.assert_close(to_lua(module, lua).forward(x), module(x).detach())


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_a_transformers_encoder(lua: bridge.Lua, norm_first: bool, training: bool) -> None:
    layer = nn.TransformerEncoderLayer(
        4, 2, 6, 0.0 if training else 0.3, batch_first=True, norm_first=norm_first
    )
    module = nn.TransformerEncoder(layer, 2, nn.LayerNorm(4), enable_nested_tensor=False)
    module = module.double().train(training)
    x = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
    y = module(x)
    gradient = torch.randn_like(y)
    y.backward(gradient)
    net = to_lua(module, lua)
    torch.testing.assert_close(net.forward(x.detach()), y.detach(), **EXACT)
    assert x.grad is not None
    torch.testing.assert_close(net.backward(x.detach(), gradient), x.grad, **EXACT)
