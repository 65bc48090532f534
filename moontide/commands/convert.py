"""Convert a Torch7 model to PyTorch or ONNX, and compare both on random input before anything is written.

The ending of OUTPUT chooses the format: .pt (a state_dict), .pt2 (a program that torch.export.load reads, without
Moontide), .safetensors (parameters), .onnx (a graph). The status is 1 when outputs differ by more than the tolerance;
then no file is written, or the one that was there stays.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from moontide.errors import CommandError
from moontide.extras import need
from moontide.table import aligned

if TYPE_CHECKING:
    from bridge.convert.check import LayerReport

HELP = "convert a .t7 model to PyTorch or ONNX, checked"
SETTINGS_WIDTH = 60  # characters of a layer's settings in the report
ENDINGS = (".pt", ".pt2", ".safetensors", ".onnx")
EXTRAS = {".onnx": "onnx", ".safetensors": "safetensors"}  # what an ending needs beside torch


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the files, the input, and what is allowed."""
    parser.add_argument("model", type=Path, help="a file that torch.save of Torch7 wrote")
    parser.add_argument("output", type=destination, help=f"the file to write: {', '.join(ENDINGS)}")
    parser.add_argument(
        "--input",
        type=sizes,
        action="append",
        default=[],
        metavar="1x3x32x32",
        help="the size of the input, once for each tensor of a table; by default what the first layer takes",
    )
    parser.add_argument("--key", help="the model's key, where the file holds a table with several networks")
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


def sizes(text: str) -> tuple[int, ...]:
    """Return the sizes in 1x3x32x32."""
    parts = text.lower().split("x")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(f"expected sizes above 0 such as 1x3x32x32, got {text}")
    return tuple(int(part) for part in parts)


def run(arguments: argparse.Namespace) -> int:
    """Convert, check, write, and check what was written."""
    if arguments.output.suffix in EXTRAS:
        need(EXTRAS[arguments.output.suffix])
    import bridge
    from bridge.convert import ConversionError, convert
    from bridge.convert.check import TOLERANCES, check
    from bridge.convert.example import UnknownInput, example
    from bridge.convert.export import ExportError, save, verify
    from bridge.convert.source import network

    if not arguments.model.is_file():
        raise CommandError(f"there is no file {arguments.model}")
    with bridge.Lua(tensors="torch") as lua:
        lua.require("nngraph")
        try:
            net = network(lua.eval("torch.load(...)", str(arguments.model)), arguments.key)
            conversion = convert(net, base=arguments.base)
            module = conversion.module.eval()
            x = example(
                module, arguments.input, dtype=conversion.dtype, seed=arguments.seed, base=arguments.base
            )
            layers = check(conversion, x)
        except (bridge.LuaError, ConversionError, UnknownInput, ValueError, TypeError, RuntimeError) as error:
            raise CommandError(f"{arguments.model}: {error}") from error
        allowed = TOLERANCES[conversion.dtype] if arguments.tolerance is None else arguments.tolerance
        whole = layers[0].difference
        passed = whole is not None and whole <= allowed
        written: float | None = None
        if passed:
            try:
                save(module, arguments.output, x)
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
            "base": arguments.base,
            "layers": [asdict(layer) for layer in layers],
        }
    print(json.dumps(report, indent=2) if arguments.json else text(report, layers))
    return 0 if passed else 1


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
    if report["output"] is None:
        lines.append("nothing was written")
    elif report["difference_of_file"] is None:
        lines.append(f"wrote {report['output']}; not run, for onnxruntime is not installed")
    else:
        lines.append(f"wrote {report['output']}; read back: difference {report['difference_of_file']:.1e}")
    return "\n".join(lines)
