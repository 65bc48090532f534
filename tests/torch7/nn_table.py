"""The table of nn's names in docs/nn.md, made from the code and from the rows that the tests run over.

`python -m tests.torch7.nn_table` writes it. `test_nn_table.py` fails when the file is not what this makes, or when a
name has neither a test nor a reason why there is none.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import bridge
from tests.torch7 import nn_gradient_rows, nn_image_gradient_rows, nn_layer_rows, nn_loss_gradient_rows
from tests.torch7 import test_nn_criterions_equal_torch as criterions
from tests.torch7 import test_nn_functions_equal_torch as functions
from tests.torch7 import test_nn_images_equal_torch as images

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "torch7"
DOCUMENT = ROOT / "docs" / "nn.md"

BASE = dict.fromkeys(["Module", "Container", "Criterion"], "a base class")
DRAWS = dict.fromkeys(
    ["Dropout", "SpatialDropout", "VolumetricDropout", "WhiteNoise"], "draws its own numbers"
)

# Why a gradient is not compared with finite differences.
NO_GRADIENT = BASE | {
    "CriterionTable": "that of its criterion",
    "GradientReversal": "turned round on purpose",
    "Kmeans": "learns by its own rule",
    "L1Penalty": "has a penalty's added on purpose",
    "OneHot": "takes indices",
    "ZeroGrad": "stopped on purpose",
}
# Why there is nothing in torch to compare with.
NO_PEER = (
    BASE
    | DRAWS
    | dict.fromkeys(
        ["SpatialFractionalMaxPooling", "VolumetricFractionalMaxPooling"], "draws its own windows"
    )
    | dict.fromkeys(["IndexLinear", "SparseLinear"], "compared with nn.Linear")
    | dict.fromkeys(
        [
            *("ClassSimplexCriterion", "Copy", "CriterionTable", "GradientReversal", "Kmeans", "L1Penalty"),
            *("ModuleFromCriterion", "PartialLinear", "PrintSize", "SpatialContrastiveNormalization"),
            *(
                "SpatialDivisiveNormalization",
                "SpatialSubtractiveNormalization",
                "TemporalDynamicKMaxPooling",
            ),
            "ZeroGrad",
        ],
        "torch has none",
    )
    | {"LayerNormalization": "takes other means, as in Torch7"}
)


@dataclass(frozen=True)
class Name:
    """What is known of one module or criterion; a text says why there is no test."""

    name: str
    exists: bool
    truth: bool
    gradient: bool | str
    peer: bool | str
    converts: bool | None


def listed() -> tuple[list[str], list[str]]:
    """Return Torch7's modules and criterions, as a real one listed them."""
    text = (DATA / "API.txt").read_text()
    kinds = ("nn modules", "nn criterions")
    modules, losses = (re.search(rf"^## {kind} \(\d+\)\n(.*)$", text, re.MULTILINE) for kind in kinds)
    assert modules
    assert losses
    return modules[1].split(), losses[1].split()


def constructed(constructors: Iterable[str]) -> set[str]:
    """Return the classes that these expressions make: the outermost of each."""
    return {match[1] for text in constructors if (match := re.match(r"(?:nn\.)?(\w+)", text))}


def existing() -> set[str]:
    """Return the names that nn has and that can be constructed or derived from."""
    with bridge.Lua() as lua:
        lua.require("nngraph")
        names = lua.execute(
            "local names = {} for name, value in pairs(nn) do "
            "if type(value) == 'table' and value.__init then names[#names + 1] = name end end return names"
        )
        return set(names)


def compared_with_torch7() -> set[str]:
    """Return the classes whose numbers, from a seed on, are compared with those of a real Torch7."""
    files = [json.loads(path.read_text()) for path in sorted(DATA.glob("nn*.json"))]
    return constructed(
        entry["ctor"] for file in files for kind in ("modules", "criterions") for entry in file.get(kind, [])
    )


def gradient_checked() -> set[str]:
    """Return the classes whose gradients are compared with finite differences."""
    tables = (
        nn_gradient_rows.MODULES,
        nn_gradient_rows.PARTLY,
        nn_image_gradient_rows.MODULES,
        nn_loss_gradient_rows.LOSSES,
    )
    return constructed(row[0] for table in tables for row in table)


def compared_with_torch() -> set[str]:
    """Return the classes that are compared with torch, or with an expression of it."""
    tables = (criterions.LOSSES, functions.ACTIVATIONS, images.ROWS, images.UNPOOLING, nn_layer_rows.ROWS)
    return constructed(row[0] for table in tables for row in table)


def convertible(names: Iterable[str]) -> set[str] | None:
    """Return the classes that `bridge.to_torch` has a conversion for; None without a converter."""
    if not importlib.util.find_spec("bridge.convert"):
        return None
    rows = importlib.import_module("bridge.convert.rows")
    return {name for name in names if rows.row(f"nn.{name}")}


def table() -> list[Name]:
    """Return a row for each name of Torch7's nn."""
    names = [name for kind in listed() for name in kind]
    there, truth, checked, peers = (
        existing(),
        compared_with_torch7(),
        gradient_checked(),
        compared_with_torch(),
    )
    converted = convertible(names)

    def tested(name: str, done: set[str], reasons: Mapping[str, str]) -> bool | str:
        return name in done or reasons.get(name, False)

    return [
        Name(
            name=name,
            exists=name in there,
            truth=name in truth,
            gradient=tested(name, checked, NO_GRADIENT),
            peer=tested(name, peers, NO_PEER),
            converts=None if converted is None else name in converted,
        )
        for name in names
    ]


def cell(value: bool | str) -> str:
    return value if isinstance(value, str) else "yes" if value else "-"


def document(rows: list[Name]) -> str:
    """Return docs/nn.md."""
    headings = ["name", "exists", "gradient", "equals torch", "Torch7's numbers"]
    cells = [
        [row.name, cell(row.exists), cell(row.gradient), cell(row.peer), cell(row.truth)] for row in rows
    ]
    if rows[0].converts is not None:
        headings.append("converts")
        for line, row in zip(cells, rows, strict=True):
            line.append(cell(bool(row.converts)))
    modules, losses = (len(kind) for kind in listed())
    counts = [sum(line[i] == "yes" for line in cells) for i in range(1, len(headings))]
    done = ", ".join(f"{heading}: {count}" for heading, count in zip(headings[1:], counts, strict=True))
    text = f"""# The names of nn

Made by `python -m tests.torch7.nn_table` from the code and from the rows of its tests; a test compares.

Torch7's nn has {modules} modules and {losses} criterions. Of these {modules + losses}:
{done}.

A cell that does not say yes says why, or has a `-` where there is nothing to compare with.

* **exists**: a class of that name.
* **gradient**: what `backward` gives, for the input and for the parameters, is within 1e-7 of finite differences.
* **equals torch**: output and all gradients are those of `torch.nn`, or of an expression in torch, in float and double.
* **Torch7's numbers**: weights drawn from a seed, output, gradients and printed text are those that a real
  Torch7 wrote, for the names that it wrote any of.
"""
    if rows[0].converts is not None:
        text += "* **converts**: `bridge.to_torch` makes a module of PyTorch of it; what does not stays a Lua layer.\n"
    lines = [headings, ["---"] * len(headings), *cells]
    return text + "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(document(table()))
