"""Where the Python processes that tests start find packages: as this process does, an instrumented build first."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def python_path() -> str:
    """Return PYTHONPATH for a process: what this one was given, and after that the repository."""
    given = os.environ.get("PYTHONPATH")
    return f"{given}{os.pathsep}{ROOT}" if given else str(ROOT)
