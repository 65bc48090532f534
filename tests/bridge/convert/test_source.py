"""Where models come from: files, objects of a Lua state, what bridge.t7 gives; what is shared stays shared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import fx, nn

import bridge
from bridge.convert import ConversionError, convert, to_torch
from bridge.t7.networks import network
from bridge.t7.objects import TorchObject


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua(tensors="torch") as state:
        state.require("nngraph")
        yield state


@pytest.fixture
def net(lua: bridge.Lua) -> Any:
    return lua.execute("torch.manualSeed(3) return nn.Sequential():add(nn.Linear(4,3)):add(nn.Tanh())")


@pytest.mark.parametrize("way", ["lua", "numpy state", "path", "numpy", "torch", "dict"])
def test_every_way_in_gives_the_same(lua: bridge.Lua, net: Any, tmp_path: Path, way: str) -> None:
    path = tmp_path / "net.t7"
    lua.eval("torch.save")(str(path), net)
    x = torch.randn(2, 4, dtype=torch.float64)
    model: Any = net
    with bridge.Lua() as other:
        if way == "numpy state":
            model = other.require("nn") and other.torch.load(str(path))
        elif way == "path":
            model = path
        elif way in ("numpy", "torch"):
            model = bridge.t7.load(path, tensors=way)  # type: ignore[arg-type]
        elif way == "dict":
            model = {"epoch": 3, "model": bridge.t7.load(path), "optimState": {}}
        module = to_torch(model)
    torch.testing.assert_close(module(x).detach(), net.forward(x), rtol=1e-14, atol=0)


def test_a_network_of_bridge_legacy_is_converted() -> None:
    from bridge.legacy import nn as legacy

    net = legacy.Sequential().add(legacy.Linear(4, 3)).add(legacy.Tanh())
    x = torch.randn(2, 4, dtype=torch.float64)
    torch.testing.assert_close(to_torch(net)(x).detach(), torch.as_tensor(net.forward(x)))


def test_copies_are_apart_from_the_model(net: Any) -> None:
    module = to_torch(net)
    with torch.no_grad():
        module.get_parameter("0.weight").fill_(7)
    assert not net.get(1).weight.eq(7).any()


def test_shared_parameters_are_the_models_memory(net: Any) -> None:
    module = to_torch(net, share=True)
    with torch.no_grad():
        module.get_parameter("0.weight").fill_(7)
    assert net.get(1).weight.eq(7).all()


def test_a_layer_that_is_used_twice_is_one_module(lua: bridge.Lua) -> None:
    net = lua.execute("local a = nn.Linear(3,3) return nn.Sequential():add(a):add(nn.Tanh()):add(a)")
    module = to_torch(net)
    assert module.get_submodule("0") is module.get_submodule("2")


def test_parameters_of_clones_that_share_are_one(lua: bridge.Lua) -> None:
    net = lua.execute(
        "local a = nn.Linear(3,3) return nn.Sequential():add(a):add(a:clone('weight','gradWeight'))"
    )
    module = to_torch(net)
    assert module.get_parameter("0.weight") is module.get_parameter("1.weight")
    assert module.get_parameter("0.bias") is not module.get_parameter("1.bias")


GRAPH = """
torch.manualSeed(3)
local a, b = nn.Identity()(), nn.Identity()()
local h = nn.Linear(4,3)(a):annotate{name = 'hidden layer'}
local both = nn.CAddTable()({nn.Tanh()(h), nn.Linear(2,3)(b)})
local first, second = nn.SplitTable(2)(both):split(2)
return nn.gModule({a, b}, {nn.CMulTable()({first, second}), h, both})
"""


@pytest.mark.parametrize("way", ["lua", "file"])
def test_a_graph_becomes_a_graph_module(lua: bridge.Lua, tmp_path: Path, way: str) -> None:
    net = lua.execute(GRAPH.replace("nn.Linear(2,3)(b)", "nn.Linear(2,2)(b)").replace("(4,3)", "(4,2)"))
    if way == "file":
        lua.eval("torch.save")(str(tmp_path / "graph.t7"), net)
    inputs = [torch.randn(5, 4, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64)]
    module = to_torch(tmp_path / "graph.t7" if way == "file" else net)
    assert isinstance(module, fx.GraphModule)
    assert isinstance(module.get_submodule("hidden_layer"), nn.Linear)
    ours = [x.clone().requires_grad_() for x in inputs]
    outputs = module(ours)
    expected = net.forward(inputs)
    gradients = [torch.randn_like(y) for y in expected]
    torch.autograd.backward(outputs, gradients)
    for one, other in zip(outputs, expected, strict=True):
        torch.testing.assert_close(one.detach(), other, rtol=1e-12, atol=1e-12)
    for one, other in zip(ours, net.backward(inputs, gradients), strict=True):
        assert one.grad is not None
        torch.testing.assert_close(one.grad, other, rtol=1e-12, atol=1e-12)


LSTM = """
torch.manualSeed(3)
-- one step of a recurrent network as programs of 2015 wrote it
local x, before, cell = nn.Identity()(), nn.Identity()(), nn.Identity()()
local size = 5
local sums = nn.CAddTable()({nn.Linear(4, 4 * size)(nn.LookupTable(7, 4)(x)), nn.Linear(size, 4 * size)(before)})
local i, f, o, g = nn.SplitTable(2)(nn.Reshape(4, size)(sums)):split(4)
local nextcell = nn.CAddTable()({
   nn.CMulTable()({nn.Sigmoid()(f), cell}), nn.CMulTable()({nn.Sigmoid()(i), nn.Tanh()(g)})})
local nexth = nn.CMulTable()({nn.Sigmoid()(o), nn.Tanh()(nextcell)})
local decoded = nn.LogSoftMax()(nn.Linear(size, 7)(nn.Dropout(0.5)(nexth)):annotate{name = 'decoder'})
return nn.gModule({x, before, cell}, {nextcell, nexth, decoded}):float()
"""


@pytest.mark.parametrize("base", [0, 1])
def test_a_step_of_an_lstm_computes_the_same(lua: bridge.Lua, base: int) -> None:
    net = lua.execute(
        LSTM.replace("return nn.gModule", "local net = nn.gModule") + " net:evaluate() return net"
    )
    module = to_torch(net, base=base)
    indices, state = torch.tensor([1, 7, 3]), [torch.randn(3, 5), torch.randn(3, 5)]
    expected = net.forward([indices, *state])
    for one, other in zip(module([indices - 1 + base, *state]), expected, strict=True):
        torch.testing.assert_close(one.detach(), other, rtol=1e-5, atol=1e-6)
    assert isinstance(module.get_submodule("decoder"), nn.Linear)


@pytest.mark.slow
def test_a_deep_graph_is_converted_without_recursion(lua: bridge.Lua) -> None:
    net = lua.execute("""
        local a = nn.Identity()()
        local h = a
        for _ = 1, 1500 do h = nn.AddConstant(1)(h) end
        return nn.gModule({a}, {h})
    """)
    module = to_torch(net)
    assert module(torch.zeros(2)).tolist() == [1500, 1500]


def test_layers_keep_their_modes(lua: bridge.Lua) -> None:
    net = lua.execute(
        "local n = nn.Sequential():add(nn.Dropout()):add(nn.Dropout()) n:get(2):evaluate() return n"
    )
    assert [part.training for part in to_torch(net).modules()] == [True, True, False]


def test_clones_that_learned_apart_stay_apart(lua: bridge.Lua) -> None:
    net = lua.execute("local n = nn.MapTable(nn.Linear(3,2), false) n:resize(2) return n")
    module = to_torch(net)
    inputs = [torch.randn(1, 3, dtype=torch.float64), torch.randn(1, 3, dtype=torch.float64)]
    for one, other in zip(module(inputs), net.forward(inputs), strict=True):
        torch.testing.assert_close(one.detach(), other)
    with pytest.raises(ValueError, match="a list of 1 for 2 clones"):
        module(inputs[:1])


def test_the_conversion_names_each_layer(net: Any) -> None:
    layers = convert(net).layers
    assert [(layer.name, layer.typename) for layer in layers] == [
        ("", "nn.Sequential"),
        ("0", "nn.Linear"),
        ("1", "nn.Tanh"),
    ]
    assert layers[1].lua == net.get(1)


def layer(typename: str, **fields: Any) -> TorchObject:
    return TorchObject(typename, fields)


OLD: list[tuple[TorchObject, type[nn.Module]]] = [
    (
        layer(
            "nn.SpatialConvolutionMM",
            nInputPlane=2,
            nOutputPlane=3,
            kW=3,
            kH=2,
            dW=1,
            dH=1,
            padding=1,
            weight=torch.randn(3, 12),
            bias=torch.randn(3),
        ),
        nn.Conv2d,
    ),
    (
        layer(
            "cudnn.SpatialConvolution",
            nInputPlane=4,
            nOutputPlane=6,
            kW=3,
            kH=3,
            dW=1,
            dH=1,
            groups=2,
            weight=torch.randn(2, 3, 2, 3, 3),
        ),
        nn.Conv2d,
    ),
    (layer("cudnn.ReLU", inplace=True, mode="CUDNN_ACTIVATION_RELU"), nn.ReLU),
    (layer("cudnn.SpatialMaxPooling", kW=2, kH=2, dW=2, dH=2), nn.MaxPool2d),
    (layer("nn.SpatialAveragePooling", kW=2, kH=2, dW=2, dH=2), nn.AvgPool2d),
    (layer("nn.HardTanh"), nn.Hardtanh),
]


@pytest.mark.parametrize(("old", "kind"), OLD, ids=[old.torch_typename() for old, _ in OLD])
def test_layers_of_old_files_and_of_cudnn_are_converted(old: TorchObject, kind: type[nn.Module]) -> None:
    module = to_torch(old)
    assert type(module) is kind


def test_groups_and_a_single_padding_are_taken_over() -> None:
    first, second = to_torch(OLD[0][0]), to_torch(OLD[1][0])
    assert (first.padding, first.weight.shape) == ((1, 1), (3, 2, 2, 3))
    assert (second.groups, second.weight.shape, second.bias) == (2, (6, 2, 3, 3), None)


def test_a_running_std_of_old_files_becomes_the_variance() -> None:
    variance, eps = torch.rand(3) + 0.5, 1e-3
    old = layer(
        "nn.SpatialBatchNormalization",
        running_mean=torch.zeros(3),
        running_std=(variance + eps).rsqrt(),
        eps=eps,
        momentum=0.2,
    )
    module = to_torch(old)
    torch.testing.assert_close(module.running_var, variance)
    assert (module.momentum, module.affine, module.weight) == (0.2, False, None)


def test_indices_count_from_the_base() -> None:
    weight = torch.randn(5, 3)
    table = layer("nn.LookupTable", weight=weight, paddingValue=2)
    assert torch.equal(to_torch(table)(torch.tensor([0, 4])), weight[[0, 4]])
    assert torch.equal(to_torch(table, base=1)(torch.tensor([1.0, 5.0])), weight[[0, 4]])
    assert to_torch(table).padding_idx == 1


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (layer("nn.Sequential", modules=[layer("nn.Linear")]), ("layer 0", "nn.Linear", "weight")),
        (layer("nn.Sequential", modules=[7]), ("layer 0", "7")),
        (
            layer("nn.SpatialConvolution", nInputPlane=2, nOutputPlane=3, kW=3, kH=3, weight=torch.ones(5)),
            ("weight", "5", "3x2x3x3"),
        ),
        (layer("nn.SpatialMaxPooling", kW="x", kH=2), ("kW", "number")),
        (layer("nn.Concat", modules=[]), ("dimension", "number")),
    ],
)
def test_damaged_layers_are_refused_with_their_place(model: TorchObject, words: tuple[str, ...]) -> None:
    with pytest.raises(ConversionError) as raised:
        to_torch(model)
    for word in words:
        assert word in str(raised.value)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match=r"got torch\.Tensor"):
        to_torch(torch.ones(3))
    with pytest.raises(ValueError, match="several networks"):
        to_torch({"a": layer("nn.Tanh"), "b": layer("nn.Tanh")})
    with pytest.raises(ValueError, match="base=2"):
        to_torch(layer("nn.Tanh"), base=2)


def test_networks_that_contain_themselves_are_refused() -> None:
    loop = layer("nn.Sequential", modules=[])
    loop.fields()["modules"].append(loop)
    with pytest.raises(ConversionError, match="inside itself"):
        to_torch(loop)


@pytest.mark.parametrize(
    "ctor",
    [
        "Linear(4,3)",
        "SpatialConvolution(4,6,3,3)",
        "SpatialBatchNormalization(4)",
        "SpatialMaxPooling(2,2)",
        "HardTanh(-1,1)",
        "LookupTable(10,4)",
        "View(2,6)",
        "Transpose({1,2})",
        "TemporalConvolution(6,4,3)",
        "SpatialContrastiveNormalization(4,torch.rand(5,3))",
        "WeightNorm(nn.Linear(4,3))",
        "gModule({nn.Identity()()}, {nn.Identity()()})",
    ],
)
def test_any_field_may_be_damaged(lua: bridge.Lua, ctor: str) -> None:
    """A layer is converted or refused with its class; nothing else is raised."""
    if ctor.startswith("gModule"):
        net = lua.execute("local a = nn.Identity()() return nn.gModule({a}, {nn.Linear(2,2)(a)})")
    else:
        net = lua.eval(f"nn.{ctor}")
    data = lua.eval("torch.serialize")(net)
    data = data if isinstance(data, bytes) else data.encode()
    wrong = (None, "x", -1, 0, 1e30, float("nan"), True, [], {}, [1, "a"], torch.zeros(3), layer("nn.Tanh"))
    for field in bridge.t7.loads(data).fields():
        for value in wrong:
            damaged = bridge.t7.loads(data)
            damaged.fields()[field] = value
            with suppress(ConversionError):
                to_torch(damaged)


def test_char_rnns_own_class_is_known() -> None:
    module = to_torch(TorchObject("OneHot", {"outputSize": 5, "_type": "torch.FloatTensor"}))
    assert torch.equal(module(torch.tensor([0, 4])), torch.eye(5)[[0, 4]])


def test_a_key_of_a_table_may_have_points_itself() -> None:
    net = TorchObject("nn.Tanh", {})
    table = {"v1.0": {"net": net}, "list": [net, {"x": 3}]}
    assert network(table, "v1.0.net") is net
    assert network(table, "list.0") is net
    with pytest.raises(ValueError, match=r"no 'y'; there is 'x'"):
        network(table, "list.1.y")


def test_a_network_that_is_there_twice_is_one() -> None:
    net = TorchObject("nn.Tanh", {})
    assert network({"protos": {"rnn": net}, "again": [net]}) is net
