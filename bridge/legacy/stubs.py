"""Writes `nn.pyi` from the table of classes, for editors and type checkers.

`python -m bridge.legacy.stubs > bridge/legacy/nn.pyi`, then `ruff format` it.
"""

from __future__ import annotations

import inspect
import sys

from bridge.legacy import modules, positions

HEAD = """\
# Written by bridge/legacy/stubs.py.
# ruff: noqa: A002
from typing import Any

from bridge.legacy.graph import Node as Node
"""
# The types of parameters by name, for names that mean the same in every class; others may have any type.
TYPES = {
    "bool": "affine batch_mode bias castin castout castTarget doGradInput dontCast featFirst forceCopy inplace ip "
    "provideOutput repeatTarget scalar shared sizeAverage squeeze stochasticInference trans transA transB v1",
    "float": "alpha beta constant_scalar eps factor k l l1weight lam lambda_ margin max_value maxNorm mean min_value "
    "momentum negval normType p pnorm power std th threshold thresval u v",
    "int": "adjH adjT adjW dH dT dW dilationH dilationT dilationW dim dimension H iH iW ignoreIndex inputDimension "
    "inputFrameSize inputSize inputSize1 inputSize2 inputsize kH kT kW keysOffset length maxoutNumber minK nClasses "
    "nIndex nInputDim nInputDims nInputPlane nOutput nOutputDim nOutputPlane ndim nf numInputDims offset outH outT "
    "outW outputDim outputDimension outputFrameSize outputSize outputsize padH padT padW pad_b pad_l pad_r pad_t "
    "paddingValue pback pbottom pfront pleft poolSizeH poolSizeT poolSizeW pright ptop upscaleFactor W width",
}
TYPE_OF = {name: kind for kind, names in TYPES.items() for name in names.split()}


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return f"*{parameter.name}: Any"
    kind = TYPE_OF.get(parameter.name, "Any")
    if parameter.default is inspect.Parameter.empty:
        return f"{parameter.name}: {kind}"
    return f"{parameter.name}: {kind if kind == 'Any' else kind + ' | None'} = ..."


def stub() -> str:
    """Return the text of the stub: the classes of the table, parents first, and the namespaces."""
    lines = [HEAD.rstrip()]
    lines += [
        f"from bridge.legacy.modules import {name} as {name}"
        for name in sorted({*modules.WRITTEN, "Namespace"})
    ]
    lines.append("")
    written = {"", *modules.WRITTEN}
    waiting = [row for row in positions.rows().values() if row.name not in written]
    while waiting:
        ready = [row for row in waiting if row.parent in written]
        for row in ready:
            given = ", ".join(["self", *map(_parameter, row.form.signature.parameters.values())])
            lines += [f"class {row.name}({row.parent}):", f"    def __init__({given}) -> None: ...", ""]
        written |= {row.name for row in ready}
        waiting = [row for row in waiting if row.name not in written]
    lines += [f"{name}: Namespace" for name in modules.NAMESPACES]
    lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(stub())
