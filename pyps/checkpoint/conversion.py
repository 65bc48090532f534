"""Values of one dtype as another, if that can have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pyps.dtypes import Dtype
from pyps.errors import CheckpointError

if TYPE_CHECKING:
    import torch

Array = NDArray[Any]


def require_convertible(source: Dtype, target: Dtype) -> None:
    """Raise CheckpointError unless both are integers, or both are not."""
    if source.is_integer != target.is_integer:
        raise CheckpointError(
            f"the checkpoint has values of {source.name}, which do not become {target.name}"
        )


def tensor_of(values: Array, dtype: Dtype) -> torch.Tensor:
    """Return values in a dtype's storage as a tensor, which may lie in the same memory."""
    import torch

    plain = np.ascontiguousarray(values)
    if dtype.name == "bfloat16":
        return torch.from_numpy(plain.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(plain)


def convert(values: Array, source: Dtype, target: Dtype) -> Array:
    """Return values as another dtype, rounded to the nearest; each array in its dtype's storage.

    Raises
    ------
    CheckpointError
        A number is too large for it.
    """
    if source == target:
        return values
    import torch

    before = tensor_of(values, source)
    after = before.to(getattr(torch, target.name))
    fits = after == before if target.is_integer else after.isfinite() | ~before.isfinite()
    if not bool(fits.all()):
        raise CheckpointError(f"a number of the checkpoint, of {source.name}, is too large for {target.name}")
    if target.name == "bfloat16":
        return after.view(torch.int16).numpy().view(np.uint16)
    return after.numpy()
