"""Log lines as JSON, with the id of the request they belong to."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from bridge.serve.request_id import request_id


class JsonLines(logging.Formatter):
    """Formats each record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id.get():
            told["request_id"] = request_id.get()
        told.update(getattr(record, "told", {}))
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def log_to_stderr(*, lines: str, level: str) -> None:
    """Write this program's log to standard error.

    Parameters
    ----------
    lines : {"json", "text"}
        The form of the lines.
    level : str
        The lowest level that is logged: "debug", "info", "warning" or "error".
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines() if lines == "json" else logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger("uvicorn").setLevel(logging.WARNING)  # we log the server's start ourselves
