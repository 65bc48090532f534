"""What the nodes of a meeting say about one table, which may be dropped meanwhile.

A node that finds it dropped says so when the nodes gather next. So all of them leave the table at the same point, and
go on with the next one.
"""

from __future__ import annotations

from pyps.checkpoint.meeting import Meeting

DROPPED = b"-"  # is nothing else that nodes say


class Dropped(Exception):
    """A node has found that the table was dropped."""


class TableMeeting:
    """The part of a meeting that is about one table.

    Parameters
    ----------
    meeting : Meeting
    """

    def __init__(self, meeting: Meeting) -> None:
        self._meeting = meeting
        self.timeout = meeting.timeout
        self.is_first = meeting.turn.is_first

    def gather(self, said: bytes = b"") -> list[bytes]:
        """Return what each node has said, as `Meeting.gather` does; raise Dropped if one has said so."""
        every = self._meeting.gather(said)
        if DROPPED in every:
            raise Dropped
        return every

    def say_dropped(self) -> None:
        """Tell the others, in place of what they wait for."""
        self._meeting.gather(DROPPED)
