"""The keys of a model's parameters."""

from __future__ import annotations

import numpy as np
import pytest

import pyps
from pyps.nn.dense.pieces import LENGTHS, LONGEST, keys_of, lengths_of


@pytest.mark.parametrize("size", [1, 2, 3, 1000, LONGEST - 1, LONGEST, LONGEST + 1, 10 * LONGEST + 77])
def test_the_values_of_a_parameter_have_its_elements(size: int) -> None:
    (keys,) = keys_of([size])
    lengths = lengths_of(keys)
    assert lengths.sum() == size
    assert (lengths[:-1] >= lengths[1:]).all()


def test_a_parameter_without_elements_has_no_keys() -> None:
    assert [len(keys) for keys in keys_of([0, 1])] == [0, 1]


def test_each_value_of_a_model_has_a_key_of_its_own() -> None:
    keys = np.concatenate(keys_of([5, 4096, 5, 1, 2047]))
    assert len(set(keys.tolist())) == len(keys)
    assert (keys & (2**56 - 1)).tolist() == list(range(len(keys)))


def test_a_table_has_these_lengths() -> None:
    (keys,) = keys_of([2 * LONGEST - 1])
    with pyps.Server(1) as server:
        table = server.table("model", dim=LENGTHS)
        assert [table.get_key_size(key) for key in keys.tolist()] == list(LENGTHS)
