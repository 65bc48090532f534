"""The element types that a server can have, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Dtype:
    """An element type.

    Attributes
    ----------
    name : str
        Its name in numpy and torch.
    number : int
        Its number in ps.h.
    storage : numpy.dtype
        The numpy type that its bits are copied as: uint16 for bfloat16, which numpy does not have.
    """

    name: str
    number: int
    storage: np.dtype[Any]

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer type."""
        return self.name.startswith("int")


DTYPES = {
    name: Dtype(name, number, np.dtype("uint16" if name == "bfloat16" else name))
    for number, name in enumerate(("float32", "float64", "float16", "bfloat16", "int32", "int64"))
}


def find_dtype(dtype: object) -> Dtype:
    """Look up a dtype by its name, numpy type or torch type.

    Raises
    ------
    ValueError
        A server cannot have this type.
    """
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES and dtype is not None:  # numpy would take None for float64
        try:
            found = np.dtype(dtype)  # type: ignore[call-overload]
            name = found.name if found.isnative else f"byte-swapped {found.name}"
        except TypeError:
            name = str(dtype)
    if name not in DTYPES:
        raise ValueError(f"dtype {name!r} is not possible; choose one of {', '.join(DTYPES)}")
    return DTYPES[name]
