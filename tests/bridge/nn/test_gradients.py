"""bridge.nn: gradients of Lua modules and criterions in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from bridge.legacy import nn
from bridge.nn import LuaCriterion, LuaModule
from tests.bridge.nn.networks import F64, graph, mlp, randn

SINGLE = {
    "Linear": (lambda: nn.Linear(4, 3), (5, 4)),
    "Linear of a vector": (lambda: nn.Linear(4, 3), (4,)),
    "Bilinear": (lambda: nn.Sequential().add(nn.SplitTable(0)).add(nn.Bilinear(4, 4, 2)), (2, 3, 4)),
    "mlp": (mlp, (5, 4)),
    "SpatialConvolution": (lambda: nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1), (2, 2, 5, 5)),
    "SpatialFullConvolution": (lambda: nn.SpatialFullConvolution(2, 3, 3, 3, 2, 2), (1, 2, 3, 3)),
    "TemporalConvolution": (lambda: nn.TemporalConvolution(3, 2, 2), (2, 5, 3)),
    "VolumetricConvolution": (lambda: nn.VolumetricConvolution(1, 2, 2, 2, 2), (1, 1, 3, 3, 3)),
    "SpatialMaxPooling": (lambda: nn.SpatialMaxPooling(2, 2), (2, 2, 4, 4)),
    "SpatialAveragePooling": (lambda: nn.SpatialAveragePooling(2, 2), (2, 2, 4, 4)),
    "BatchNormalization": (lambda: nn.BatchNormalization(4), (6, 4)),
    "SpatialBatchNormalization": (lambda: nn.SpatialBatchNormalization(2), (2, 2, 3, 3)),
    "LayerNormalization": (lambda: nn.LayerNormalization(4), (3, 4)),
    "PReLU": (nn.PReLU, (3, 4)),
    "ReLU in place": (lambda: nn.Sequential().add(nn.ReLU(True)).add(nn.Linear(4, 2)), (3, 4)),
    "ReLU in place behind": (lambda: nn.Sequential().add(nn.Linear(4, 2)).add(nn.ReLU(True)), (3, 4)),
    "CMul": (lambda: nn.CMul(4), (3, 4)),
    "Add": (lambda: nn.Add(4), (4,)),
    "Euclidean": (lambda: nn.Euclidean(4, 2), (3, 4)),
    "WeightNorm": (lambda: nn.WeightNorm(nn.Linear(4, 2)), (3, 4)),
    "Maxout": (lambda: nn.Maxout(4, 2, 3), (3, 4)),
    "Concat": (lambda: nn.Concat(1).add(nn.Linear(4, 2)).add(nn.Tanh()), (3, 4)),
    "ConcatTable": (lambda: nn.ConcatTable().add(nn.Linear(4, 2)).add(nn.Sigmoid()), (3, 4)),
    "SplitTable": (lambda: nn.SplitTable(1), (2, 3, 4)),
    "a residue": (
        lambda: (
            nn.Sequential().add(nn.ConcatTable().add(nn.Linear(4, 4)).add(nn.Identity())).add(nn.CAddTable())
        ),
        (3, 4),
    ),
    "Max": (lambda: nn.Max(1), (3, 4)),
    "MapTable": (lambda: nn.Sequential().add(nn.SplitTable(0)).add(nn.MapTable(nn.Linear(4, 2))), (3, 4)),
    "MixtureTable": (
        lambda: (
            nn.Sequential()
            .add(
                nn.ConcatTable()
                .add(nn.Sequential().add(nn.Linear(4, 2)).add(nn.SoftMax()))
                .add(nn.ConcatTable().add(nn.Linear(4, 3)).add(nn.Linear(4, 3)))
            )
            .add(nn.MixtureTable())
        ),
        (3, 4),
    ),
    "PartialLinear": (lambda: nn.PartialLinear(4, 5), (3, 4)),
    "SpatialConvolutionMap": (lambda: nn.SpatialConvolutionMap(nn.tables.full(2, 2), 3, 3), (2, 4, 4)),
    "TemporalRowConvolution": (lambda: nn.TemporalRowConvolution(3, 2), (5, 3)),
    "SpatialCrossMapLRN": (lambda: nn.SpatialCrossMapLRN(3), (1, 4, 3, 3)),
    "SpatialUpSamplingBilinear": (lambda: nn.SpatialUpSamplingBilinear(2), (1, 1, 3, 3)),
    "Threshold in place": (lambda: nn.Threshold(0, 0, True), (3, 4)),
    "View": (lambda: nn.View(-1), (2, 3)),
    "a number": (lambda: nn.Sequential().add(nn.Linear(4, 1)).add(nn.Sum(0)), (4,)),
}


@pytest.mark.parametrize("name", SINGLE)
def test_gradients_are_right(name: str) -> None:
    make, size = SINGLE[name]
    module = LuaModule(make())
    x = randn(*size)
    parameters = [p.detach().clone().requires_grad_() for p in module.parameters()]

    def function(x: torch.Tensor, *values: torch.Tensor) -> Any:
        output = torch.func.functional_call(
            module, dict(zip([name for name, _ in module.named_parameters()], values, strict=True)), (x,)
        )
        return tuple(output) if isinstance(output, list) else output

    assert torch.autograd.gradcheck(function, (x, *parameters))


TABLES = {
    "CAddTable": nn.CAddTable,
    "CMulTable": nn.CMulTable,
    "CSubTable": nn.CSubTable,
    "JoinTable": lambda: nn.JoinTable(1),
    "MM": lambda: nn.MM(False, True),
    "CosineDistance": nn.CosineDistance,
    "PairwiseDistance": lambda: nn.PairwiseDistance(2),
    "DotProduct": nn.DotProduct,
    "ParallelTable": lambda: nn.ParallelTable().add(nn.Linear(4, 2)).add(nn.Tanh()),
}


@pytest.mark.parametrize("name", TABLES)
def test_gradients_of_tables_are_right(name: str) -> None:
    module = LuaModule(TABLES[name]())

    def function(a: torch.Tensor, b: torch.Tensor) -> Any:
        output = module([a, b])
        return tuple(output) if isinstance(output, list) else output

    assert torch.autograd.gradcheck(function, (randn(3, 4), randn(3, 4)))


def test_gradients_of_a_graph_are_right() -> None:
    module = LuaModule(graph())
    assert torch.autograd.gradcheck(lambda a, b: tuple(module(a, b)), (randn(2, 4), randn(2, 3)))


CRITERIONS = {
    "MSECriterion": (nn.MSECriterion, (3, 4), lambda: torch.randn(3, 4, dtype=F64)),
    "AbsCriterion": (nn.AbsCriterion, (3, 4), lambda: torch.randn(3, 4, dtype=F64)),
    "SmoothL1Criterion": (nn.SmoothL1Criterion, (3, 4), lambda: torch.randn(3, 4, dtype=F64)),
    "ClassNLLCriterion": (nn.ClassNLLCriterion, (3, 4), lambda: torch.tensor([0, 3, 1])),
    "CrossEntropyCriterion": (nn.CrossEntropyCriterion, (3, 4), lambda: torch.tensor([0, 3, 1])),
    "a number": (nn.CrossEntropyCriterion, (4,), lambda: 3),
    "MultiMarginCriterion": (nn.MultiMarginCriterion, (3, 4), lambda: torch.tensor([0, 3, 1])),
    "MarginCriterion": (
        nn.MarginCriterion,
        (4,),
        lambda: torch.tensor([1.0, -1, 1, -1], dtype=F64),
    ),
    "DistKLDivCriterion": (nn.DistKLDivCriterion, (3, 4), lambda: torch.rand(3, 4, dtype=F64)),
}


@pytest.mark.parametrize("name", CRITERIONS)
def test_gradients_of_criterions_are_right(name: str) -> None:
    make, size, target = CRITERIONS[name]
    criterion, wanted = LuaCriterion(make()), target()
    assert torch.autograd.gradcheck(lambda x: 3 * criterion(x, wanted), (randn(*size),))


def test_a_criterion_of_two_inputs_has_two_gradients() -> None:
    criterion = LuaCriterion(nn.CosineEmbeddingCriterion(0.1))
    assert torch.autograd.gradcheck(lambda a, b: criterion([a, b], 1), (randn(4), randn(4)))
