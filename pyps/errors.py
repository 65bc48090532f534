"""The server's exceptions; bad arguments are TypeError and ValueError, no memory is MemoryError."""

from __future__ import annotations


class Error(Exception):
    """Any failure of the parameter server that is not a bad argument."""


class ClosedError(Error, RuntimeError):
    """The worker is finalized, or its server was shut down."""


class WaitTimeoutError(Error, TimeoutError):
    """A wait ended without its event."""


class NodeLost(Error, ConnectionError):
    """The process that holds a node's parameters died."""


class AttachError(Error, ConnectionError):
    """No server answers at the address, or it refused this process."""


class StartError(Error, RuntimeError):
    """The nodes of a cluster did not come together; the same on all of them."""
