"""What an asynchronous operation returns: a number to wait for that is also a future."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyps._core import Worker


class Timestamp(int):
    """The number of an operation; -1 means that it was answered at once.

    Equal to the plain number, so that both ``kv.wait(ts)`` and ``ts.wait()`` work.
    """

    values: Any = None  # what a pull without a buffer made

    def wait(self, timeout: float | None = None) -> Any:
        """Return when the operation has ended, which an answered one has.

        Parameters
        ----------
        timeout : float, optional
            Seconds; 300 unless said.

        Returns
        -------
        array or None
            The values of a pull that was given no buffer for them.
        """
        return self.values

    def done(self) -> bool:
        """Tell whether the operation has ended."""
        return True

    def __repr__(self) -> str:
        return f"<Timestamp {'answered' if self == -1 else int(self)}>"


class Pending(Timestamp):
    """Of an operation that other nodes answer."""

    def __new__(cls, number: int, worker: Worker) -> Pending:
        """Make the timestamp of a worker's operation."""
        timestamp = super().__new__(cls, number)
        timestamp.worker = worker
        return timestamp

    worker: Worker

    def wait(self, timeout: float | None = None) -> Any:
        """Return when the operation has ended; what, see `Timestamp.wait`."""
        self.worker.wait(self, timeout=timeout)
        return self.values

    def done(self) -> bool:
        """Tell whether the operation has ended."""
        return self.worker.is_finished(self)


ANSWERED = Timestamp(-1)
