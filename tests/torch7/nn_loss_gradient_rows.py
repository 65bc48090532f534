"""Rows for the gradient checks of criterions: constructors with the sources of an input and a target."""

from __future__ import annotations

from tests.torch7.nn_gradient_rows import PAIR, T, V

SIGNS = "torch.randn(3,4):sign()"
LOSSES: list[tuple[str, str, str]] = [
    ("nn.ClassNLLCriterion()", T, "torch.Tensor{1,4,2}"),
    ("nn.ClassNLLCriterion()", V, "3"),
    ("nn.ClassNLLCriterion(nil,false)", T, "torch.LongTensor{1,4,2}"),
    ("nn.ClassNLLCriterion(torch.Tensor{1,2,3,4})", T, "torch.Tensor{1,4,2}"),
    ("nn.ClassNLLCriterion(nil,true,2)", T, "torch.Tensor{1,4,2}"),
    ("nn.CrossEntropyCriterion()", T, "torch.Tensor{1,4,2}"),
    ("nn.CrossEntropyCriterion()", "torch.randn(1,4)", "torch.Tensor{2}"),
    ("nn.MSECriterion()", T, T),
    ("nn.MSECriterion(false)", V, V),
    ("nn.AbsCriterion()", T, T),
    ("nn.BCECriterion()", "torch.rand(3,4):mul(0.8):add(0.1)", "torch.rand(3,4)"),
    ("nn.BCECriterion(torch.Tensor{1,2,3,4},false)", "torch.rand(3,4):mul(0.8):add(0.1)", "torch.rand(3,4)"),
    ("nn.SmoothL1Criterion()", "torch.randn(3,4):mul(2)", T),
    ("nn.ParallelCriterion():add(nn.MSECriterion(),0.5):add(nn.AbsCriterion())", PAIR, PAIR),
    ("nn.MultiCriterion():add(nn.MSECriterion(),0.5):add(nn.AbsCriterion())", T, T),
    *[
        (f"nn.{name}()", T, SIGNS)
        for name in ("SoftMarginCriterion", "MarginCriterion", "HingeEmbeddingCriterion")
    ],
    ("nn.HingeEmbeddingCriterion(2)", T, "-1"),
    ("nn.MultiMarginCriterion()", T, "torch.Tensor{1,4,2}"),
    ("nn.MultiMarginCriterion(2,torch.Tensor{1,2,3,4},0.5)", T, "torch.LongTensor{1,4,2}"),
    ("nn.MultiMarginCriterion()", V, "3"),
    ("nn.MultiLabelMarginCriterion()", T, "torch.Tensor{{1,3,0,2},{0,1,2,3},{4,1,2,0}}"),
    ("nn.MultiLabelMarginCriterion()", V, "torch.LongTensor{2,4,0,1}"),
    ("nn.MultiLabelSoftMarginCriterion()", T, "torch.rand(3,4):round()"),
    ("nn.MultiLabelSoftMarginCriterion(torch.Tensor{1,2,3,4})", T, "torch.rand(3,4)"),
    ("nn.DistKLDivCriterion()", T, "torch.rand(3,4)"),
    *[
        (f"nn.L1HingeEmbeddingCriterion({margin})", f"{{{V},{V}}}", y)
        for margin in ("", "10")
        for y in ("1", "-1")
    ],
    ("nn.L1Cost()", T, "nil"),
    *[
        (f"nn.MarginRankingCriterion({m})", f"{{{V},{V}}}", y)
        for m in ("", "0.1")
        for y in ("1", "-1", "torch.Tensor{1,-1,1,-1}")
    ],
    *[(f"nn.CosineEmbeddingCriterion({m})", f"{{{V},{V}}}", y) for m in ("", "-0.9") for y in ("1", "-1")],
    ("nn.CosineEmbeddingCriterion()", PAIR, "torch.Tensor{1,-1,-1}"),
    ("nn.DistanceRatioCriterion()", "{torch.rand(3,1),torch.rand(3,1)}", "nil"),
    ("nn.WeightedMSECriterion(torch.rand(3,4))", T, T),
    ("nn.WeightedMSECriterion(torch.rand(4))", T, T),
    ("nn.ClassSimplexCriterion(4)", T, "torch.Tensor{1,4,2}"),
    ("nn.ClassSimplexCriterion(4)", V, "3"),
    ("nn.SpatialAutoCropMSECriterion()", "torch.randn(2,3,3)", "torch.randn(2,5,6)"),
    ("nn.SpatialAutoCropMSECriterion(false)", "torch.randn(2,1,3,3)", "torch.randn(2,1,4,4)"),
    ("nn.SpatialClassNLLCriterion()", "torch.randn(2,3,2,2)", "torch.rand(2,2,2):mul(3):ceil()"),
    (
        "nn.SpatialClassNLLCriterion(torch.Tensor{1,2,3},false)",
        "torch.randn(2,3,2,2)",
        "torch.rand(2,2,2):mul(3):ceil()",
    ),
    ("nn.SpatialClassNLLCriterion(nil,true,2)", "torch.randn(2,3,2,2)", "torch.rand(2,2,2):mul(3):ceil()"),
    ("nn.ModuleCriterion(nn.MSECriterion(),nn.Tanh(),nn.Identity())", T, T),
]
