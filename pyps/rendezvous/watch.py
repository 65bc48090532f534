"""The thread of a started node that logs what happens around it. It logs each thing once and does nothing else."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import threading
import weakref

from pyps.errors import ClosedError
from pyps.rendezvous.presence import left_in_order, say_goodbye
from pyps.server import Server

LOOK_EVERY = 1.0  # seconds between looks at the node's counters

# By their counters in the node's statistics.
REFUSALS = {"peers_refused": "a connection without the cluster's CURVE keys"}

logger = logging.getLogger(__name__)


class Watch:
    """Log the loss of the rendezvous' host, and what the node refuses.

    Parameters
    ----------
    node : Server
        The node; the thread does not keep it alive, and ends when it is gone.
    line : socket, optional
        The connection to the host.
    host : str
        The host's name, for messages.
    """

    def __init__(self, node: Server, line: socket.socket | None, host: str) -> None:
        self._node = weakref.ref(node)
        self._name = f"node {node.rank} of {node.num_nodes}"
        self._line = line
        self._host = host
        self._reported: set[str] = set()
        self._stop = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="pyps-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread. Any thread may call it, also more than once; in a forked child it does nothing."""
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._stop < 0:
                return
            os.eventfd_write(self._stop, 1)
            if threading.current_thread() is not self._thread:
                self._thread.join()
                os.close(self._stop)
                self._stop = -1

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._stop, select.POLLIN)
        if self._line is not None:
            poll.register(self._line, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(LOOK_EVERY * 1000)}
            if self._stop in ready or (node := self._node()) is None:
                break
            self._report_refusals(node)
            del node
            if self._line is not None and self._line.fileno() in ready:
                poll.unregister(self._line)
                if not left_in_order(self._line):
                    logger.error(
                        "%s: the rendezvous at %s was lost; the nodes that run go on", self._name, self._host
                    )
                self._line.close()
                self._line = None
        if self._line is not None:
            say_goodbye(self._line)

    def _report_refusals(self, node: Server) -> None:
        with contextlib.suppress(ClosedError):
            for counter, what in REFUSALS.items():
                if counter not in self._reported and node.stats().get(counter):
                    self._reported.add(counter)
                    logger.warning(
                        "%s: refused %s; from now on they are only counted, as %r in stats()",
                        self._name,
                        what,
                        counter,
                    )
