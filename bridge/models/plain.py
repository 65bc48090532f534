"""Converting results of models to values that JSON has a form for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

DEEPEST = 100  # levels of lists and objects that a result may have


def plain(value: Any, depth: int = 0) -> Any:
    """Return a result as values that JSON has a form for: arrays as lists, nan and infinity as text.

    Raises
    ------
    TypeError
        The result contains another value, such as a network; the message names it.
    ValueError
        Lists and objects are nested too deeply.
    """
    if depth > DEEPEST:
        raise ValueError(f"the result has more than {DEEPEST} lists and objects inside each other")
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), depth)
    if isinstance(value, dict):
        return {str(key): plain(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, depth + 1) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    kind = getattr(value, "typename", type(value).__name__)
    raise TypeError(f"the result has a {kind} in it, which has no form in JSON")
