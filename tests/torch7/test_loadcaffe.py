"""loadcaffe: networks in Caffe's files, written here by the protobuf package, computed here by torch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import bridge
from tests.torch7 import caffe

OLD = """
name: "small"
layers { name: "data" type: DATA top: "data" }
layers { name: "conv1" type: CONVOLUTION
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 } }
layers { name: "relu1" type: RELU }
layers { name: "norm1" type: LRN lrn_param { local_size: 3 alpha: 0.5 beta: 0.5 } }
layers { name: "pool1" type: POOLING pooling_param { pool: MAX kernel_size: 3 stride: 2 } }
layers { name: "conv2" type: CONVOLUTION
  convolution_param { num_output: 6 kernel_h: 2 kernel_w: 1 group: 2 } }
layers { name: "tanh2" type: TANH }
layers { name: "fc3" type: INNER_PRODUCT inner_product_param { num_output: 5 } }
layers { name: "drop3" type: DROPOUT dropout_param { dropout_ratio: 0.25 } }
layers { name: "fc4" type: INNER_PRODUCT inner_product_param { num_output: 3 } }
layers { name: "prob" type: SOFTMAX }
"""
NAMES = {
    "CONVOLUTION": "Convolution",
    "RELU": "ReLU",
    "LRN": "LRN",
    "POOLING": "Pooling",
    "TANH": "TanH",
    "INNER_PRODUCT": "InnerProduct",
    "DROPOUT": "Dropout",
    "SOFTMAX": "Softmax",
    "DATA": "Data",
}
SHAPES = {"conv1": (4, 3, 3, 3), "conv2": (6, 2, 2, 1), "fc3": (5, 36), "fc4": (3, 5)}


def newer(text: str) -> str:
    for old, new in NAMES.items():
        text = text.replace(f"type: {old}", f'type: "{new}"')
    return text.replace("layers {", "layer {")


def weights(net: Any, shaped: bool) -> dict[str, tuple[Any, Any]]:
    """Put random weights into a network; return them by layer."""
    rng = np.random.default_rng(1)
    made = {}
    for layer in net.layers or net.layer:
        if layer.name in SHAPES:
            shape = SHAPES[layer.name]
            made[layer.name] = rng.normal(size=shape).astype("f4"), rng.normal(size=shape[0]).astype("f4")
            for array in made[layer.name]:
                blob = layer.blobs.add()
                if shaped:
                    blob.shape.dim.extend(array.shape)
                else:
                    sizes = (1,) * (4 - array.ndim) + array.shape
                    blob.num, blob.channels, blob.height, blob.width = sizes
                blob.data.extend(array.ravel().tolist())
    return {name: (torch.from_numpy(w), torch.from_numpy(b)) for name, (w, b) in made.items()}


def compute(x: torch.Tensor, w: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    x = functional.conv2d(x, *w["conv1"], stride=2, padding=1).relu()
    x = functional.local_response_norm(x, 3, alpha=0.5, beta=0.5, k=1)
    x = functional.max_pool2d(x, 3, 2, ceil_mode=True)
    x = functional.conv2d(x, *w["conv2"], groups=2).tanh().flatten(1)
    return functional.linear(functional.linear(x, *w["fc3"]), *w["fc4"]).softmax(1)


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOONTIDE_CUDA", "cpu")
        with bridge.Lua() as state:
            state.execute("require 'loadcaffe' require 'cutorch'")
            yield state


@pytest.fixture(params=["old", "new"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, dict[str, Any]]:
    """A .caffemodel with the layers of either form; its weights."""
    net = caffe.net(OLD if request.param == "old" else newer(OLD))
    made = weights(net, request.param == "new")
    path = tmp_path / "small.caffemodel"
    path.write_bytes(net.SerializeToString())
    return str(path), made


RUN = """
local file, x, backend = ...
net = loadcaffe.load('unused.prototxt', file, backend)
net:evaluate()
if backend == 'cudnn' then x = x:cuda() end
local names = {}
for i, module in ipairs(net.modules) do names[i] = module.name end
return net:forward(x:type(net:type())):double(), names, torch.type(net.output), tostring(net)
"""


@pytest.mark.parametrize("backend", ["nn", "cudnn"])
def test_a_network_computes_what_caffe_would(lua: bridge.Lua, model: Any, backend: str) -> None:
    file, made = model
    x = np.random.default_rng(2).normal(size=(2, 3, 14, 12)).astype("f4")
    output, names, kind, text = lua.execute(RUN, file, x, backend)
    expected = compute(torch.from_numpy(x), made)
    np.testing.assert_allclose(output, expected.numpy(), rtol=1e-4, atol=1e-6)
    assert names == [
        *("conv1", "relu1", "norm1", "pool1", "conv2", "tanh2"),
        *("torch_view", "fc3", "drop3", "fc4", "prob"),
    ]
    assert kind == ("torch.DoubleTensor" if backend == "nn" else "torch.CudaTensor")
    assert f"(1): {backend}.SpatialConvolution(3 -> 4, 3x3, 2,2, 1,1)" in text
    assert f"(4): {backend}.SpatialMaxPooling(3x3, 2,2)" in text
    assert "(9): nn.Dropout(0.2500)" in text or "(9): nn.Dropout(0.25" in text


def test_layers_are_told_with_the_sizes_of_their_weights(
    lua: bridge.Lua, model: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    file, _ = model
    lua.execute("loadcaffe.load('unused.prototxt', ...)", file)
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == f"Successfully loaded {file}"
    assert lines[1].startswith("warning: module 'data [type ")
    assert lines[2:] == ["conv1: 4 3 3 3", "conv2: 6 2 1 2", "fc3: 1 1 36 5", "fc4: 1 1 5 3"]


def test_a_description_is_read_where_the_file_has_only_weights(lua: bridge.Lua, tmp_path: Path) -> None:
    net = caffe.net(newer(OLD))
    made = weights(net, True)
    for layer in net.layer:
        for field, _ in layer.ListFields():
            if field.name not in ("name", "blobs"):
                layer.ClearField(field.name)
    (tmp_path / "w.caffemodel").write_bytes(net.SerializeToString())
    (tmp_path / "small.prototxt").write_text("# a comment\n" + newer(OLD))
    x = np.random.default_rng(2).normal(size=(1, 3, 14, 12)).astype("f4")
    code = """
    local text, file, x = ...
    local net = loadcaffe.load(text, file)
    net:evaluate()
    return net:forward(x:double())
    """
    output = lua.execute(code, str(tmp_path / "small.prototxt"), str(tmp_path / "w.caffemodel"), x)
    np.testing.assert_allclose(output, compute(torch.from_numpy(x), made).numpy(), rtol=1e-4, atol=1e-6)


def test_other_options_of_layers(lua: bridge.Lua, tmp_path: Path) -> None:
    net = caffe.net("""
    layer { name: "c" type: "Convolution" convolution_param { num_output: 2 kernel_size: 1 bias_term: false } }
    layer { name: "r" type: "ReLU" relu_param { negative_slope: 0.125 } }
    layer { name: "d" type: "Deconvolution" convolution_param { num_output: 3 kernel_size: 2 stride: 2 } }
    layer { name: "p" type: "Pooling" pooling_param { pool: AVE global_pooling: true } }
    """)
    rng = np.random.default_rng(3)
    w, d, b = (rng.normal(size=shape).astype("f4") for shape in ((2, 3, 1, 1), (2, 3, 2, 2), (3,)))
    for layer, arrays in ((net.layer[0], [w]), (net.layer[2], [d, b])):
        for array in arrays:
            blob = layer.blobs.add()
            blob.shape.dim.extend(array.shape)
            blob.data.extend(array.ravel().tolist())
    path = tmp_path / "x.caffemodel"
    path.write_bytes(net.SerializeToString())
    x = rng.normal(size=(1, 3, 4, 4)).astype("f4")
    output = lua.execute(
        "local file, x = ... return loadcaffe.load('', file):float():forward(x)", str(path), x
    )
    y = functional.leaky_relu(functional.conv2d(torch.from_numpy(x), torch.from_numpy(w)), 0.125)
    y = functional.conv_transpose2d(y, torch.from_numpy(d), torch.from_numpy(b), stride=2)
    np.testing.assert_allclose(output, y.mean((2, 3), keepdim=True).numpy(), rtol=1e-4, atol=1e-6)


def load(lua: bridge.Lua, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    lua.execute("loadcaffe.load('', ...)", str(path))


def complaint(lua: bridge.Lua, path: Path, content: bytes) -> str:
    """What is said of a file; of a network, what always starts a complaint."""
    try:
        load(lua, path, content)
    except bridge.LuaError as error:
        return error.message
    return "loadcaffe: "


def test_every_cut_of_a_file_is_told(lua: bridge.Lua, tmp_path: Path) -> None:
    net = caffe.net(newer(OLD))
    weights(net, True)
    content = net.SerializeToString()
    for length in [*range(1, 60), *range(60, len(content), 97)]:
        # a cut between two layers is a network with fewer of them
        assert "loadcaffe: " in complaint(lua, tmp_path / "cut.caffemodel", content[:length])


@pytest.mark.parametrize("seed", range(8))
def test_noise_is_told(lua: bridge.Lua, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    net = caffe.net(newer(OLD))
    weights(net, True)
    content = bytearray(net.SerializeToString())
    for place in rng.integers(0, 300, 12):
        content[place] = rng.integers(0, 256)
    assert "loadcaffe: " in complaint(lua, tmp_path / "noise.caffemodel", bytes(content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 this is a zip file", "no file of protocol buffers"),
        (b"\xff" * 30, "a number of more than 10 bytes"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\x7f", "ends in the middle"),
        (b"\x0a\x05small", "holds no layers"),
    ],
)
def test_what_is_no_network_is_told(lua: bridge.Lua, tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        load(lua, tmp_path / "x.caffemodel", content)
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('layer { name: "c" type: "Convolution" }', "layer c (Convolution): the file has no weights of it"),
        ('layer { name: "p" type: "Pooling" }', "layer p (Pooling): the size of the kernel is missing"),
        (
            'layer { name: "p" type: "Pooling" pooling_param { pool: STOCHASTIC } }',
            "stochastic pooling is not supported",
        ),
        (
            'layer { name: "c" type: "Convolution" convolution_param { kernel_size: 2 } blobs { height: 2 width: 2 } }',
            "its weights are 0 numbers, their sizes (1 x 1 x 2 x 2) say 4",
        ),
    ],
)
def test_what_a_layer_lacks_is_told(lua: bridge.Lua, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        load(lua, tmp_path / "x.caffemodel", caffe.net(text).SerializeToString())
    assert message in raised.value.message


def test_sizes_are_believed_as_far_as_there_are_numbers(lua: bridge.Lua, tmp_path: Path) -> None:
    text = (
        'layer { name: "f" type: "InnerProduct" blobs { shape { dim: 999999999 dim: 999999999 } data: 1 } }'
    )
    with pytest.raises(bridge.LuaError, match="its weights are 1 numbers"):
        load(lua, tmp_path / "x.caffemodel", caffe.net(text).SerializeToString())


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("loadcaffe.load('a', 'b', 'ccn2')", "backend is 'nn' or 'cudnn', got 'ccn2'"),
        ("loadcaffe.load('a')", "expected the names of"),
        ("loadcaffe.load('a', '/nowhere/b')", "No such file"),
    ],
)
def test_what_cannot_be_is_told(lua: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code)
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('layer { name: "a', ":1: a string does not end"),
        ("layer { name: }", ":1: a value expected, got }"),
        ("layer {\n name: 3", ":end: } expected"),
        ("}", ":1: } was not expected"),
        ("layer = 3", ":1: = was not expected"),
        ("3: 4", ":1: the name of a field expected, got 3"),
        ("a {" * 200, "nested more than 100 deep"),
    ],
)
def test_what_is_wrong_with_a_description_is_told(
    lua: bridge.Lua, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "x.prototxt").write_text(text)
    (tmp_path / "x.caffemodel").write_bytes(b"\xa2\x06\x03\x0a\x01c")  # a layer that has only a name
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute("loadcaffe.load(...)", str(tmp_path / "x.prototxt"), str(tmp_path / "x.caffemodel"))
    assert message in raised.value.message
