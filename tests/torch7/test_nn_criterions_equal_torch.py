"""nn: losses that torch has too, against torch: the value and the gradient. A row is a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import bridge
from tests.torch7.nn_beside_torch import (
    CLASSES,
    IMAGE,
    LABELS,
    LUA,
    OTHER,
    PLACES,
    SIGN,
    SIGNS,
    UNIT,
    W,
    X,
    Y,
    assert_equal,
    gradient,
    tensors,
    typed,
    weights,
)

Loss = Callable[..., torch.Tensor]
LOSSES: list[tuple[str, Any, Any, Loss]] = [
    ("nn.MSECriterion()", X, Y, F.mse_loss),
    ("nn.MSECriterion(false)", X, Y, lambda x, y: F.mse_loss(x, y, reduction="sum")),
    ("nn.AbsCriterion()", X, Y, F.l1_loss),
    ("nn.SmoothL1Criterion()", 2 * X, Y, F.smooth_l1_loss),
    ("nn.BCECriterion()", UNIT, OTHER, F.binary_cross_entropy),
    (f"nn.BCECriterion({W})", UNIT, OTHER, lambda x, y: F.binary_cross_entropy(x, y, weights(x))),
    ("nn.ClassNLLCriterion()", X, CLASSES, lambda x, y: F.nll_loss(x, y - 1)),
    (f"nn.ClassNLLCriterion({W})", X, CLASSES, lambda x, y: F.nll_loss(x, y - 1, weights(x))),
    ("nn.CrossEntropyCriterion()", X, CLASSES, lambda x, y: F.cross_entropy(x, y - 1)),
    (f"nn.CrossEntropyCriterion({W})", X, CLASSES, lambda x, y: F.cross_entropy(x, y - 1, weights(x))),
    ("nn.SpatialClassNLLCriterion()", IMAGE, PLACES, lambda x, y: F.nll_loss(x, y - 1)),
    (f"nn.SpatialClassNLLCriterion({W})", IMAGE, PLACES, lambda x, y: F.nll_loss(x, y - 1, weights(x))),
    ("nn.SoftMarginCriterion()", X, SIGNS, F.soft_margin_loss),
    ("nn.HingeEmbeddingCriterion(0.7)", X, SIGNS, lambda x, y: F.hinge_embedding_loss(x, y, 0.7)),
    ("nn.MultiMarginCriterion()", X, CLASSES, lambda x, y: F.multi_margin_loss(x, y - 1)),
    (
        f"nn.MultiMarginCriterion(2,{W},0.5)",
        X,
        CLASSES,
        lambda x, y: F.multi_margin_loss(x, y - 1, p=2, weight=weights(x), margin=0.5),
    ),
    ("nn.MultiLabelMarginCriterion()", X, LABELS, lambda x, y: F.multilabel_margin_loss(x, y - 1)),
    (
        "nn.MultiLabelSoftMarginCriterion()",
        X,
        np.round(OTHER),
        lambda x, y: F.multilabel_soft_margin_loss(x, y.to(x.dtype)),
    ),
    (
        f"nn.MultiLabelSoftMarginCriterion({W})",
        30 * X,
        np.round(OTHER),
        lambda x, y: F.multilabel_soft_margin_loss(x, y.to(x.dtype), weights(x)),
    ),
    ("nn.DistKLDivCriterion()", X, UNIT, lambda x, y: F.kl_div(x, y, reduction="sum") / x.numel()),
    (
        "nn.MarginRankingCriterion(0.3)",
        [X[:, 0], Y[:, 0]],
        SIGN,
        lambda x, y: F.margin_ranking_loss(x[0], x[1], y, margin=0.3),
    ),
    (
        "nn.CosineEmbeddingCriterion(0.1)",
        [X, Y],
        SIGN,
        lambda x, y: F.cosine_embedding_loss(x[0], x[1], y, margin=0.1),
    ),
    ("nn.MarginCriterion(0.5)", X, SIGNS, lambda x, y: (0.5 - x * y).relu().mean()),
    ("nn.L1Cost()", X, None, lambda x, _: x.abs().sum()),
    *[
        (
            "nn.L1HingeEmbeddingCriterion(5)",
            [X[0], Y[0]],
            sign,
            lambda x, y: (x[0] - x[1]).abs().sum() if y > 0 else (5 - (x[0] - x[1]).abs().sum()).relu(),
        )
        for sign in (np.array([1.0]), np.array([-1.0]))
    ],
    (
        "nn.DistanceRatioCriterion()",
        [UNIT[:, :1], OTHER[:, :1]],
        None,
        lambda x, _: -torch.log_softmax(-torch.cat(x, 1), 1)[:, 0].mean(),
    ),
    (f"nn.WeightedMSECriterion({W})", X, Y, lambda x, y: F.mse_loss(x, y * weights(x))),
    (
        "nn.SpatialAutoCropMSECriterion()",
        IMAGE[:, :, :1, :1],
        IMAGE,
        lambda x, y: F.mse_loss(x, y[:, :, 1:2, :1]),
    ),
    ("nn.ModuleCriterion(nn.MSECriterion(),nn.Tanh())", X, Y, lambda x, y: F.mse_loss(x.tanh(), y)),
    (
        "nn.MultiCriterion():add(nn.MSECriterion(),0.5):add(nn.AbsCriterion())",
        X,
        Y,
        lambda x, y: 0.5 * F.mse_loss(x, y) + F.l1_loss(x, y),
    ),
    (
        "nn.ParallelCriterion():add(nn.MSECriterion(),0.5):add(nn.AbsCriterion())",
        [X, UNIT],
        [Y, OTHER],
        lambda x, y: 0.5 * F.mse_loss(x[0], y[0]) + F.l1_loss(x[1], y[1]),
    ),
]


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("run = dofile(...)", str(LUA))
        yield lua


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("constructor", "given", "target", "function"), LOSSES)
def test_losses_equal_those_of_torch(
    nn: bridge.Lua, constructor: str, given: Any, target: Any, function: Loss, dtype: str
) -> None:
    given, target = typed(given, dtype), typed(target, dtype)
    x = tensors(given, requires_grad=True)
    expected = function(x, tensors(target, requires_grad=False))
    expected.backward()
    # several results, of which the criterion's own may be two: the gradient is the last
    *values, gradInput = nn.execute("return run.loss(...)", constructor, given, target)
    assert_equal(values[0], expected, dtype)
    assert_equal(gradInput, gradient(x), dtype)
