"""Options that neither a server nor a table takes."""

from __future__ import annotations

from typing import Any

import pytest

import pyps


def check_refused(options: dict[str, Any], message: str, lengths: int | list[int] = 1) -> None:
    """Check that a server and a table with these options are refused with this message, and that no table is left."""
    with pytest.raises(ValueError, match=message):
        pyps.Server(value_length=lengths, **options)
    with pyps.Server(10) as server:
        with pytest.raises(ValueError, match=message):
            server.table("t", dim=lengths, **options)
        assert server.table_names() == []
