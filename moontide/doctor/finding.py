"""What a check has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# It works; it works, with a limit that may be met; what not everybody needs is not there; it does not work.
State = Literal["ok", "limited", "absent", "broken"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """How one part is.

    Attributes
    ----------
    state : {"ok", "limited", "absent", "broken"}
        "broken" is what nothing works without.
    detail : str
        Versions and figures, or what went wrong.
    remedy : str
        What to do about it; empty where nothing has to be done.
    """

    state: State
    detail: str
    remedy: str = ""
