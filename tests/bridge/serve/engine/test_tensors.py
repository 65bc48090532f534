"""Tensors become a function's arguments, and results become tensors; what does not fit is told with what would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bridge.models import TensorSpec
from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.tensors import arguments, outputs, shape_of, sizes
from bridge.serve.process import Description

X = TensorSpec("x", "float32", (None, 2))
Y = TensorSpec("y")
ROW = np.ones((1, 2), np.float32)


def description(*inputs: TensorSpec, platform: str = "torch7", table: bool = False) -> Description:
    return Description(platform, {}, inputs=inputs, table=table)


def test_inputs_go_in_the_order_of_the_function() -> None:
    given = arguments("m", description(X, Y), {"y": ["a"], "x": ROW})
    assert given[0] is ROW
    assert given[1] == ["a"]


def test_inputs_that_nobody_described_go_as_they_come() -> None:
    told = Description("torch7", {})
    assert arguments("m", told, {"b": ["b"], "a": ["a"]}) == [["b"], ["a"]]


def test_a_network_of_several_inputs_takes_one_table() -> None:
    ((x, y),) = arguments("m", description(X, Y, table=True), {"x": ROW, "y": ROW})
    assert x is ROW
    assert y is ROW


def test_lua_takes_nil_for_what_is_left_out_and_nothing_behind_the_last() -> None:
    three = description(TensorSpec("a"), TensorSpec("b"), TensorSpec("c"), platform="lua")
    assert arguments("m", three, {"b": ["b"]}) == [None, ["b"]]
    assert arguments("m", three, {}) == []


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"x": ROW}, "the request lacks input 'y', but m takes x, y"),
        ({"x": ROW, "y": ROW, "z": ROW}, "the request has input 'z', but m takes x, y"),
        ({"x": ROW[0], "y": ROW}, r"input 'x' has the shape \[2\], \[-1, 2\] was expected"),
        ({"x": np.ones((1, 3)), "y": ROW}, r"input 'x' has the shape \[1, 3\], \[-1, 2\] was expected"),
        ({"x": [["a", "b"]], "y": ROW}, "input 'x' has texts, float32 was expected"),
        ({"x": ROW.astype(complex), "y": ROW}, "input 'x' has complex128, float32 was expected"),
    ],
)
def test_what_the_model_does_not_take_is_told(inputs: dict[str, Any], told: str) -> None:
    with pytest.raises(Refused, match=told) as refused:
        arguments("m", description(X, Y), inputs)
    assert refused.value.reason is Reason.INVALID


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "uint8", "bool"])
def test_numbers_become_the_model_s(dtype: str) -> None:
    (found,) = arguments("m", description(X), {"x": ROW.astype(dtype)})
    assert found.dtype == np.float32
    assert np.array_equal(found, ROW)


def test_floats_do_not_become_whole_numbers() -> None:
    with pytest.raises(Refused, match="float32, int64 was expected"):
        arguments("m", description(TensorSpec("x", "int64")), {"x": ROW})


@pytest.mark.parametrize(
    ("result", "named"),
    [
        (ROW, {"output": ROW}),
        (np.array(3, np.float32), {"output": np.array([3], np.float32)}),
        (2, {"output": np.array([2])}),
        (True, {"output": np.array([True])}),
        ("a", {"output": ["a"]}),
        (b"a", {"output": [b"a"]}),
        (["a", "b"], {"output": ["a", "b"]}),
        ([1.5, [1, 2]], {"output_0": np.array([1.5]), "output_1": np.array([1, 2])}),
        ((ROW, "a"), {"output_0": ROW, "output_1": ["a"]}),
        ({"scores": ROW, "label": "a"}, {"scores": ROW, "label": ["a"]}),
    ],
    ids=repr,
)
def test_results_become_tensors_with_names(result: Any, named: dict[str, Any]) -> None:
    found = outputs(result, None)
    assert list(found) == list(named)
    for name, value in named.items():
        assert type(found[name]) is type(value)
        assert np.array_equal(found[name], value)


def test_outputs_have_the_names_of_the_file() -> None:
    specs = [TensorSpec("scores"), TensorSpec("label")]
    assert list(outputs((ROW, ROW), specs)) == ["scores", "label"]
    assert list(outputs(ROW, specs[:1])) == ["scores"]
    assert list(outputs((ROW, ROW, ROW), specs)) == ["output_0", "output_1", "output_2"]


@pytest.mark.parametrize("result", [None, {"a": None}, [[]], [["a", 1]], {1, 2}], ids=repr)
def test_a_result_that_is_no_tensor_is_told(result: Any) -> None:
    with pytest.raises(Refused, match="is no tensor: POST /call takes any value") as refused:
        outputs(result, None)
    assert refused.value.reason is Reason.FAILED


def test_sizes() -> None:
    assert shape_of([["a", "b", "c"]]) == (1, 3)
    assert shape_of([]) == (0,)
    assert shape_of(ROW) == (1, 2)
    assert sizes(X) == [-1, 2]
    assert sizes(Y) == [-1]
