"""Losses as criterions of Torch7, whose classes count from 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from bridge.convert import torch_modules
from bridge.convert.criterions import OneBased
from bridge.convert.lua_builder import Builder, Row, need, refused


def loss(lua_name: str) -> Row:
    """Return the row of a criterion that is a mean or a sum."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        if module.reduction not in ("mean", "sum"):
            raise refused(
                module, name, f"reduction={module.reduction!r}, where 'mean' and 'sum' have counterparts"
            )
        weight = getattr(module, "weight", None)
        made = builder.nn[lua_name](*([] if weight is None else [weight]))
        made.sizeAverage = module.reduction == "mean"
        return made

    return row


def smooth(builder: Builder, module: nn.SmoothL1Loss, name: str) -> Any:
    """Make a loss that is square near zero."""
    need(module, name, beta=1)
    return loss("SmoothL1Criterion")(builder, module, name)


def loss_of_classes(lua_name: str) -> Row:
    """Return the row of a criterion of classes, which count from 1 in Lua."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        if module.reduction not in ("mean", "sum") or getattr(module, "label_smoothing", 0.0) != 0:
            raise refused(
                module, name, "only reduction='mean' or 'sum' without label_smoothing has a counterpart"
            )
        made = builder.nn[lua_name](*([] if module.weight is None else [module.weight]))
        inner = made.nll if isinstance(module, nn.CrossEntropyLoss) else made
        inner.sizeAverage = module.reduction == "mean"
        inner.ignoreIndex = module.ignore_index + 1
        return made

    return row


def margins(builder: Builder, module: nn.MultiMarginLoss, name: str) -> Any:
    """Make a margin between the target's class and the others."""
    if module.reduction not in ("mean", "sum"):
        raise refused(module, name, f"reduction={module.reduction!r}: use 'mean' or 'sum'")
    made = builder.nn.MultiMarginCriterion(module.p, module.weight, module.margin)
    made.sizeAverage = module.reduction == "mean"
    return made


def counted(builder: Builder, module: OneBased, name: str) -> Any:
    """Make the criterion inside: in Lua classes count from 1 anyway."""
    return builder.made(module.criterion, name)


ROWS: Mapping[type[nn.Module], Row] = {
    OneBased: counted,
    torch_modules.SpatialNLLLoss: loss_of_classes("SpatialClassNLLCriterion"),
    nn.BCELoss: loss("BCECriterion"),
    nn.CrossEntropyLoss: loss_of_classes("CrossEntropyCriterion"),
    nn.L1Loss: loss("AbsCriterion"),
    nn.MSELoss: loss("MSECriterion"),
    nn.MultiMarginLoss: margins,
    nn.NLLLoss: loss_of_classes("ClassNLLCriterion"),
    nn.SmoothL1Loss: smooth,
    nn.SoftMarginLoss: loss("SoftMarginCriterion"),
}
