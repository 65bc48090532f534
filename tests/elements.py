"""Torch7's element types: numpy's type by the name in `torch.ByteTensor`, in the order of their numbers."""

from __future__ import annotations

import numpy as np

ALL = {
    "Byte": np.dtype(np.uint8),
    "Char": np.dtype(np.int8),
    "Short": np.dtype(np.int16),
    "Int": np.dtype(np.int32),
    "Long": np.dtype(np.int64),
    "Half": np.dtype(np.float16),
    "Float": np.dtype(np.float32),
    "Double": np.dtype(np.float64),
}
# Those with Torch7's operators: a half has few.
NUMERIC = {name: dtype for name, dtype in ALL.items() if name != "Half"}
FLOATS = {name: NUMERIC[name] for name in ("Float", "Double")}
INTEGERS = {name: dtype for name, dtype in ALL.items() if name not in ("Half", *FLOATS)}
DTYPES = {name: dtype.name for name, dtype in ALL.items()}  # the name of the type in numpy and torch
