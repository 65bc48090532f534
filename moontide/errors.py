"""What a command reports in one line instead of a traceback."""

from __future__ import annotations


class CommandError(Exception):
    """A command cannot go on for a reason that its user can act on; the message says both."""
