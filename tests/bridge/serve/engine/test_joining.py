"""Rows of several requests become one array, and the answer's rows go back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bridge.serve.engine.joining import join, joined_key, split
from bridge.serve.process.values import Joined


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        [3],
        ["text"],
        [np.float64(3)],
        [np.array(3.0)],
        [np.ones(3)],
        [np.ones((0, 2))],
        [np.ones((2, 2)), np.ones((3, 2))],
        [np.ones((2, 2)), 1],
        [[np.ones((2, 2)), [1]]],
        [["a", "b"]],
    ],
    ids=repr,
)
def test_what_has_no_rows_goes_alone(arguments: list[Any]) -> None:
    assert joined_key(None, arguments) == (None, 1)


def test_arrays_without_a_dimension_of_rows_go_alone() -> None:
    image = np.ones((3, 8, 8))
    assert joined_key(None, [image], [4]) == (None, 1)
    assert joined_key(None, [image[None]], [4])[1] == 1
    assert joined_key(None, [image[None]], [4])[0] is not None


def test_only_what_is_alike_goes_together() -> None:
    x = np.ones((2, 3), "f4")
    alike = [joined_key("f", [x]), joined_key("f", [np.zeros((5, 3), "f4")])]
    assert [rows for _, rows in alike] == [2, 5]
    assert alike[0][0] == alike[1][0]
    others = [
        joined_key("g", [x]),
        joined_key("f", [x.astype("f8")]),
        joined_key("f", [x[:, :2]]),
        joined_key("f", [[x]]),
        joined_key("f", [x, x]),
        joined_key("f", [[x, x]]),
    ]
    keys = [alike[0][0], *(key for key, _ in others)]
    assert len(set(keys)) == len(keys)


def test_joined_arguments_are_each_request_s_rows() -> None:
    one, other = np.ones((1, 2)), np.zeros((3, 2))
    (whole,) = join([[one], [other]])
    assert isinstance(whole, Joined)
    assert [len(part) for part in whole.parts] == [1, 3]
    ((first, second),) = join([[[one, other]], [[other, one]]])
    assert [len(part) for part in (*first.parts, *second.parts)] == [1, 3, 3, 1]
    assert join([[one, 3]]) == [one, 3]


@pytest.mark.parametrize("form", [lambda a: a, lambda a: [a, [a]], lambda a: {"x": a, "y": [a]}])
def test_each_request_gets_its_rows(form: Any) -> None:
    parts = split(form(np.arange(12).reshape(6, 2)), [1, 3, 2])
    assert parts is not None
    expected = [form(part) for part in np.split(np.arange(12).reshape(6, 2), [1, 4])]
    assert str(parts) == str(expected)


@pytest.mark.parametrize(
    "result",
    [
        np.ones(5),
        np.array(1.0),
        [],
        {},
        None,
        3.0,
        "texts",
        [np.ones(6), 1],
        {"a": np.ones(6), "b": np.ones(2)},
    ],
    ids=repr,
)
def test_a_result_of_other_rows_is_not_split(result: Any) -> None:
    assert split(result, [4, 2]) is None
