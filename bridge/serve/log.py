"""Log lines as JSON, with the id of the request that they belong to."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from bridge.serve.request_id import request_id


class JsonLines(logging.Formatter):
    """A line of JSON for each record."""

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
    """Let this program's records go to the standard error.

    Parameters
    ----------
    lines : {"json", "text"}
    level : str
        The least that is told: "debug", "info", "warning" or "error".
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonLines() if lines == "json" else logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger("uvicorn").setLevel(logging.WARNING)  # what it tells of its start is told already
