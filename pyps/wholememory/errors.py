"""The exceptions of whole memory.

Wrong arguments raise TypeError or ValueError instead, and missing memory raises MemoryError.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyps.errors import ClosedError, Error, StartError, WaitTimeoutError


class DisagreementError(Error, ValueError):
    """The ranks of a collective call gave different parameters; it is raised on all of them."""


class RankLost(Error, ConnectionError):
    """A rank ended or called `finalize_lib`, and a collective call cannot be done without it.

    Attributes
    ----------
    rank : int
        The rank; -1 if it is not known.
    """

    def __init__(self, message: str, *, rank: int = -1) -> None:
        super().__init__(message)
        self.rank = rank


# The exceptions that a rank can pass on to the others, as their names.
_TRAVEL: tuple[type[Exception], ...] = (
    DisagreementError,
    RankLost,
    StartError,
    WaitTimeoutError,
    ClosedError,
    MemoryError,
    TypeError,
    ValueError,
    OSError,
    RuntimeError,
)


def as_message(error: BaseException) -> dict[str, object]:
    """Return an exception as a message to other ranks."""
    kind = next((kind for kind in _TRAVEL if isinstance(error, kind)), None)
    return {
        "kind": kind.__name__ if kind else "Error",
        "text": str(error) if kind else f"{type(error).__name__}: {error}",
        "rank": getattr(error, "rank", -1),
    }


def from_message(message: dict[str, object], prefix: str = "") -> Exception:
    """Return the exception of another rank's message."""
    text = f"{prefix}{message['text']}"
    kind = next((kind for kind in _TRAVEL if kind.__name__ == message["kind"]), Error)
    if kind is RankLost:
        rank = message["rank"]
        return RankLost(text, rank=rank if isinstance(rank, int) else -1)
    return kind(text)


def ranks_shown(ranks: Sequence[int]) -> str:
    """Return "rank 1" or "ranks 1, 2"."""
    return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(map(str, ranks))
