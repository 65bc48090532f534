"""What an asynchronous operation returns: a number to wait for, with the methods of a future."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyps._core import Worker


class Timestamp(int):
    """The number of an operation; -1 means that it ended within its call.

    It equals the plain number, so both ``kv.wait(ts)`` and ``ts.wait()`` work.
    """

    values: Any = None  # the result of a pull that got no buffer

    def wait(self, timeout: float | None = None) -> Any:
        """Wait until the operation has ended, which is at once if it ended within its call.

        Parameters
        ----------
        timeout : float, optional
            Seconds; default 300.

        Returns
        -------
        array or None
            The values of a pull that got no buffer; else None.
        """
        return self.values

    def done(self) -> bool:
        """Return whether the operation has ended."""
        return True

    def __repr__(self) -> str:
        return f"<Timestamp {'answered' if self == -1 else int(self)}>"


class Pending(Timestamp):
    """The timestamp of an operation that other nodes answer."""

    def __new__(cls, number: int, worker: Worker) -> Pending:
        """Make the timestamp of a worker's operation."""
        timestamp = super().__new__(cls, number)
        timestamp.worker = worker
        return timestamp

    worker: Worker

    def wait(self, timeout: float | None = None) -> Any:
        """Wait until the operation has ended; return the same as `Timestamp.wait`."""
        self.worker.wait(self, timeout=timeout)
        return self.values

    def done(self) -> bool:
        """Return whether the operation has ended."""
        return self.worker.is_finished(self)


ANSWERED = Timestamp(-1)
