"""The server's exceptions; bad arguments are TypeError and ValueError, no memory is MemoryError."""

from __future__ import annotations


class Error(Exception):
    """Any failure of the parameter server that is not a bad argument."""


class ClosedError(Error, RuntimeError):
    """The worker is finalized, or its server was shut down."""


class WaitTimeoutError(Error, TimeoutError):
    """A wait ended without its event."""


class NodeLost(Error, ConnectionError):
    """A node was lost, and what was asked for cannot be had without it.

    Its process died, it has not been heard of for longer than the servers' `lost_after`, it has shut down, this node
    itself was declared lost by the others, or the connection to it broke and messages with it.

    Attributes
    ----------
    node : int
        The lost node's rank; -1 if nobody knows.
    """

    def __init__(self, message: str, *, node: int = -1) -> None:
        super().__init__(message)
        self.node = node


class AttachError(Error, ConnectionError):
    """No server answers at the address, or it refused this process."""


class StartError(Error, RuntimeError):
    """The nodes of a cluster did not come together; the same on all of them."""
