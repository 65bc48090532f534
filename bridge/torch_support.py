"""The versions of torch that work here, and the errors for others."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any

OLDEST, NEWEST = "2.10", "2.15"  # the newest that was tried; later ones may work


@cache
def library() -> str | None:
    """Return the path of torch's library, without importing torch; None if torch is not installed."""
    found = importlib.util.find_spec("torch")
    return str(Path(found.origin).parent / "lib" / "libtorch_cpu.so") if found and found.origin else None


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers at the beginning of a version: (2, 10) of "2.10.0+cu128"."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:2])


def check(torch: Any) -> None:
    """Check that torch is not too old.

    Raises
    ------
    ImportError
        It is; the message names the oldest version that works and the command that installs it.
    """
    if numbers(torch.__version__) < numbers(OLDEST):
        raise ImportError(
            f"torch {torch.__version__} is too old: moontide needs torch >= {OLDEST}; "
            f"pip install 'torch>={OLDEST}'"
        )


def without(torch: Any, what: str) -> ImportError:
    """Return the error for a torch that lacks something we need."""
    return ImportError(
        f"torch {torch.__version__} has no {what}, which moontide needs; it works with torch {OLDEST} to {NEWEST}: "
        f"pip install 'torch=={NEWEST}.*', or a newer moontide"
    )
