"""What an operation returns: a number to wait for that is also a future."""

from __future__ import annotations


class Timestamp(int):
    """The number of an operation; -1 means that it was answered at once.

    Equal to the plain number, so that both ``kv.wait(ts)`` and ``ts.wait()`` work. Operations on values that
    live on this node are answered before they return.
    """

    __slots__ = ()

    def wait(self, timeout: float | None = None) -> None:
        """Return when the operation has ended, which an answered one has.

        Parameters
        ----------
        timeout : float, optional
            Seconds.
        """

    def done(self) -> bool:
        """Tell whether the operation has ended."""
        return True


ANSWERED = Timestamp(-1)
