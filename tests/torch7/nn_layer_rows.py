"""Rows for the comparison of layers with torch: constructor, input, parameters in order, the same in torch.

An input or a result is an array or a list of them, as a table is in Lua; whole numbers are indices, counted from 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from tests.torch7.nn_beside_torch import CLASSES, IMAGE, RNG, UNIT, WEIGHTS, X, Y

Layer = Callable[..., Any]
Row = tuple[str, Any, list[np.ndarray], Layer]


def drawn(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


BILINEAR = [drawn(3, 4, 2), drawn(3)]
DIRECTION = [drawn(3, 4), RNG.uniform(0.5, 2, size=(3, 1)), drawn(3)]
SLOPES = RNG.uniform(size=4)
LINEAR = [drawn(3, 4), drawn(3)]
PAIR = [X, Y]


def distance(difference: torch.Tensor) -> torch.Tensor:
    # on the way back Torch7 divides by what is 1e-7 longer, so that 0 has a gradient
    d = difference.square().sum(1).sqrt()
    return d.detach() + (d - d.detach()) * (d / (d + 1e-7)).detach()


def weight_norm(x: torch.Tensor, v: torch.Tensor, g: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    # Torch7 adds 1e-4 below the root
    return F.linear(x, g * v / (v.square().sum(1, keepdim=True) + 1e-4).sqrt(), bias)


ELEMENTS: list[Row] = [
    ("nn.ReLU6()", 5 * X, [], F.relu6),
    ("nn.RReLU(0.1,0.3)", X, [], lambda x: F.rrelu(x, 0.1, 0.3, training=False)),
    ("nn.Abs()", X, [], torch.abs),
    ("nn.Exp()", X, [], torch.exp),
    ("nn.Log()", UNIT, [], torch.log),
    ("nn.Sqrt()", UNIT, [], torch.sqrt),
    ("nn.Square()", X, [], torch.square),
    ("nn.Power(3)", X, [], lambda x: x**3),
    ("nn.AddConstant(2.5)", X, [], lambda x: x + 2.5),
    ("nn.MulConstant(2.5)", X, [], lambda x: x * 2.5),
    ("nn.Identity()", X, [], lambda x: x * 1),
    ("nn.Contiguous()", X, [], lambda x: x * 1),
    ("nn.Add(4)", X, [drawn(4)], lambda x, b: x + b),
    ("nn.Mul()", X, [drawn(1)], lambda x, w: x * w),
    ("nn.CAdd(4)", X, [drawn(4)], lambda x, b: x + b),
    ("nn.CMul(4)", X, [drawn(4)], lambda x, w: x * w),
    ("nn.PReLU()", X, [SLOPES[:1]], F.prelu),
    ("nn.PReLU(4)", X, [SLOPES], F.prelu),
    ("nn.PReLU(4)", IMAGE, [SLOPES], F.prelu),
    ("nn.CReLU(1)", X, [], lambda x: torch.cat([x.relu(), (-x).relu()], 1)),
    ("nn.GatedLinearUnit()", X, [], F.glu),
    ("nn.FeatureLPPooling(2,2,3,true)", UNIT, [], lambda x: F.lp_pool1d(x[:, None], 3, 2)[:, 0]),
]
LINEARS: list[Row] = [
    ("nn.Linear(4,3)", X, LINEAR, F.linear),
    ("nn.Linear(4,3,false)", X, LINEAR[:1], F.linear),
    ("nn.Bilinear(4,2,3)", [X, Y[:, :2]], BILINEAR, lambda x, w, b: F.bilinear(x[0], x[1], w, b)),
    ("nn.Cosine(4,3)", X, DIRECTION[:1], lambda x, w: F.cosine_similarity(x[:, None], w[None], dim=2)),
    ("nn.Euclidean(4,3)", X, [drawn(4, 3)], lambda x, w: distance(x[:, :, None] - w)),
    (
        "nn.WeightedEuclidean(4,3)",
        X,
        [drawn(4, 3), RNG.uniform(0.5, 2, size=(4, 3))],
        lambda x, w, c: distance((x[:, :, None] - w) * c),
    ),
    ("nn.LinearWeightNorm(4,3)", X, DIRECTION, lambda x, v, g, b: F.linear(x, torch._weight_norm(v, g), b)),
    ("nn.Maxout(4,3,2)", X, [drawn(6, 4), drawn(6)], lambda x, *p: F.linear(x, *p).view(5, 2, 3).amax(1)),
    ("nn.OneHot(5)", CLASSES, [], lambda i: F.one_hot(i - 1, 5)),
    ("nn.Constant(torch.Tensor{1,2},1)", X, [], lambda x: x[:, :2] * 0 + torch.tensor([1, 2])),
    ("nn.LookupTable(5,3)", CLASSES, [drawn(5, 3)], lambda i, w: F.embedding(i - 1, w)),
    ("nn.MM(false,true)", PAIR, [], lambda x: x[0] @ x[1].T),
    ("nn.MV()", [X, WEIGHTS], [], lambda x: x[0] @ x[1]),
    ("nn.DotProduct()", PAIR, [], lambda x: (x[0] * x[1]).sum(1)),
    ("nn.CosineDistance()", PAIR, [], lambda x: F.cosine_similarity(x[0], x[1])),
    ("nn.PairwiseDistance(1)", PAIR, [], lambda x: (x[0] - x[1]).norm(1, dim=1)),
    (
        "nn.SpatialConvolutionMap(nn.tables.full(4,2),2,2)",
        IMAGE,
        [drawn(8, 2, 2), drawn(2)],
        lambda x, w, b: F.conv2d(x, w.view(2, 4, 2, 2), b),
    ),
    (
        "nn.SpatialFullConvolutionMap(nn.tables.full(4,2),2,2)",
        IMAGE,
        [drawn(8, 2, 2), drawn(2)],
        lambda x, w, b: F.conv_transpose2d(x, w.view(2, 4, 2, 2).transpose(0, 1), b),
    ),
    (
        "nn.SpatialConvolutionLocal(4,2,2,3,2,2)",
        IMAGE,
        [drawn(2, 1, 2, 4, 2, 2), drawn(2, 2, 1)],
        lambda x, w, b: torch.einsum("bkp,pok->bop", F.unfold(x, 2), w.view(2, 2, 16)).view(2, 2, 2, 1) + b,
    ),
    (
        "nn.SpatialSubSampling(4,2,2)",
        IMAGE,
        [drawn(4), drawn(4)],
        lambda x, w, b: 4 * F.avg_pool2d(x, 2, 1) * w[:, None, None] + b[:, None, None],
    ),
    (
        "nn.TemporalSubSampling(4,2)",
        X,
        [drawn(4), drawn(4)],
        lambda x, w, b: 2 * F.avg_pool1d(x.T, 2, 1).T * w + b,
    ),
]
SHAPES: list[Row] = [
    *[
        (f"nn.{name}(2)", X, [], function)
        for name, function in (
            ("Sum", lambda x: x.sum(1)),
            ("Mean", lambda x: x.mean(1)),
            ("Max", lambda x: x.amax(1)),
            ("Min", lambda x: x.amin(1)),
            ("Unsqueeze", lambda x: x[:, None]),
        )
    ],
    ("nn.Narrow(2,2,2)", X, [], lambda x: x[:, 1:3]),
    ("nn.Select(2,3)", X, [], lambda x: x[:, 2]),
    ("nn.Transpose({1,2})", X, [], lambda x: x.T),
    ("nn.Squeeze(2)", X[:, :1].copy(), [], lambda x: x[:, 0]),
    ("nn.View(2,10)", X, [], lambda x: x.view(2, 10)),
    ("nn.Reshape(2,2)", X, [], lambda x: x.view(5, 2, 2)),
    ("nn.Collapse(3)", IMAGE, [], lambda x: x.flatten(1)),
    ("nn.Convert('bchw','bf')", IMAGE, [], lambda x: x.flatten(1)),
    ("nn.Padding(2,3,2,0.5)", X, [], lambda x: F.pad(x, (0, 3), value=0.5)),
    ("nn.Replicate(3,2)", X, [], lambda x: x[:, None].expand(5, 3, 4)),
    ("nn.Index(1)", [X, CLASSES], [], lambda x: x[0][x[1] - 1]),
    ("nn.MaskedSelect()", [X, (Y > 0).astype(np.uint8)], [], lambda x: x[0][x[1] > 0]),
]
TABLES: list[Row] = [
    ("nn.CAddTable()", PAIR, [], lambda x: x[0] + x[1]),
    ("nn.CSubTable()", PAIR, [], lambda x: x[0] - x[1]),
    ("nn.CMulTable()", PAIR, [], lambda x: x[0] * x[1]),
    ("nn.CDivTable()", [X, UNIT], [], lambda x: x[0] / x[1]),
    ("nn.CMaxTable()", PAIR, [], lambda x: torch.maximum(*x)),
    ("nn.CMinTable()", PAIR, [], lambda x: torch.minimum(*x)),
    ("nn.CAddTensorTable()", [X, [Y, UNIT]], [], lambda x: [x[0] + one for one in x[1]]),
    ("nn.JoinTable(2)", PAIR, [], lambda x: torch.cat(x, 1)),
    ("nn.SplitTable(2)", X, [], lambda x: list(x.unbind(1))),
    ("nn.SelectTable(2)", PAIR, [], lambda x: x[1] * 1),
    ("nn.NarrowTable(2,2)", [X, Y, UNIT], [], lambda x: [x[1] * 1, x[2] * 1]),
    ("nn.FlattenTable()", [X, [Y, UNIT]], [], lambda x: [x[0] * 1, x[1][0] * 1, x[1][1] * 1]),
    (
        "nn.ZipTable()",
        [[X, Y], [UNIT, SLOPES]],
        [],
        lambda x: [[x[0][0] * 1, x[1][0] * 1], [x[0][1] * 1, x[1][1] * 1]],
    ),
    (
        "nn.ZipTableOneToMany()",
        [X, [Y, UNIT]],
        [],
        lambda x: [[x[0] * 1, x[1][0] * 1], [x[0] * 1, x[1][1] * 1]],
    ),
    (
        "nn.MixtureTable()",
        [UNIT[:, :2].copy(), [X, Y]],
        [],
        lambda x: x[0][:, :1] * x[1][0] + x[0][:, 1:] * x[1][1],
    ),
]
CONTAINERS: list[Row] = [
    ("nn.Sequential():add(nn.Linear(4,3)):add(nn.Tanh())", X, LINEAR, lambda x, *p: F.linear(x, *p).tanh()),
    (
        "nn.Concat(2):add(nn.Linear(4,3)):add(nn.Tanh())",
        X,
        LINEAR,
        lambda x, *p: torch.cat([F.linear(x, *p), x.tanh()], 1),
    ),
    (
        "nn.DepthConcat(1):add(nn.SpatialConvolution(4,3,1,1)):add(nn.SpatialConvolution(4,2,2,1))",
        IMAGE[0],
        [drawn(3, 4, 1, 1), drawn(3), drawn(2, 4, 1, 2), drawn(2)],
        lambda x, w, b, v, c: torch.cat([F.conv2d(x, w, b), F.pad(F.conv2d(x, v, c), (0, 1))], 0),
    ),
    (
        "nn.ConcatTable():add(nn.Linear(4,3)):add(nn.Tanh())",
        X,
        LINEAR,
        lambda x, *p: [F.linear(x, *p), x.tanh()],
    ),
    (
        "nn.ParallelTable():add(nn.Linear(4,3)):add(nn.Tanh())",
        PAIR,
        LINEAR,
        lambda x, *p: [F.linear(x[0], *p), x[1].tanh()],
    ),
    (
        "nn.Parallel(1,1):add(nn.Linear(4,3)):add(nn.Tanh())",
        X[:2],
        LINEAR,
        lambda x, *p: torch.cat([F.linear(x[0], *p), x[1].tanh()]),
    ),
    ("nn.MapTable(nn.Tanh())", PAIR, [], lambda x: [one.tanh() for one in x]),
    ("nn.Bottle(nn.Linear(2,3))", IMAGE, [drawn(3, 2), drawn(3)], F.linear),
    ("nn.WeightNorm(nn.Linear(4,3))", X, DIRECTION, weight_norm),
    *[
        (f"nn.{name}", X, LINEAR, F.linear)
        for name in (
            *("Decorator(nn.Linear(4,3))", "NaN(nn.Linear(4,3))", "Profile(nn.Linear(4,3),1000000)"),
            *("DontCast(nn.Linear(4,3),true)", "GPU(nn.Linear(4,3),1)"),
        )
    ],
    (
        "nn.gModule(diamond())",
        PAIR,
        [*LINEAR, drawn(3, 4), drawn(3)],
        lambda x, w, b, v, c: [
            F.linear(x[0], w, b).tanh() * F.linear(x[1], v, c),
            F.linear(x[0], w, b).tanh().square(),
        ],
    ),
]
ROWS = ELEMENTS + LINEARS + SHAPES + TABLES + CONTAINERS
