"""Why a request is not answered, in words and as a kind that every wire has a number for."""

from __future__ import annotations

from enum import Enum

from bridge.errors import LuaError
from bridge.serve.process import CallTimeout, ProcessLost


class Reason(Enum):
    """The kinds; the values are HTTP's."""

    INVALID = 400  # the request itself is wrong
    UNKNOWN = 404  # no such model, version or function
    METHOD = 405  # the path has other methods
    AMBIGUOUS = 409  # several that could be meant
    TOO_LARGE = 413  # longer than the server allows
    UNSUPPORTED = 415  # in a form that is not read
    FAILED = 422  # the model raised an error for this input; all is well with the process
    BUSY = 429  # the queue is full
    INTERNAL = 500  # a defect of ours
    LOST = 503  # the process ended in the middle of it, or there is none
    LATE = 504  # not answered in time


class Refused(Exception):
    """A request that is not answered.

    Attributes
    ----------
    reason : Reason
        What kind of refusal.
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def refusal(error: Exception) -> Refused:
    """Return what an exception of a model or its process is to the one who asked."""
    match error:
        case Refused():
            return error
        case CallTimeout():
            return Refused(Reason.LATE, str(error))
        case ProcessLost():
            return Refused(Reason.LOST, str(error))
        case MemoryError():
            return Refused(Reason.LOST, f"no memory left: {error}" if str(error) else "no memory left")
        case LuaError() if "not enough memory" in str(error):
            return Refused(Reason.LOST, f"no memory left: {error}")
        case _:
            return Refused(Reason.FAILED, str(error) or type(error).__name__)
