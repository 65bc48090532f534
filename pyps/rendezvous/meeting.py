"""What the processes of a starting cluster tell each other, over a store of torch.distributed.

There are two questions, and each gets one answer for all processes: has every node made its offer, and does every node
work? The last process to do its part answers yes. A process that fails, or whose time is over, answers both with the
reason, so all processes end at once and know why. Each waits in one blocking call to the store, which runs in a thread
so that Ctrl-C works.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Literal

from pyps.errors import StartError, WaitTimeoutError
from pyps.rendezvous.store import Store, over_another_connection, part_of

Question = Literal["offered", "working", "over"]
Kind = Literal["yes", "late", "failed"]
MARGIN = 30.0  # seconds that the store gets to answer after the timeout


class Meeting:
    """One start of one cluster.

    Parameters
    ----------
    store : torch.distributed.Store
    scope : str
        The same for all processes of a cluster; other clusters may use the same store with another scope.
    process : int or str
        This process among all. It counts for itself how many clusters of the scope it has started.
    timeout : float
        Seconds that the start may take.
    """

    def __init__(self, store: Store, scope: str, process: int | str, timeout: float) -> None:
        self._process = process
        number = store.add(f"pyps/{scope}/starts/{process}", 1)
        self._store = part_of(store, f"pyps/{scope}/{number}")
        self._waiting = over_another_connection(self._store)  # a store is locked while it waits
        self.timeout = timeout
        self._deadline = time.monotonic() + timeout

    def cluster(self) -> int:
        """Return the number of the cluster, which is the same on all nodes; the first process draws it."""
        if self._store.add("count/cluster", 1) == 1:
            self._store.set("cluster", str(secrets.randbits(63) + 1))
        return int(self._store.get("cluster"))

    def receive_at(self, place: str) -> None:
        """Tell the others the address of the host's reception."""
        self._store.set("reception", place)

    def reception(self) -> str:
        """Return the address of the host's reception."""
        return self._store.get("reception").decode()

    def offer(self, node: int, num_nodes: int, text: str) -> list[bytes]:
        """Make this node's offer; return the offers of all nodes, by their numbers.

        Raises
        ------
        WaitTimeoutError
            Nodes are missing. The message names them.
        StartError
            A node failed, or the rendezvous was lost.
        """
        self._store.set(f"offer/{node}", text)
        if self._store.add("count/offers", 1) == num_nodes:
            self._answer("offered", "yes")
        self._hear("offered", lambda: self._too_late("offer", num_nodes))
        return self.offers(range(num_nodes))

    def works(self, node: int, num_nodes: int) -> None:
        """Tell the others that this node works, and wait until all do; raises what `offer` does."""
        self._store.set(f"works/{node}", "")
        if self._store.add("count/working", 1) == num_nodes:
            self._answer("working", "yes")
        self.wait_until_all_work(num_nodes)

    def wait_until_all_work(self, num_nodes: int) -> None:
        """Wait until all nodes work; raises what `offer` does."""
        self._hear("working", lambda: self._too_late("works", num_nodes))

    def offers(self, nodes: Sequence[int]) -> list[bytes]:
        """Return the offers of these nodes, which must have made them."""
        return self._store.multi_get([f"offer/{node}" for node in nodes])

    def fail(self, reason: str) -> None:
        """Make every process that waits, now or later, raise StartError with this reason; never fails."""
        with contextlib.suppress(RuntimeError):  # the store may be what failed
            self._give_up("failed", reason)

    def leave(self, num_processes: int) -> None:
        """Tell that this process does not need the store any more; never fails."""
        with contextlib.suppress(RuntimeError):  # the store may have ended, which does not matter now
            if self._store.add("count/left", 1) == num_processes:
                self._answer("over", "yes")

    def wait_until_all_left(self, patience: float) -> None:
        """Wait until no process needs the store, at most `patience` seconds."""
        self._deadline = time.monotonic() + patience
        # Waits of other processes end when the store does.
        with contextlib.suppress(WaitTimeoutError, StartError):
            self._hear("over", lambda: self._answer("over", "late"))

    def _answer(self, question: Question, kind: Kind, reason: str = "") -> None:
        if self._store.add(f"count/answers/{question}", 1) == 1:
            self._store.set(f"answer/{question}", json.dumps([kind, reason]))

    def _give_up(self, kind: Kind, reason: str) -> None:
        self._answer("offered", kind, reason)
        self._answer("working", kind, reason)

    def _too_late(self, what: str, num_nodes: int) -> None:
        absent = [str(node) for node in range(num_nodes) if not self._store.check([f"{what}/{node}"])]
        some = ", ".join(absent[:16]) + (f" and {len(absent) - 16} more" if len(absent) > 16 else "")
        nodes = f"node{'s' if len(absent) > 1 else ''} {some} of {num_nodes}"
        self._give_up("late", f"{nodes} did not come within {self.timeout:g} s")

    def _hear(self, question: Question, too_late: Callable[[], None]) -> None:
        """Wait for the answer to a question; at the deadline, `too_late` gives it."""
        lost: list[Exception] = []
        heard = threading.Event()
        left = max(0.0, self._deadline - time.monotonic())

        def wait() -> None:
            try:
                self._waiting.wait([f"answer/{question}"], timedelta(seconds=left + MARGIN))
            except Exception as error:  # it is raised in the thread that waits
                lost.append(error)
            finally:
                heard.set()

        thread = threading.Thread(target=wait, name="pyps-rendezvous", daemon=True)
        thread.start()
        try:
            if not heard.wait(left):
                too_late()
        except BaseException:
            self._answer(question, "failed", f"process {self._process} was interrupted while it waited")
            raise
        finally:
            thread.join(MARGIN)
        if lost:
            raise StartError(f"the rendezvous was lost during the start: {lost[0]}") from lost[0]
        kind, reason = json.loads(self._store.get(f"answer/{question}"))
        if kind != "yes":
            raise (WaitTimeoutError if kind == "late" else StartError)(f"the cluster did not start: {reason}")
