"""The element types a server can hold, one row each."""

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
        What its bits are moved as; bfloat16, which numpy lacks, as uint16.
    """

    name: str
    number: int
    storage: np.dtype[Any]

    @property
    def is_integer(self) -> bool:
        """Whether only whole numbers fit."""
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
        No server can hold it.
    """
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES and dtype is not None:  # which numpy would take for float64
        try:
            found = np.dtype(dtype)  # type: ignore[call-overload]
            name = found.name if found.isnative else f"byte-swapped {found.name}"
        except TypeError:
            name = str(dtype)
    if name not in DTYPES:
        raise ValueError(f"dtype {name!r} is not possible; choose one of {', '.join(DTYPES)}")
    return DTYPES[name]
