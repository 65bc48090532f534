"""The ZeroMQ library that nodes use: the one that is part of pyzmq, so that a process never has two copies.

A process that attaches to a node uses the one that the environment variable PYPS_ZMQ names, or else the node's.
"""

from __future__ import annotations

from pyps import _core


def load() -> None:
    """Open the library for libps; once per process is enough."""
    from zmq.backend.cython import _zmq

    if not isinstance(_zmq.__file__, str):
        raise ImportError("pyzmq's compiled module has no file")
    _core.load_zmq(_zmq.__file__)
