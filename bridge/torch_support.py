"""Which versions of torch work here, and what to say of one that does not."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any

OLDEST, NEWEST = "2.10", "2.15"  # the newest that was tried; later ones may work


@cache
def library() -> str | None:
    """Return where torch's library lies, without importing torch; None if there is none."""
    found = importlib.util.find_spec("torch")
    return str(Path(found.origin).parent / "lib" / "libtorch_cpu.so") if found and found.origin else None


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers at the beginning of a version: (2, 10) of "2.10.0+cu128"."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:2])


def check(torch: Any) -> None:
    """Refuse a torch that is too old, by its name.

    Raises
    ------
    ImportError
        With the version, the oldest that works, and the command that gets one.
    """
    if numbers(torch.__version__) < numbers(OLDEST):
        raise ImportError(
            f"torch {torch.__version__} is too old: moontide needs torch >= {OLDEST}; "
            f"pip install 'torch>={OLDEST}'"
        )


def without(torch: Any, what: str) -> ImportError:
    """Return the error for a torch that lacks or hides something that is needed."""
    return ImportError(
        f"torch {torch.__version__} has no {what}, which moontide needs; it works with torch {OLDEST} to {NEWEST}: "
        f"pip install 'torch=={NEWEST}.*', or a newer moontide"
    )
