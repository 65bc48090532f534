"""The layers of the networks in a Torch7 file, from its summary: no data is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bridge.t7 import networks
from bridge.t7.objects import TorchObject
from bridge.t7.summary import Summary, TensorSummary

# Fields that do not belong to a layer: results that its last forward or backward pass left in it.
BUFFERS = frozenset(
    ("output", "gradInput", "finput", "fgradInput", "addBuffer", "noise", "save_mean", "save_std")
)
PARAMETERS = frozenset(("weight", "bias"))


@dataclass(frozen=True)
class LayerSummary:
    """One layer.

    Attributes
    ----------
    name : str
        Its indices in `modules`, from 0, such as "2.0"; "" is the network itself.
    typename : str
        The name of its class.
    depth : int
        How many layers it is inside of.
    tensors : dict of str to TensorSummary
        Its tensors by field, without gradients and buffers.
    parameters : int
        Numbers in its own weight and bias.
    nbytes : int
        Bytes of its tensors.
    settings : dict of str to object
        Its fields that are numbers or booleans.
    again : bool
        Whether the same layer is listed above.
    """

    name: str
    typename: str
    depth: int
    tensors: dict[str, TensorSummary] = field(default_factory=dict)
    parameters: int = 0
    nbytes: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    again: bool = False


def layers(summary: Summary, key: str | None = None) -> list[LayerSummary]:
    """Return the layers of all networks in a file, in order. The file's value is a network or has some in its tables.

    Parameters
    ----------
    summary : Summary
        The result of `bridge.t7.inspect`.
    key : str, optional
        The fields that lead to a single network, such as "protos.rnn".

    Raises
    ------
    KeyError
        There is nothing under this key; the message lists the names that exist.
    """
    if key is None:
        roots = networks.found(summary.value, _is_layer)
    else:
        meant = networks.at(summary.value, key)
        roots = {key: meant} if _is_layer(meant) else {}
    seen: set[int] = set()
    return [layer for name, root in roots.items() for layer in _walk(root, name, seen)]


def _is_layer(value: Any) -> bool:
    return (
        isinstance(value, TorchObject)
        and isinstance(value.torch_payload(), dict)
        and value.torch_typename().split(".")[0] not in ("torch", "tds", "graph", "nngraph")
    )


def _walk(root: TorchObject, name: str, seen: set[int]) -> Iterator[LayerSummary]:
    """Visit layers in order, without recursion. A layer that was visited before is listed without those inside it."""
    waiting = [(root, name, 0)]
    while waiting:
        layer, path, depth = waiting.pop()
        again = id(layer) in seen
        seen.add(id(layer))
        yield _summarized(layer, path, depth, again)
        inner = layer.fields().get("modules")
        if again or not isinstance(inner, list):
            continue
        children = [(child, place) for place, child in enumerate(inner) if _is_layer(child)]
        waiting.extend(
            (child, f"{path}.{place}" if path else str(place), depth + 1)
            for child, place in reversed(children)
        )


def _summarized(layer: TorchObject, path: str, depth: int, again: bool) -> LayerSummary:
    fields = {key: value for key, value in layer.fields().items() if isinstance(key, str)}
    tensors = {
        key: value
        for key, value in fields.items()
        if isinstance(value, TensorSummary)
        and value.size
        and key not in BUFFERS
        and not key.startswith(("grad", "_"))
    }
    return LayerSummary(
        path,
        layer.torch_typename(),
        depth,
        tensors,
        sum(tensor.size for key, tensor in tensors.items() if key in PARAMETERS),
        sum(tensor.nbytes for tensor in tensors.values()),
        {key: value for key, value in fields.items() if isinstance(value, bool | int | float)},
        again,
    )
