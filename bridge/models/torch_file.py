"""Loading files that `moontide convert` writes for PyTorch: a program (.pt2), or parameters (.pt) for a .t7 network.

Only tensors are read from a .pt file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bridge import t7
from bridge.lua import Lua
from bridge.models import layers, torch7_file
from bridge.models.model import Model, TensorSpec
from bridge.t7.networks import network as network_of


def load(
    lua: Lua,
    path: Path,
    *,
    function: str | None,
    key: str | None,
    network: str | os.PathLike[str] | None,
    device: str,
) -> Model:
    """Load the program, or the network with the file's parameters."""
    if function not in (None, "forward"):
        raise ValueError(f"{path} has one function, 'forward'; {function!r} was asked for")
    inputs: tuple[TensorSpec, ...] | None
    if path.suffix == ".pt2":
        module, inputs = program(path)
    else:
        module, inputs = parameters(lua, path, network, key)
    module = module.to(device)
    return Model(
        file=str(path),
        platform="torch",
        functions={"forward": calling(module, inputs, device)},
        parameters={"forward": [one.name for one in inputs] if inputs else ["..."]},
        default="forward",
        inputs=inputs,
        by_row=True,
    )


def program(path: Path) -> tuple[Any, tuple[TensorSpec, ...]]:
    """Return the module of a .pt2 file and its inputs."""
    import torch

    try:
        exported = torch.export.load(path)
    except Exception as error:  # torch raises errors of many classes for damaged files
        raise RuntimeError(f"{path} is no program of torch.export: {first_line(error)}") from error
    names = [one.arg.name for one in exported.graph_signature.input_specs if one.kind.name == "USER_INPUT"]
    values = {node.name: node.meta["val"] for node in exported.graph.nodes if node.op == "placeholder"}
    specs = [
        (str(values[name].dtype).removeprefix("torch."), tuple(map(size, values[name].shape)))
        for name in names
        if isinstance(values.get(name), torch.Tensor)
    ]
    return exported.module(), tuple(
        TensorSpec("input" if len(specs) == 1 else f"input_{place}", dtype, shape)
        for place, (dtype, shape) in enumerate(specs)
    )


def size(one: Any) -> int | None:
    """Return a size of a shape, or None if it may vary."""
    return one if isinstance(one, int) else None


def parameters(
    lua: Lua, path: Path, network: str | os.PathLike[str] | None, key: str | None
) -> tuple[Any, tuple[TensorSpec, ...] | None]:
    """Return the network of a .t7 file as a module, with the parameters of a .pt file."""
    import torch

    from bridge.convert import to_torch

    if network is None:
        raise ValueError(
            f"{path} holds parameters alone: name the .t7 file of their network, by network= or --network, or "
            "convert it to .pt2, which holds both"
        )
    there = Path(network)
    torch7_file.require(lua, t7.inspect(there).classes)
    net = network_of(lua.execute("return torch.load(...)", os.fspath(there)), key)
    net.evaluate()
    inputs = torch7_file.named(layers.taken(net), torch7_file.TYPES.get(net.type()))
    module = to_torch(net).eval()
    try:
        module.load_state_dict(torch.load(path, weights_only=True))
    except Exception as error:  # torch raises errors of many classes for damaged files
        raise RuntimeError(f"{path} does not fit the network of {there}: {first_line(error)}") from error
    return module, inputs


def calling(module: Any, inputs: tuple[TensorSpec, ...] | None, device: str) -> Callable[..., Any]:
    """Return the module's forward as a function that takes arrays and nested lists, and returns arrays."""
    import torch

    kinds = [one.dtype for one in inputs or ()]

    def tensor(value: Any, kind: str | None) -> Any:
        return torch.as_tensor(np.asarray(value), device=device, dtype=getattr(torch, kind) if kind else None)

    def array(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.cpu().numpy()
        return [array(one) for one in value] if isinstance(value, list | tuple) else value

    def forward(*arguments: Any) -> Any:
        with torch.no_grad():
            given = (
                tensor(one, kinds[place] if place < len(kinds) else None)
                for place, one in enumerate(arguments)
            )
            return array(module(*given))

    return forward


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
