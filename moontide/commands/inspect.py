"""Print what a Torch7 file holds: layers, shapes, types, parameters, memory. Reads no data and runs no code.

A file without a network is shown as a tree of tables; `--tree` shows any file so.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from moontide.errors import CommandError
from moontide.options import files
from moontide.table import aligned

if TYPE_CHECKING:
    from bridge.t7 import Summary
    from bridge.t7.layers import LayerSummary

WIRING_WIDTH = 60  # characters of a line with classes and their numbers
HELP = "print the layers, shapes and sizes in a .t7 file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the file and how it is shown."""
    files(parser.add_argument("file", type=Path, help="a file that torch.save of Torch7 wrote"))
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--tree", action="store_true", help="print every table and tensor, not only layers")
    parser.add_argument(
        "--key", help="only the network at this place of the file's tables, such as protos.rnn"
    )
    parser.add_argument("--depth", type=int, default=8, help="levels that are shown (%(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Print the description."""
    from bridge import t7
    from bridge.t7.layers import layers

    try:
        summary = t7.inspect(arguments.file)
        every = layers(summary, arguments.key)
    except (OSError, t7.T7Error) as error:
        raise CommandError(str(error)) from error
    except KeyError as error:
        raise CommandError(f"{arguments.file}: {error.args[0]}") from None
    found = [layer for layer in every if layer.depth <= arguments.depth]
    if arguments.key is not None and not every:
        raise CommandError(f"{arguments.file}: {arguments.key} is no network; --tree shows what it is")
    if arguments.json:
        print(json.dumps(described(summary, found), indent=2))
    elif arguments.tree or not found:
        print(summary.text(depth=arguments.depth))
    else:
        print(table(summary, found))
    return 0


def graphs(layers: list[LayerSummary]) -> Iterator[str | None]:
    """Return for each layer the name of the nn.gModule that it is directly inside of, or None."""
    named = {layer.name: layer.typename for layer in layers}
    for layer in layers:
        outer = layer.name.rpartition(".")[0]
        yield outer if layer.depth and named.get(outer) == "nn.gModule" else None


Plain = dict[
    str, tuple[int, Counter[str]]
]  # by graph: how deep its layers are, and how many of each class there are


def wiring(plain: Plain, before: LayerSummary | None = None) -> list[tuple[str, str, str, str, str]]:
    """Return and forget the lines of the graphs that end before a layer (or with the last one)."""
    rows = []
    for graph in [one for one in plain if before is None or not before.name.startswith(f"{one}.")]:
        depth, counts = plain.pop(graph)
        # a number and its class stay on one line
        kinds = ", ".join(f"{count}\0{name.removeprefix('nn.')}" for name, count in sorted(counts.items()))
        head = ("  " * depth + "...", f"{counts.total()} without tensors")
        for line in wrap(kinds, WIRING_WIDTH):
            rows.append((*head, line.replace("\0", " "), "", ""))
            head = ("", "")
    return rows


def described(summary: Summary, layers: list[LayerSummary]) -> dict[str, Any]:
    """Return the description as what JSON has."""
    return {
        "file": summary.file,
        "file_bytes": summary.file_bytes,
        "data_bytes": summary.data_bytes,
        "tensors": summary.tensors,
        "storages": summary.storages,
        "functions": summary.functions,
        "parameters": summary.parameters,
        "classes": summary.classes,
        "layers": [
            {
                "name": layer.name,
                "class": layer.typename,
                "depth": layer.depth,
                "parameters": layer.parameters,
                "bytes": layer.nbytes,
                "again": layer.again,
                "settings": {key: _finite(value) for key, value in layer.settings.items()},
                "tensors": {
                    key: {"type": tensor.typename, "shape": list(tensor.shape)}
                    for key, tensor in layer.tensors.items()
                },
            }
            for layer in layers
        ],
    }


def _finite(value: Any) -> Any:
    """Return a number that JSON has a form for; infinities and NaNs as text."""
    return value if not isinstance(value, float) or abs(value) < float("inf") else str(value)


def table(summary: Summary, layers: list[LayerSummary]) -> str:
    """Return the layers as text, a line for each."""
    rows = [("layer", "class", "tensors", "parameters", "bytes")]
    plain: Plain = {}
    for layer, graph in zip(layers, graphs(layers), strict=True):
        if graph is not None and not layer.tensors:  # wiring: only how many of each there are
            plain.setdefault(graph, (layer.depth, Counter()))[1][layer.typename] += 1
            continue
        rows += wiring(plain, layer)
        tensors = ", ".join(
            f"{key} {'x'.join(map(str, tensor.shape))}" for key, tensor in layer.tensors.items()
        )
        own = layer.name if layer.depth == 0 else layer.name.rsplit(".", 1)[-1]
        name = "  " * layer.depth + (own or "(model)")
        mark = " (as above)" if layer.again else ""
        numbers = (f"{layer.parameters:,}", f"{layer.nbytes:,}") if layer.tensors else ("", "")
        rows.append((name, layer.typename + mark, tensors, *numbers))
    lines = aligned(rows + wiring(plain), numbers=2)
    types = sorted({tensor.typename for layer in layers for tensor in layer.tensors.values()})
    foot = (
        f"{summary.parameters:,} parameters of {', '.join(types) or 'no type'}; {summary.data_bytes:,} bytes of data "
        f"in {summary.storages} storages; the file has {summary.file_bytes:,} bytes"
    )
    if summary.functions:
        foot += f"; {summary.functions} functions, which are never run"
    return "\n".join([*lines, foot])
