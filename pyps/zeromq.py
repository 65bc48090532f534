"""The ZeroMQ library that nodes talk with: the one that pyzmq brings along, so that there is never a second copy.

Processes that attach to a node open the file that it uses, or the one that the environment variable PYPS_ZMQ names.
"""

from __future__ import annotations

from pyps import _core


def load() -> None:
    """Open the library for libps; once per process is enough."""
    from zmq.backend.cython import _zmq

    if not isinstance(_zmq.__file__, str):
        raise ImportError("pyzmq's compiled module has no file")
    _core.load_zmq(_zmq.__file__)
