"""What a collection takes: features by name, each with a bag of ids for every example of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from pyps.nn.embeddings.ids import as_ids


class Jagged(NamedTuple):
    """Bags of different lengths, one after another.

    Attributes
    ----------
    values : int64 or int32 tensor, shape (n,)
        The ids of all bags.
    lengths : int64 or int32 tensor, shape (bags,)
        How many of them each bag has.
    weights : tensor, shape (n,), optional
        With which rows are multiplied before they are summed.
    """

    values: torch.Tensor
    lengths: torch.Tensor
    weights: torch.Tensor | None = None


@dataclass(frozen=True)
class Feature:
    """A feature of a batch.

    Attributes
    ----------
    name : str
    ids : int64 tensor
        Of shape (bags,) or (bags, n) without `offsets`, else (n,).
    offsets : int64 tensor, shape (bags,), or None
        Where each bag begins; None if all bags have the same length.
    weights : tensor of the shape of `ids`, or None
    """

    name: str
    ids: torch.Tensor
    offsets: torch.Tensor | None = None
    weights: torch.Tensor | None = None


def read_features(
    features: Any, wanted: Iterable[str], device: torch.device | None = None
) -> dict[str, Feature]:
    """Find the features that a collection looks up; there may be others.

    Parameters
    ----------
    features : mapping or object
        By name: a tensor of shape (bags,), for one id each, or (bags, n); `Jagged` or its values and lengths as a pair;
        or an object with methods `values` and `lengths`. Or an object with methods `keys`, `values` and `lengths` that
        has the bags of the first feature, then those of the second and so on, as torchrec's KeyedJaggedTensor.
    wanted : iterable of str
    device : torch.device, optional
        Where ids and lengths may be besides the CPU.

    Raises
    ------
    ValueError
        One is missing, or lengths do not fit the values.
    TypeError
        One is none of these.
    """
    there = _of_keyed(features, device) if hasattr(features, "lengths") else features
    if not isinstance(there, Mapping):
        raise TypeError(
            f"features must be a dict by name, or have keys(), values() and lengths(), not {type(features).__name__}"
        )
    names = list(wanted)
    if missing := [name for name in names if name not in there]:
        raise ValueError(f"there is no feature {', '.join(missing)}; there are {', '.join(map(str, there))}")
    return {name: _read(name, there[name], device) for name in names}


def _read(name: str, given: Any, device: torch.device | None) -> Feature:
    if isinstance(given, torch.Tensor) and not given.is_nested:
        if given.dim() not in (1, 2):
            raise ValueError(
                f"feature {name!r} has the shape {tuple(given.shape)}; it must have 1 or 2 dimensions"
            )
        return Feature(name, as_ids(given, f"feature {name!r}", device))
    if isinstance(given, tuple) and len(given) in (2, 3):
        return _of_jagged(name, Jagged(*given), device)
    if hasattr(given, "values") and hasattr(given, "lengths"):
        return _of_jagged(name, Jagged(given.values(), given.lengths(), _weights_of(given)), device)
    raise TypeError(
        f"feature {name!r} is {type(given).__name__}; it must be a tensor, pyps.nn.Jagged(values, lengths), "
        "or have values() and lengths()"
    )


def _of_jagged(name: str, jagged: Jagged, device: torch.device | None) -> Feature:
    ids = as_ids(jagged.values, f"values of feature {name!r}", device)
    lengths = as_ids(jagged.lengths, f"lengths of feature {name!r}", device)
    if ids.dim() != 1 or lengths.dim() != 1:
        raise ValueError(f"values and lengths of feature {name!r} must have one dimension")
    if len(lengths) and int(lengths.min()) < 0:
        raise ValueError(f"feature {name!r} has a bag of length {int(lengths.min())}")
    ends = lengths.cumsum(0)
    count = int(ends[-1]) if len(ends) else 0
    if count != len(ids):
        raise ValueError(
            f"the lengths of feature {name!r} add up to {count}, but there are {len(ids)} values"
        )
    if jagged.weights is not None and jagged.weights.shape != ids.shape:
        raise ValueError(
            f"feature {name!r} has {len(ids)} values and weights of {tuple(jagged.weights.shape)}"
        )
    return Feature(name, ids, ends - lengths, jagged.weights)


def _of_keyed(keyed: Any, device: torch.device | None) -> dict[str, Jagged]:
    names, values = list(keyed.keys()), as_ids(keyed.values(), "values()", device)
    lengths = as_ids(keyed.lengths(), "lengths()", device).reshape(-1)
    if not names or len(lengths) % len(names):
        raise ValueError(f"{len(lengths)} lengths are not as many for each of {len(names)} features")
    of_each = lengths.view(len(names), -1)
    counts = of_each.sum(1).tolist()
    if sum(counts) != len(values):
        raise ValueError(f"the lengths add up to {sum(counts)}, but there are {len(values)} values")
    weights = _weights_of(keyed)
    shares = [None] * len(names) if weights is None else torch.split(weights, counts)
    return {
        name: Jagged(*one)
        for name, *one in zip(names, torch.split(values, counts), of_each, shares, strict=True)
    }


def _weights_of(jagged: Any) -> torch.Tensor | None:
    return jagged.weights_or_none() if hasattr(jagged, "weights_or_none") else None
