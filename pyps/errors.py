"""The exceptions of the parameter server.

Wrong arguments raise TypeError or ValueError instead, and missing memory raises MemoryError.
"""

from __future__ import annotations


class Error(Exception):
    """Any failure of the parameter server that is not a bad argument."""


class ClosedError(Error, RuntimeError):
    """The worker is finalized, its server was shut down, or its table was dropped."""


class WaitTimeoutError(Error, TimeoutError):
    """What was waited for did not happen in time."""


class NodeLost(Error, ConnectionError):
    """A node was lost, and the call cannot be done without it.

    This means one of: its process died; it has been silent for longer than the servers' `lost_after`; it has shut
    down; this node itself was declared lost by the others; the connection to it broke, and messages may be lost.

    Attributes
    ----------
    node : int
        The lost node's rank; -1 if it is not known.
    """

    def __init__(self, message: str, *, node: int = -1) -> None:
        super().__init__(message)
        self.node = node


class AttachError(Error, ConnectionError):
    """No server answers at the address, or it refused this process."""


class StartError(Error, RuntimeError):
    """The nodes of a cluster could not start together; all of them raise it."""


class CheckpointError(Error, ValueError):
    """A checkpoint is damaged, does not fit the server, or could not be written; the message names what is wrong.

    The server's parameters are as they were.
    """
