"""The exception for a request that is not answered, with a reason that every protocol has a status for."""

from __future__ import annotations

from enum import Enum

from bridge.errors import LuaError
from bridge.serve.process import CallTimeout, ProcessLost


class Reason(Enum):
    """The reasons; the values are HTTP's status codes."""

    INVALID = 400  # the request is wrong
    UNKNOWN = 404  # no such model, version or function
    METHOD = 405  # the path does not have this HTTP method
    AMBIGUOUS = 409  # several models have the function
    TOO_LARGE = 413  # the body is longer than the server allows
    UNSUPPORTED = 415  # in a form that is not supported
    FAILED = 422  # the model raised an error for this input; the process goes on
    BUSY = 429  # the queue is full
    INTERNAL = 500  # a defect of this package
    LOST = 503  # the process ended during the request, or none runs
    LATE = 504  # not answered in time


class Refused(Exception):
    """A request is not answered.

    Attributes
    ----------
    reason : Reason
        The reason.
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def refusal(error: Exception) -> Refused:
    """Return the `Refused` for an exception of a model or its process."""
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
