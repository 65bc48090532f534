"""bridge.legacy.nn counts from 0: positions in arguments and fields, indices in inputs and targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import bridge
from bridge.legacy import nn
from tests.bridge.legacy.networks import SCORES

# ---- counting from 0: positions in arguments and fields


X = np.arange(24.0).reshape(2, 3, 4)
POSITIONS = [
    (lambda: nn.Select(1, 0), X, X[:, 0]),
    (lambda: nn.Select(-1, -1), X, X[..., -1]),
    (lambda: nn.Narrow(2, 1, 2), X, X[:, :, 1:3]),
    (lambda: nn.Transpose([0, 1], [1, 2]), X, X.transpose(1, 2, 0)),
    (lambda: nn.JoinTable(1), [X, X], np.concatenate([X, X], 1)),
    (lambda: nn.SelectTable(0), [X, X + 1], X),
    (lambda: nn.SelectTable(-1), [X, X + 1], X + 1),
    (lambda: nn.Replicate(2, 1), X, np.stack([X, X], 1)),
    (lambda: nn.Sum(0), X, X.sum(0)),
    (lambda: nn.Mean(2), X, X.mean(2)),
    (lambda: nn.Max(1), X, X.max(1)),
    (lambda: nn.Min(0), X, X.min(0)),
    (lambda: nn.Unsqueeze(0), X, X[None]),
    (lambda: nn.Squeeze(0), X[None], X),
    (lambda: nn.Padding(0, 1), X, np.concatenate([X, np.zeros((1, 3, 4))])),
    (lambda: nn.Concat(0).add(nn.Identity()).add(nn.Identity()), X, np.concatenate([X, X])),
    (
        lambda: nn.Parallel(0, 0).add(nn.Identity()).add(nn.MulConstant(2)),
        X,
        np.concatenate([X[0], 2 * X[1]]),
    ),
    (lambda: nn.View(6, 4), X, X.reshape(6, 4)),
]


@pytest.mark.parametrize(("make", "x", "wanted"), POSITIONS, ids=lambda value: "")
def test_positions_count_from_0(make: Any, x: Any, wanted: Any) -> None:
    np.testing.assert_allclose(make().forward(x), wanted)


def test_tables_split_along_a_dimension_counted_from_0() -> None:
    parts = nn.SplitTable(1).forward(X)
    assert [part.tolist() for part in parts] == [X[:, i].tolist() for i in range(3)]
    assert nn.NarrowTable(1, 2).forward([1, 2, 3]) == [2, 3]


def test_fields_that_are_positions_count_from_0() -> None:
    narrow = nn.Narrow(2, 1, 2)
    assert (narrow.dimension, narrow.index, narrow.length) == (2, 1, 2)
    narrow.dimension = 0
    assert narrow.lua_object.dimension == 1
    assert nn.Select(-1, 0).dimension == -1
    assert nn.Transpose([0, 2]).permutations == [[0, 2]]


def test_places_in_containers_count_from_0() -> None:
    first, second, third = nn.Tanh(), nn.Sigmoid(), nn.ReLU()
    net = nn.Sequential().add(first).add(third)
    net.insert(second, 1)
    assert net.get(1) is second
    assert net[-1] is third
    assert list(net) == net.modules == [first, second, third]
    net.remove(0)
    assert len(net) == 2
    net.insert(nn.Abs())
    assert isinstance(net[2], nn.Abs)
    assert net.get(-1) is net[2]
    assert net.get(3) is None
    with pytest.raises(IndexError, match="no module 3 among 3"):
        _ = net[3]


def test_a_position_is_no_boolean() -> None:
    with pytest.raises(TypeError, match="True is not a position"):
        nn.Select(True, 0)


# ---- counting from 0: indices in inputs and targets


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.float64])
def test_lookups_count_from_0(dtype: Any) -> None:
    table = nn.LookupTable(256, 2)
    indices = np.array([0, 255, 3], dtype=dtype)
    np.testing.assert_array_equal(table.forward(indices), table.weight[[0, 255, 3]])
    assert indices.tolist() == [0, 255, 3]
    table.zeroGradParameters()
    table.backward(indices, np.ones((3, 2)))
    assert np.flatnonzero(table.gradWeight[:, 0]).tolist() == [0, 3, 255]


@pytest.mark.parametrize("wrong", [-1, 4])
def test_a_lookup_beyond_the_table_is_refused(wrong: int) -> None:
    with pytest.raises(bridge.LuaError, match="out of range"):
        nn.LookupTable(4, 2).forward(np.array([wrong]))


def test_the_padding_index_counts_from_0_and_minus_1_is_none() -> None:
    table = nn.LookupTable(3, 1, 0)
    table.zeroGradParameters()
    table.backward(np.array([0, 1]), np.ones((2, 1)))
    assert table.gradWeight[:, 0].tolist() == [0, 1, 0]
    assert (table.paddingValue, nn.LookupTable(3, 1).paddingValue) == (0, -1)
    assert nn.LookupTable(3, 1, -1).lua_object.paddingValue == 0


def test_indices_count_from_0_inside_containers() -> None:
    both = nn.ParallelTable().add(nn.LookupTable(5, 2)).add(nn.Identity())
    net = nn.Sequential().add(both).add(nn.JoinTable(1))
    output = net.forward([np.array([4, 0]), np.ones((2, 1))])
    np.testing.assert_array_equal(output[:, :2], both.get(0).weight[[4, 0]])


def test_indices_count_from_0_behind_what_moves_them() -> None:
    net = nn.Sequential().add(nn.Select(1, 1)).add(nn.LookupTable(5, 2))
    np.testing.assert_array_equal(net.forward(np.array([[1.0, 0.0], [2.0, 4.0]])), net.get(1).weight[[0, 4]])


def test_one_hot_and_index_count_from_0() -> None:
    assert nn.OneHot(3).forward(np.array([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    module = nn.Index(0)
    assert module.forward([X, np.array([1, 0, 1])]).tolist() == X[[1, 0, 1]].tolist()


def test_sparse_inputs_count_from_0() -> None:
    layer = nn.SparseLinear(4, 2, True)
    entries = np.array([[0, 2.0], [3, -1.0]])
    np.testing.assert_allclose(
        layer.forward(entries), layer.bias + 2 * layer.weight[:, 0] - layer.weight[:, 3]
    )
    (gradient,) = layer.backward(entries, np.array([1.0, 0.0]))
    np.testing.assert_allclose(gradient, np.stack([np.arange(4), layer.weight[0]], 1))


def test_index_linear_s_keys_count_from_0() -> None:
    layer = nn.IndexLinear(4, 2)
    np.testing.assert_allclose(
        layer.forward([np.array([3]), np.array([2.0])]), layer.bias + 2 * layer.weight[3], rtol=1e-6
    )


def test_a_partition_counts_from_0() -> None:
    layer = nn.PartialLinear(3, 5)
    whole = layer.forward(np.ones((1, 3))).copy()
    layer.setPartition(np.array([4.0, 0.0]))
    assert layer.partition.tolist() == [4, 0]
    np.testing.assert_allclose(layer.forward(np.ones((1, 3))), whole[:, [4, 0]])


LOSSES = [
    ("ClassNLLCriterion", torch.nn.NLLLoss()),
    ("CrossEntropyCriterion", torch.nn.CrossEntropyLoss()),
    ("MultiMarginCriterion", torch.nn.MultiMarginLoss()),
]


@pytest.mark.parametrize(("name", "loss"), LOSSES)
def test_targets_count_from_0(name: str, loss: Any) -> None:
    target = np.array([0, 2])
    x = torch.from_numpy(SCORES).requires_grad_()
    wanted = loss(x, torch.from_numpy(target))
    wanted.backward()
    criterion = getattr(nn, name)()
    assert criterion.forward(SCORES, target) == pytest.approx(wanted.item())
    np.testing.assert_allclose(criterion.backward(SCORES, target), x.grad)


def test_a_target_may_be_a_number() -> None:
    assert nn.ClassNLLCriterion().forward(SCORES[0], 2) == pytest.approx(-SCORES[0, 2])


def test_label_lists_end_at_minus_1() -> None:
    target = np.array([[0, 2, -1], [1, -1, -1]])
    wanted = torch.nn.MultiLabelMarginLoss()(torch.from_numpy(SCORES), torch.from_numpy(target))
    assert nn.MultiLabelMarginCriterion().forward(SCORES, target) == pytest.approx(wanted.item())


@pytest.mark.parametrize("ignored", [1, -100])
def test_an_ignored_target_counts_from_0(ignored: int) -> None:
    criterion = nn.ClassNLLCriterion(None, True, ignored) if ignored >= 0 else nn.ClassNLLCriterion()
    assert criterion.forward(SCORES, np.array([2, ignored])) == pytest.approx(-SCORES[0, 2])
    assert criterion.ignoreIndex == ignored


def test_images_targets_count_from_0() -> None:
    scores = np.log(np.random.default_rng(0).dirichlet(np.ones(3), (2, 4, 4))).transpose(0, 3, 1, 2).copy()
    target = np.random.default_rng(1).integers(0, 3, (2, 4, 4))
    wanted = torch.nn.NLLLoss()(torch.from_numpy(scores), torch.from_numpy(target))
    assert nn.SpatialClassNLLCriterion().forward(scores, target) == pytest.approx(wanted.item())


def test_simplex_predictions_count_from_0() -> None:
    criterion = nn.ClassSimplexCriterion(3)
    corners = criterion.simplex
    assert criterion.getTopPrediction(corners).tolist() == [0, 1, 2]
    assert criterion.forward(corners, np.array([0, 1, 2])) == pytest.approx(0)


def test_targets_of_several_criterions_count_from_0() -> None:
    criterion = nn.ParallelCriterion().add(nn.ClassNLLCriterion()).add(nn.MSECriterion())
    loss = criterion.forward([SCORES, np.ones(2)], [np.array([0, 2]), np.zeros(2)])
    assert loss == pytest.approx(-(SCORES[0, 0] + SCORES[1, 2]) / 2 + 1)


def test_positions_of_maxima_count_from_0() -> None:
    module = nn.Max(1)
    module.forward(np.array([[1.0, 3.0, 2.0]]))
    assert module._indices.tolist() == [[1]]
    pool = nn.SpatialMaxPooling(2, 2)
    pool.forward(np.array([[[0.0, 1.0], [0.0, 0.0]]]))
    assert pool.indices.tolist() == [[[1]]]


def test_a_marked_argument_is_the_only_one_shifted() -> None:
    table = nn.LookupTable(3, 2)
    np.testing.assert_array_equal(table.forward(bridge.index(np.array([0, 2]))), table.weight[[0, 2]])
    pair = nn.ParallelTable().add(nn.LookupTable(3, 1)).add(nn.LookupTable(3, 1))
    first, second = pair.forward([bridge.index(np.array([0])), np.array([1])])
    assert (first[0], second[0]) == (pair.get(0).weight[0], pair.get(1).weight[0])


def test_lua_code_counts_from_1_all_the_while(state: bridge.Lua) -> None:
    table = nn.LookupTable(3, 2)
    table.forward(np.array([0]))
    forward = state.eval("function(module, x) return module:forward(x) end")
    np.testing.assert_array_equal(forward(table.lua_object, np.array([1])), table.weight[[0]])
    with pytest.raises(bridge.LuaError):
        table.forward(np.array([7]))
    np.testing.assert_array_equal(forward(table.lua_object, np.array([1])), table.weight[[0]])


def test_python_code_that_lua_calls_meets_lua_counting_from_1(state: bridge.Lua) -> None:
    table = nn.LookupTable(3, 1)
    forward = state.eval("function(module, x) return module:forward(x) end")
    seen = []

    class Peek(nn.Module):
        def updateOutput(self, x: Any) -> Any:
            seen.append(forward(table.lua_object, np.array([1.0]))[0, 0])
            return x

    net = nn.Sequential().add(Peek()).add(nn.LookupTable(3, 1))
    assert net.forward(np.array([0.0])).tolist() == [[net.get(1).weight[0, 0]]]
    assert seen == [table.weight[0, 0]]


def test_connection_tables_count_from_0() -> None:
    assert nn.tables.oneToOne(2).tolist() == [[0, 0], [1, 1]]
    layer = nn.SpatialConvolutionMap(nn.tables.full(2, 3), 1, 1)
    assert layer.forward(np.ones((2, 2, 2))).shape == (3, 2, 2)
    assert layer.lua_object.connTable.min() == 1


def test_functions_of_nn_take_modules_and_arrays() -> None:
    assert nn.Jacobian.testJacobian(nn.Tanh(), np.full((2, 3), 0.3)) < 1e-6
    assert "testJacobian" in dir(nn.Jacobian)
    copied, _ = nn.utils.recursiveCopy(np.zeros(2), np.ones(2))
    assert copied.tolist() == [1, 1]
