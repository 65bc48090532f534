"""Converted models as files that need no Moontide to read: `.pt`, `.pt2`, `.safetensors`, `.onnx`.

An old file is replaced only when the new one is complete.
"""

from __future__ import annotations

import copy
import importlib
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from bridge.convert.check import difference
from bridge.t7.replace import replacing

WRONG = 1e-2  # relative difference too large for rounding: the program computes something else


class ExportError(RuntimeError):
    """A model cannot be written in a format; the message says why and what to do."""


def save(
    module: nn.Module, file: str | os.PathLike[str], x: Any, opened: Any = None
) -> list[list[int | None]] | None:
    """Write a model in the format of the file name's suffix.

    ================ ====================================================================================
    .pt              the `state_dict`, for `torch.load(file, weights_only=True)`; the layers come from
                     `bridge.to_torch`, or from classes of your own with the same names
    .pt2             an exported program: `torch.export.load(file).module()` computes without Moontide
    .safetensors     the parameters by the names of the `state_dict`; shared ones once
    .onnx            the graph; doubles become floats, since runtimes have few kernels for doubles
    ================ ====================================================================================

    Parameters
    ----------
    module : Module
        A model in evaluation mode.
    file : path
        Where to write.
    x : Tensor or list of Tensor
        An example input.
    opened : set of int, or list of them, optional
        For each tensor, the dimensions whose sizes may vary in `.pt2` and `.onnx` if the model allows it; by default
        the first.

    Returns
    -------
    list of lists, or None
        The shape of each input tensor of the program or graph, with None for a size that may vary. None for a file with
        only parameters.

    Raises
    ------
    ExportError
        The suffix is unknown, a package is missing (the message has the command that installs it), or the model cannot
        be traced, for example because of layers that run in Lua.
    OSError
        The file cannot be written; an old file is unchanged.
    """
    write, _ = _format(file)
    with replacing(file) as temporary:
        return write(module, temporary, x, opened)


def verify(module: nn.Module, file: str | os.PathLike[str], x: Any) -> float | None:
    """Return the difference between a written file and the model: of their outputs, or of their parameters.

    Parameters
    ----------
    module, file, x
        As in `save`.

    Returns
    -------
    float or None
        The largest difference, relative to the largest number; None if onnxruntime is needed and not installed.
    """
    _, read = _format(file)
    return read(module, Path(file), x)


def proven(
    module: nn.Module, file: str | os.PathLike[str], x: Any, taken: list[list[int | None]]
) -> list[list[int | None]]:
    """Return the shapes that a file takes, after testing them: tracers may let a size vary that the model fixes.

    Parameters
    ----------
    module, file, x
        As in `save`.
    taken : list of lists
        The result of `save`.
    """
    tensors = [x] if isinstance(x, Tensor) else list(x)
    found = [list(sizes) for sizes in taken]
    for dim in sorted({d for sizes in taken for d, size in enumerate(sizes) if size is None}):
        larger = [
            torch.cat([tensor, tensor.narrow(dim, 0, 1)], dim)
            if dim < len(sizes) and sizes[dim] is None
            else tensor
            for tensor, sizes in zip(tensors, taken, strict=True)
        ]
        try:
            with torch.no_grad():
                module(larger[0] if isinstance(x, Tensor) else larger)
            difference_there = verify(module, file, larger[0] if isinstance(x, Tensor) else larger)
            holds = difference_there is None or difference_there < WRONG
        except (
            Exception
        ):  # layers, torch's programs and other runtimes raise different errors for wrong sizes
            holds = False
        if not holds:
            for tensor, sizes in zip(tensors, found, strict=True):
                if dim < len(sizes) and sizes[dim] is None:
                    sizes[dim] = tensor.shape[dim]
    return found


def _format(file: str | os.PathLike[str]) -> tuple[Write, Read]:
    ending = Path(file).suffix
    if ending not in FORMATS:
        raise ExportError(f"{os.fspath(file)}: the name ends with none of {', '.join(FORMATS)}")
    return FORMATS[ending]


def _package(name: str, extra: str) -> Any:
    """Import an optional package."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ExportError(f"the package {name} is missing: pip install 'moontide[{extra}]'") from error


def _write_state(module: nn.Module, file: Path, x: Any, opened: Any) -> None:
    del x, opened
    torch.save(module.state_dict(), file)


def _read_state(module: nn.Module, file: Path, x: Any) -> float:
    del x
    return _largest(module.state_dict(), torch.load(file, weights_only=True))


def _write_tensors(module: nn.Module, file: Path, x: Any, opened: Any) -> None:
    del x, opened
    _package("safetensors.torch", "safetensors").save_model(module, str(file))


def _read_tensors(module: nn.Module, file: Path, x: Any) -> float:
    del x
    package = _package("safetensors.torch", "safetensors")
    other = copy.deepcopy(module)
    with torch.no_grad():
        for tensor in other.state_dict().values():
            tensor.zero_()
    package.load_model(other, str(file))
    return _largest(module.state_dict(), other.state_dict())


def _largest(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> float:
    if ours.keys() != theirs.keys():
        return float("inf")
    return max((difference(theirs[name].detach(), ours[name].detach()) for name in ours), default=0.0)


def _write_program(module: nn.Module, file: Path, x: Any, opened: Any) -> list[list[int | None]]:
    with _quiet(), _traced("torch.export"):
        program = torch.export.export(module, (x,), dynamic_shapes=(_open(x, opened),))
        torch.export.save(program, file)
    names = set(program.graph_signature.user_inputs)
    nodes = [node for node in program.graph.nodes if node.op == "placeholder" and node.name in names]
    return [[size if isinstance(size, int) else None for size in node.meta["val"].shape] for node in nodes]


def _read_program(module: nn.Module, file: Path, x: Any) -> float:
    with _quiet(), torch.no_grad():
        return difference(torch.export.load(file).module()(x), module(x))


def _write_graph(module: nn.Module, file: Path, x: Any, opened: Any) -> list[list[int | None]]:
    onnx = _package("onnx", "onnx")
    _package("onnxscript", "onnx")
    with _quiet(), _traced("torch.onnx"):
        torch.onnx.export(
            copy.deepcopy(module).float(),
            (_floats(x),),
            file,
            dynamo=True,
            external_data=False,
            dynamic_shapes=(_open(x, opened),),
            verbose=False,
        )
    graph = onnx.load(str(file), load_external_data=False).graph
    shapes = [given.type.tensor_type.shape.dim for given in graph.input]
    return [[size.dim_value if size.HasField("dim_value") else None for size in shape] for shape in shapes]


def _read_graph(module: nn.Module, file: Path, x: Any) -> float | None:
    try:
        runtime = importlib.import_module("onnxruntime")
    except ImportError:
        return None
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    inputs = [_floats(x)] if isinstance(x, Tensor) else [_floats(tensor) for tensor in x]
    names = [given.name for given in session.get_inputs()]
    outputs = session.run(None, dict(zip(names, (tensor.numpy() for tensor in inputs), strict=True)))
    found = [torch.from_numpy(output) for output in outputs]
    with torch.no_grad():
        expected = module(x)
    return difference(found[0] if isinstance(expected, Tensor) else found, expected)


def _floats(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.float() if x.is_floating_point() else x
    return [_floats(inner) for inner in x]


def _open(x: Any, opened: Any) -> Any:
    """Return the dynamic shapes of an input."""
    if isinstance(x, Tensor):
        return dict.fromkeys(sorted(opened or {0}), torch.export.Dim.AUTO)
    return [_open(inner, None if opened is None else opened[place]) for place, inner in enumerate(x)]


@contextmanager
def _traced(what: str) -> Iterator[None]:
    """Turn all errors of a tracer into ExportError."""
    try:
        yield
    except (OSError, ExportError):
        raise
    except Exception as error:
        first = str(error).strip().split("\n", 1)[0]
        raise ExportError(
            f"{what} cannot follow the model ({type(error).__name__}: {first:.300}): .pt and .safetensors hold its "
            "parameters without following it"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress messages for torch's developers while it traces."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


Write = Callable[[nn.Module, Path, Any, Any], list[list[int | None]] | None]
Read = Callable[[nn.Module, Path, Any], float | None]
FORMATS: Mapping[str, tuple[Write, Read]] = {
    ".pt": (_write_state, _read_state),
    ".pt2": (_write_program, _read_program),
    ".safetensors": (_write_tensors, _read_tensors),
    ".onnx": (_write_graph, _read_graph),
}
