"""Rows of text as a table of aligned columns."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], *, numbers: int) -> list[str]:
    """Return a line for each row; the last `numbers` columns stand to the right.

    Parameters
    ----------
    rows : sequence of sequences of str
        As many cells in each, the heads first.
    numbers : int
        Columns of numbers.
    """
    last = len(rows[0]) - numbers
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if place >= last else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
