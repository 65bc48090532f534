"""Convert a Torch7 model to PyTorch or ONNX, and compare both on random input before anything is written.

The ending of OUTPUT chooses the format: .pt (a state_dict), .pt2 (a program that torch.export.load reads, without
Moontide), .safetensors (parameters), .onnx (a graph). The status is 1 when outputs differ by more than the tolerance;
then no file is written, or the one that was there stays.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from moontide.errors import CommandError
from moontide.extras import need
from moontide.options import files
from moontide.progress import Progress
from moontide.table import aligned

if TYPE_CHECKING:
    from bridge.convert.check import LayerReport

HELP = "convert a .t7 model to PyTorch or ONNX, checked"
SETTINGS_WIDTH = 60  # characters of a layer's settings in the report
ENDINGS = (".pt", ".pt2", ".safetensors", ".onnx")
TYPES = (
    *("half", "float", "double", "byte", "char", "short", "int", "long"),
    *("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64"),
)
EXTRAS = {".onnx": "onnx", ".safetensors": "safetensors"}  # what an ending needs beside torch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the files, the input, and what is allowed."""
    files(parser.add_argument("model", type=Path, help="a file that torch.save of Torch7 wrote"))
    files(parser.add_argument("output", type=destination, help=f"the file to write: {', '.join(ENDINGS)}"))
    parser.add_argument(
        "--input",
        type=tensor,
        action="append",
        default=[],
        metavar="1x3x32x32",
        help="the sizes of the input, ? for one that stays open, with a type if it is not the model's: "
        "?x50:long; once for each tensor of a table; by default what the first layer takes",
    )
    parser.add_argument("--key", help="the place of the model in the file's tables, such as protos.rnn")
    parser.add_argument(
        "--base",
        type=int,
        choices=(0, 1),
        default=0,
        help="what indices count from in the result (%(default)s)",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="X",
        help="allowed relative difference (1e-4 for floats, 1e-9 for doubles)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random input (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def destination(text: str) -> Path:
    """Return a path with a known ending."""
    path = Path(text)
    if path.suffix not in ENDINGS:
        raise argparse.ArgumentTypeError(f"{text} ends with none of {', '.join(ENDINGS)}")
    return path


def tensor(text: str) -> tuple[tuple[int | None, ...], str | None]:
    """Return the sizes in 1x3x32x32 or ?x4:long, None for an open one, and the type's name."""
    sizes, _, dtype = text.lower().partition(":")
    parts = sizes.split("x")
    if not all(part == "?" or (part.isdecimal() and int(part) > 0) for part in parts):
        raise argparse.ArgumentTypeError(
            f"expected sizes above 0 such as 1x3x32x32, or ? for one that stays open, got {text}"
        )
    if dtype and dtype not in TYPES:
        raise argparse.ArgumentTypeError(f"{dtype!r} is no type: one of {', '.join(TYPES)} was expected")
    return tuple(None if part == "?" else int(part) for part in parts), dtype or None


def run(arguments: argparse.Namespace) -> int:
    """Convert, check, write, and check what was written."""
    if arguments.output.suffix in EXTRAS:
        need(EXTRAS[arguments.output.suffix])
    import bridge
    from bridge import t7
    from bridge.convert import ConversionError, convert
    from bridge.convert.check import TOLERANCES, check
    from bridge.convert.example import DTYPES, Asked, UnknownInput, example, opened
    from bridge.convert.export import ExportError, proven, save, verify
    from bridge.t7.networks import network

    if not arguments.model.is_file():
        raise CommandError(f"there is no file {arguments.model}")
    try:
        t7.inspect(arguments.model)  # what is no Torch7 file, or a damaged one, is said in one line
    except (OSError, t7.T7Error) as error:
        raise CommandError(str(error)) from error
    asked = [Asked(sizes, None if dtype is None else DTYPES[dtype]) for sizes, dtype in arguments.input]
    with Progress() as progress, bridge.Lua(tensors="torch") as lua:
        lua.require("nngraph")
        try:
            progress.tell(f"reading {arguments.model}")
            net = network(lua.eval("torch.load(...)", str(arguments.model)), arguments.key)
            progress.tell("converting")
            conversion = convert(net, base=arguments.base)
            module = conversion.module.eval()
            with contextlib.redirect_stderr(
                io.StringIO()
            ):  # torch.fx prints where a graph failed, guesses too
                x = example(module, asked, dtype=conversion.dtype, seed=arguments.seed, base=arguments.base)
                wanted = opened(module, asked, x)
                try:
                    layers = check(conversion, x, told=comparing(progress))
                except (AttributeError, IndexError) as error:  # a tensor for a table, or too few of them
                    raise CommandError(
                        f"{arguments.model}: the model does not take an input of {described(x)} "
                        f"({first_line(error)}): give --input once for each tensor that it takes"
                    ) from error
        except (bridge.LuaError, ConversionError, UnknownInput, ValueError, TypeError, RuntimeError) as error:
            raise CommandError(f"{arguments.model}: {first_line(error)}") from error
        allowed = TOLERANCES[conversion.dtype] if arguments.tolerance is None else arguments.tolerance
        whole = layers[0].difference
        passed = whole is not None and whole <= allowed
        written: float | None = None
        taken: list[list[int | None]] | None = None
        if passed:
            progress.tell(f"writing {arguments.output}")
            try:
                taken = save(module, arguments.output, x, wanted)
                taken = None if taken is None else proven(module, arguments.output, x, taken)
                progress.tell(f"checking {arguments.output}")
                written = verify(module, arguments.output, x)
            except (ExportError, OSError) as error:
                raise CommandError(str(error)) from error
            # ONNX has floats only
            rounding = max(allowed, 1e-4) if arguments.output.suffix == ".onnx" else allowed
            passed = written is None or written <= rounding
        report = {
            "model": str(arguments.model),
            "output": str(arguments.output) if whole is not None and whole <= allowed else None,
            "passed": passed,
            "tolerance": allowed,
            "difference": whole,
            "difference_of_file": written,
            "dtype": str(conversion.dtype).removeprefix("torch."),
            "input": shapes(x),
            "takes": taken,
            "frozen": frozen(taken, wanted),
            "base": arguments.base,
            "layers": [asdict(layer) for layer in layers],
        }
    print(json.dumps(report, indent=2) if arguments.json else text(report, layers))
    return 0 if passed else 1


def comparing(progress: Progress) -> Callable[[int, int], None]:
    """Return what tells which layer is compared."""
    return lambda done, count: progress.tell(f"comparing layer {done + 1} of {count}")


def first_line(error: Exception) -> str:
    """Return what an error says first; the rest is of use to those who wrote the model."""
    return str(error).strip().partition("\n")[0]


def described(x: Any) -> str:
    """Return the sizes of an input in words."""
    if not isinstance(x, list):
        return f"one tensor of {list(x.shape)}"
    return f"{len(x)} tensors of {', '.join(str(list(one.shape)) for one in x)}"


def frozen(taken: list[list[int | None]] | None, wanted: Any) -> list[list[int]]:
    """Return the input and the dimension, from 0, of each size that was to stay open and did not."""
    if taken is None:
        return []
    opened = [wanted] if isinstance(wanted, frozenset) else list(wanted)
    return [
        [place, dim]
        for place, (sizes, dims) in enumerate(zip(taken, opened, strict=True))
        for dim in sorted(dims)
        if sizes[dim] is not None
    ]


def shapes(x: Any) -> list[Any]:
    """Return the sizes of a tensor, or of the tensors of a list."""
    return [shapes(inner) for inner in x] if isinstance(x, list) else list(x.shape)


def text(report: dict[str, Any], layers: Sequence[LayerReport]) -> str:
    """Return the report as a table and a verdict."""
    rows = [("layer", "Torch7", "PyTorch", "parameters", "difference")]
    for layer in layers:
        settings = shorten(layer.settings, SETTINGS_WIDTH, placeholder=" ...")
        shown = f"{layer.layer}({settings})" if settings else layer.layer
        difference = "not run" if layer.difference is None else f"{layer.difference:.1e}"
        kind = f"{shown} in Lua" if layer.wrapped else shown
        rows.append((layer.name or "(model)", layer.typename, kind, f"{layer.parameters:,}", difference))
    lines = aligned(rows, numbers=2)
    wrapped = sum(layer.wrapped for layer in layers)
    if wrapped:
        lines.append(f"{wrapped} layers have no counterpart in PyTorch and still run in Lua")
    verdict = "passed" if report["passed"] else "FAILED"
    found = (
        "the model did not run" if report["difference"] is None else f"difference {report['difference']:.1e}"
    )
    lines.append(f"check {verdict}: {found}, {report['tolerance']:.0e} allowed, on input {report['input']}")
    if report["takes"] is not None:
        sizes = ["x".join("?" if size is None else str(size) for size in shape) for shape in report["takes"]]
        lines.append(f"takes {', '.join(sizes)}, of any size where a ? stands")
    for place, dim in report["frozen"]:
        size = report["takes"][place][dim]
        lines.append(
            f"WARNING: size {dim} of input {place} (counted from 0) is frozen at {size}, which the model's layers fix; "
            "--input gives another"
        )
    if report["output"] is None:
        lines.append("nothing was written")
    elif report["difference_of_file"] is None:
        lines.append(f"wrote {report['output']}; not run, for onnxruntime is not installed")
    else:
        lines.append(f"wrote {report['output']}; read back: difference {report['difference_of_file']:.1e}")
    return "\n".join(lines)
