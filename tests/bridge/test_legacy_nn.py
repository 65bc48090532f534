"""bridge.legacy.nn: Torch7's nn from Python, counted from 0."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bridge
from bridge import legacy
from bridge.legacy import nn
from bridge.legacy.positions import rows
from bridge.legacy.session import session_of


@pytest.fixture(autouse=True, scope="module")
def state() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua, legacy.use(lua):
        yield lua


def mlp() -> Any:
    return nn.Sequential().add(nn.Linear(4, 8)).add(nn.Tanh()).add(nn.Linear(8, 3)).add(nn.LogSoftMax())


# ---- the classes


def test_the_table_agrees_with_lua(state: bridge.Lua) -> None:
    state.require("nngraph")
    parameters = state.eval(
        """function(name)
           local class = torch.getmetatable('nn.' .. name)
           local parent = getmetatable(class)
           local names, init = {}, class.__init
           if init and rawget(class, '__init') then
              for i = 2, 99 do names[i - 1] = debug.getlocal(init, i) end
           end
           return parent and parent.__typename or '', names
        end"""
    )
    renamed = {"lambda": "lambda_", "_": "nInputPlane"}
    for name, row in rows().items():
        parent, found = parameters(name)
        assert parent == (f"nn.{row.parent}" if row.parent else ""), name
        if found:
            assert [renamed.get(word, word) for word in found] == list(row.form.signature.parameters), name


def test_children_are_instances_of_their_parents() -> None:
    assert isinstance(nn.DepthConcat(0), nn.Concat)
    assert issubclass(nn.gModule, nn.Container)
    assert isinstance(nn.MSECriterion(), nn.Criterion)


def test_arguments_may_be_named() -> None:
    layer = nn.SpatialConvolution(3, 16, kW=5, kH=3, padW=2)
    assert (layer.kW, layer.kH, layer.padW, layer.dW) == (5, 3, 2, 1)


def test_a_name_that_nobody_has_is_told() -> None:
    with pytest.raises(AttributeError, match="nn has no 'Linaer'"):
        _ = nn.Linaer


# ---- tensors


@pytest.mark.parametrize("make", [np.ones, lambda size: torch.ones(size, dtype=torch.float64)])
def test_results_are_of_the_kind_of_the_input(make: Any) -> None:
    x = make((2, 4))
    net = mlp()
    y = net.forward(x)
    assert type(y) is type(x)
    assert type(net.backward(x, y)) is type(x)


def test_fields_share_lua_s_memory() -> None:
    layer = nn.Linear(2, 1)
    layer.weight[:] = 1
    layer.bias[:] = 0.5
    assert layer.forward(np.array([1.0, 2.0])).tolist() == [3.5]
    assert layer.output.tolist() == [3.5]
    layer.gradWeight.fill(7)
    layer.zeroGradParameters()
    assert layer.gradWeight.tolist() == [[0, 0]]


def test_setting_a_field_sets_lua_s() -> None:
    layer = nn.Linear(2, 1)
    layer.weight = np.zeros((1, 2))
    layer.bias = None
    assert layer.forward(np.ones(2)).tolist() == [0]
    del layer.gradWeight
    with pytest.raises(AttributeError, match="gradWeight"):
        _ = layer.gradWeight


def test_the_process_s_own_state_gives_torch_tensors() -> None:
    with legacy.use(None):
        layer = nn.Linear(2, 1)
        assert isinstance(layer.weight, torch.Tensor)
        assert isinstance(layer.forward(np.ones(2)), np.ndarray)


def test_the_chain_of_modules_equals_torch() -> None:
    net = mlp()
    x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    linear, last = net.get(0), net.get(2)
    parameters = [
        torch.from_numpy(p).requires_grad_() for p in (linear.weight, linear.bias, last.weight, last.bias)
    ]
    hidden = torch.tanh(x @ parameters[0].T + parameters[1])
    wanted = torch.log_softmax(hidden @ parameters[2].T + parameters[3], 1)
    target = torch.tensor([0, 1, 2, 1, 0])
    loss = torch.nn.functional.nll_loss(wanted, target)
    loss.backward()
    criterion = nn.ClassNLLCriterion()
    given = x.detach()
    net.zeroGradParameters()
    assert criterion.forward(net.forward(given), target) == pytest.approx(loss.item())
    gradient = net.backward(given, criterion.backward(net.forward(given), target))
    torch.testing.assert_close(gradient, x.grad)
    for p, mine in zip(parameters, net.parameters()[1], strict=True):
        torch.testing.assert_close(torch.from_numpy(mine), p.grad)


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
    gradient = layer.backward(entries, np.array([1.0, 0.0]))
    np.testing.assert_allclose(gradient, [[0, layer.weight[0, 0]], [3, layer.weight[0, 3]]])


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


SCORES = np.log(np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]))
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


# ---- modules as objects


def test_the_same_module_is_the_same_object() -> None:
    net = mlp()
    layer = net.get(0)
    assert net.listModules()[1] is layer
    assert net.training() is None or net.training() is net
    assert layer.clone() is not layer


def test_functions_get_modules() -> None:
    seen: list[Any] = []
    net = mlp()
    net.apply(seen.append)
    assert seen[0] is net
    assert [type(module).__name__ for module in seen[1:]] == ["Linear", "Tanh", "Linear", "LogSoftMax"]
    net.replace(lambda module: nn.Sigmoid() if isinstance(module, nn.Tanh) else module)
    assert isinstance(net.get(1), nn.Sigmoid)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_computes_the_same_and_shares_nothing(duplicate: Any) -> None:
    net = mlp()
    twin = duplicate(net)
    x = np.ones((1, 4))
    before = net.forward(x).copy()
    np.testing.assert_array_equal(twin.forward(x), before)
    twin.get(0).weight.fill(0)
    np.testing.assert_array_equal(net.forward(x), before)


def test_a_file_keeps_a_module(tmp_path: Path, state: bridge.Lua) -> None:
    net = mlp()
    legacy.save({"net": net, "epochs": 3}, tmp_path / "net.t7")
    again = legacy.load(tmp_path / "net.t7")
    assert again["epochs"] == 3
    np.testing.assert_array_equal(again["net"].forward(np.ones((1, 4))), net.forward(np.ones((1, 4))))
    assert state.eval("torch.load(...).net:size()", str(tmp_path / "net.t7")) == 4


def test_a_module_is_written_by_its_own_state(tmp_path: Path) -> None:
    layer = nn.Linear(2, 1)
    with legacy.use(None):
        legacy.save(layer, tmp_path / "layer.t7")
        again = legacy.load(tmp_path / "layer.t7")
    assert again.weight.tolist() == layer.weight.tolist()


def test_the_states_of_modules_do_not_mix() -> None:
    with bridge.Lua() as other, legacy.use(other):
        foreign = nn.Tanh()
        with legacy.use(None):
            net = nn.Sequential()
        with pytest.raises(ValueError, match="another Lua state"):
            net.add(foreign)


def test_what_is_forgotten_is_collected(state: bridge.Lua) -> None:
    net = nn.Linear(1000, 1000)
    held = state.held_bytes
    assert held > 8_000_000
    del net
    gc.collect()
    state.collect()
    assert state.held_bytes < held - 8_000_000


def test_a_state_that_nobody_closes_goes_with_its_objects() -> None:
    lua = bridge.Lua()
    with legacy.use(lua):
        nn.Sequential().add(Scale(2)).apply(lambda module: None)
    gone = weakref.ref(session_of(lua.exclusive()))
    del lua
    gc.collect()
    assert gone() is None


def test_a_closed_state_is_told() -> None:
    lua = bridge.Lua()
    with legacy.use(lua):
        layer = nn.Tanh()
    lua.close()
    with pytest.raises(bridge.StateClosed):
        layer.forward(np.ones(2))
    with pytest.raises(bridge.StateClosed):
        legacy.use(lua)
    assert "closed" in repr(layer)


def test_threads_share_a_module() -> None:
    layer = nn.Linear(3, 3)
    x = np.random.default_rng(0).normal(size=(4, 3))
    wanted = x @ layer.weight.T + layer.bias
    worst: list[float] = []

    def work() -> None:
        mine = layer.clone()
        worst.append(max(float(abs(mine.forward(x) - wanted).max()) for _ in range(50)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(worst) == 4
    assert max(worst) < 1e-12


# ---- classes written in Python and in Lua


class Scale(nn.Module):
    """Multiplies by a number."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def updateOutput(self, x: Any) -> Any:
        self.output = x * self.factor
        return self.output

    def updateGradInput(self, x: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * self.factor
        return self.gradInput


class Doubled(nn.Linear):
    def updateOutput(self, x: Any) -> Any:
        return super().updateOutput(x) * 2


def test_a_module_written_in_python_works_inside_lua_s() -> None:
    net = nn.Sequential().add(Scale(3)).add(nn.Linear(2, 1))
    x = np.ones((1, 2))
    np.testing.assert_allclose(net.forward(x), 3 * net.get(1).weight.sum() + net.get(1).bias[0])
    np.testing.assert_allclose(net.backward(x, np.ones((1, 1))), 3 * net.get(1).weight)


def test_a_module_written_in_python_keeps_its_fields_in_lua() -> None:
    net = nn.Sequential().add(Scale(3))
    gc.collect()
    module = net.get(0)
    assert type(module) is Scale
    assert module.factor == 3


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_module_written_in_python_is_copied(duplicate: Any) -> None:
    twin = duplicate(nn.Sequential().add(Scale(3)))
    assert type(twin.get(0)) is Scale
    assert twin.forward(np.ones(2)).tolist() == [3, 3]


def test_super_is_the_class_of_lua() -> None:
    layer = Doubled(2, 1)
    np.testing.assert_allclose(layer.forward(np.ones(2)), 2 * (layer.weight.sum(1) + layer.bias))
    assert isinstance(layer, nn.Linear)


def test_a_pickle_opens_in_another_state() -> None:
    data = pickle.dumps(nn.Sequential().add(Scale(3)))
    with bridge.Lua() as other, legacy.use(other):
        assert pickle.loads(data).forward(np.ones(2)).tolist() == [3, 3]


def test_an_exception_of_a_module_written_in_python_comes_out() -> None:
    class Broken(nn.Module):
        def updateOutput(self, x: Any) -> Any:
            raise KeyError("no such layer")

    with pytest.raises(bridge.LuaError) as caught:
        nn.Sequential().add(Broken()).forward(np.ones(1))
    assert isinstance(caught.value.original, KeyError)


def test_a_constructor_that_forgets_super_is_told() -> None:
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.k = 1

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Forgetful()


def test_a_class_that_a_lua_program_defines_is_found(state: bridge.Lua) -> None:
    state.execute(
        """require 'nn'
        local Twice, parent = torch.class('nn.Twice', 'nn.Module')
        function Twice:__init(k) parent.__init(self) self.k = k end
        function Twice:updateOutput(x) return x * self.k end"""
    )
    module = nn.Twice(2)
    assert module.forward(np.ones(2)).tolist() == [2, 2]
    assert isinstance(module, nn.Module)
    assert type(nn.Sequential().add(module).get(0)) is type(module)


# ---- nngraph


def test_a_graph_is_drawn_in_python() -> None:
    x, y = nn.Identity()(), nn.Identity()()
    h = nn.CAddTable()([nn.Linear(3, 2)(x), y])
    net = nn.gModule([x, y], [nn.Tanh()(h)])
    a, b = np.ones((1, 3)), np.zeros((1, 2))
    linear = next(module for module in net.listModules() if isinstance(module, nn.Linear))
    np.testing.assert_allclose(net.forward([a, b]), np.tanh(a @ linear.weight.T + linear.bias))
    gradients = net.backward([a, b], np.ones((1, 2)))
    assert [gradient.shape for gradient in gradients] == [(1, 3), (1, 2)]


def test_a_graph_looks_up_from_0() -> None:
    x = nn.Identity()()
    table = nn.LookupTable(4, 2)
    net = nn.gModule([x], [nn.Sum(0)(table(nn.Select(1, 0)(x)))])
    np.testing.assert_allclose(net.forward(np.array([[3.0, 9.0], [0.0, 9.0]])), table.weight[[3, 0]].sum(0))


def test_nodes_are_chained_by_minus() -> None:
    x = -nn.Identity()
    net = nn.gModule([x], [x - nn.MulConstant(3) - nn.AddConstant(1)])
    assert net.forward(np.ones(2)).tolist() == [4, 4]


def test_a_node_splits() -> None:
    x = nn.Identity()()
    a, b = x.annotate(name="pair").split(2)
    net = nn.gModule([x], [nn.CSubTable()([b, a])])
    assert net.forward([np.ones(2), np.full(2, 3.0)]).tolist() == [2, 2]


def test_a_criterion_is_a_node_too() -> None:
    x, t = nn.Identity()(), nn.Identity()()
    net = nn.gModule([x, t], [nn.ClassNLLCriterion()([x, t])])
    assert net.forward([SCORES, np.array([0, 2])]) == pytest.approx(-(SCORES[0, 0] + SCORES[1, 2]) / 2)


def test_nodes_are_not_made_by_hand() -> None:
    with pytest.raises(TypeError, match="calling a module"):
        nn.Node()


# ---- training


def test_stochastic_gradient_trains_on_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    t = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0)
    net = mlp()
    trainer = nn.StochasticGradient(net, nn.ClassNLLCriterion())
    trainer.learningRate = 0.1
    trainer.maxIteration = 20
    trainer.train(zip(x, t.tolist(), strict=True))
    assert "maximum number of iterations" in capsys.readouterr().out
    assert (net.forward(x).argmax(1) == t).mean() > 0.9
