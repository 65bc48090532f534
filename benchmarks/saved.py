"""Results as JSON files: what `--json` and `--save` write and the documentation's pages show.

A file says what was measured, when, by which command, on which machine, and has all rows with their ratios. What does
not look so, or contradicts itself, is refused by its name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness import Row, machine

RESULTS = Path(__file__).with_name("results")  # one file for each benchmark, as `--save` left it
KINDS: dict[str, Any] = {
    "title": str,
    "about": str,
    "date": str,
    "command": str,
    "quick": bool,
    "machine": dict,
    "rows": list,
}
ROW_KINDS: dict[str, Any] = {
    "table": str,
    "what": str,
    "ours": float | int,
    "unit": str,
    "peer": str,
    "theirs": float | int | None,
    "target": str,
    "ratio": float | None,
    "met": bool | None,
}


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a run of one or several benchmarks gave.

    Attributes
    ----------
    title : str
        What the benchmark calls itself; several titles are separated by semicolons.
    about : str
        What it measures, in a paragraph; empty for several.
    date : str
        The day in UTC, such as "2026-01-31".
    command : str
        What was run.
    quick : bool
        Whether the run only showed that everything works: its numbers mean nothing.
    machine : dict
        What `harness.machine` says.
    rows : sequence of Row
    """

    title: str
    about: str
    date: str
    command: str
    quick: bool
    machine: dict[str, str | int]
    rows: Sequence[Row]

    @property
    def tables(self) -> dict[str, list[Row]]:
        """The rows by table, both in the order in which they were measured."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.table, []).append(row)
        return found

    @property
    def judged(self) -> list[Row]:
        """The rows that have a target."""
        return [row for row in self.rows if row.met is not None]

    @property
    def missed(self) -> list[Row]:
        """The rows that missed theirs."""
        return [row for row in self.rows if row.met is False]


def measured_today(rows: Sequence[Row], *, title: str, about: str, command: str, quick: bool) -> Result:
    """Say of rows that they were measured on this machine today."""
    today = datetime.now(UTC).date().isoformat()
    return Result(
        title=title, about=about, date=today, command=command, quick=quick, machine=machine(), rows=rows
    )


def write_json(result: Result, path: Path) -> None:
    """Write a result with the ratio of each row, and whether it met its target."""
    content = {**vars(result), "rows": [_content(row) for row in result.rows]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


def read_json(path: Path) -> Result:
    """Read what `write_json` wrote.

    Raises
    ------
    ValueError
        When the file is damaged or of another kind, with the file's name and what is wrong in it.
    """
    try:
        content = json.loads(path.read_text())
        _check(content, KINDS)
        date.fromisoformat(content["date"])
        if not {"processor", "cores"} <= content["machine"].keys():
            raise ValueError("the machine has no processor, or no cores")
        return Result(**{**content, "rows": [_row(row) for row in content["rows"]]})
    except ValueError as error:
        raise ValueError(f"{path}: not a benchmark's results: {error}") from error


def _content(row: Row) -> dict[str, Any]:
    return {**asdict(row), "ratio": row.ratio, "met": row.met}


def _row(content: Any) -> Row:
    _check(content, ROW_KINDS)
    row = Row(**{name: value for name, value in content.items() if name not in ("ratio", "met")})
    numbers = [row.ours] if row.theirs is None else [row.ours, row.theirs]
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise ValueError(f"{row.what!r}: {row.ours} and {row.theirs} are no measured numbers")
    if content != _content(row):
        raise ValueError(
            f"{row.what!r}: ratio {content['ratio']}, met {content['met']} do not follow from it"
        )
    return row


def _check(content: Any, kinds: dict[str, Any]) -> None:
    if not isinstance(content, dict) or content.keys() != kinds.keys():
        there = f"{', '.join(content)}" if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"expected {', '.join(kinds)}; got {there}")
    for name, kind in kinds.items():
        if not isinstance(content[name], kind):
            raise ValueError(f"{name} is {content[name]!r}")
