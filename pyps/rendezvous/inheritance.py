"""Sockets that forked children do not keep.

A child has neither the threads that answer at them, nor may its life stand for its parent's.
"""

from __future__ import annotations

import os
import socket
import weakref

_own: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def keep_from_children(line: socket.socket) -> None:
    """Let forked children close their copy of a socket."""
    _own.add(line)


def _close_in_child() -> None:
    for line in list(_own):
        line.close()


os.register_at_fork(after_in_child=_close_in_child)
