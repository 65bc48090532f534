"""The documentation's pages of saved results: one for each file, with a table and a picture for each table of rows.

Everything lies in docs/benchmarks, which git ignores, and is made anew whenever the documentation is built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.bars import THEMES, in_words, svg
from benchmarks.harness import Row, shown
from benchmarks.saved import RESULTS, Result, read_json

PLACE = "benchmarks"
HARDWARE = ("processor", "cores")  # of `Result.machine`; all else are versions
COLUMNS = ("what", "ours", "theirs", "ratio", "unit", "peer", "target", "")
NUMBERS = {"ours", "theirs", "ratio", "targets met", "missed"}  # columns whose right sides are in line
VERDICTS = {True: "met", False: "**missed**", None: ""}
MARKED = re.compile(r"`[^`]+`|[\\`*_{}\[\]<>|#~$]")


def write_pages(docs: Path, results: Path = RESULTS) -> None:
    """Write pages, pictures and the summary that docs/benchmarks.md shows; remove those of results that are gone.

    Parameters
    ----------
    docs : Path
        Where the documentation's pages lie.
    results : Path
        Where the files of results lie; there may be none.

    Raises
    ------
    ValueError
        When a file is damaged, of another kind or of a quick run, with its name; then nothing has changed.
    """
    contents = pages({file.stem: _read(file) for file in sorted(results.glob("*.json"))})
    place = docs / PLACE
    place.mkdir(exist_ok=True)
    for old in place.iterdir():
        if old.name not in contents:
            old.unlink(missing_ok=True)
    for name, content in contents.items():
        target = place / name
        if not target.exists() or target.read_text() != content:  # what is newer is built again
            target.write_text(content)


def pages(results: dict[str, Result]) -> dict[str, str]:
    """Return the files of docs/benchmarks with what is in them, for results by name."""
    contents = {"summary.txt": summary(results)}
    for name, result in results.items():
        contents[f"{name}.md"] = page(name, result)
        for number, rows in enumerate(result.tables.values(), 1):
            if _has_peer(rows):
                contents |= {_picture(name, number, theme): svg(rows, theme) for theme in THEMES}
    return contents


def summary(results: dict[str, Result]) -> str:
    """Return a table of all results, with links to their pages."""
    if not results:
        return "No results are saved.\n"
    rows = [
        (
            f"[{markdown(result.title)}]({PLACE}/{name}.md)",
            result.date,
            _met(result) if result.judged else "none set",
            f"**{len(result.missed)}**" if result.missed else "",
        )
        for name, result in results.items()
    ]
    lines = table(("benchmark", "measured", "targets met", "missed"), rows)
    links = [f"{PLACE}/{name}" for name in results]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *links, "```", ""])


def page(name: str, result: Result) -> str:
    """Return the page of the result of that name."""
    versions = ", ".join(f"{what} {of}" for what, of in result.machine.items() if what not in HARDWARE)
    lines = [
        f"# {markdown(result.title)}",
        "",
        markdown(result.about),
        "",
        f"Measured on {result.date} by `{result.command}`: {markdown(_processor(result))}; {markdown(versions)}.",
        "",
        *_targets(result),
    ]
    for number, (title, rows) in enumerate(result.tables.items(), 1):
        lines += ["", f"## {markdown(title)}", ""]
        if _has_peer(rows):
            lines += _pictures(name, number, rows)
        lines += table(COLUMNS, [_cells(row) for row in rows])
    return "\n".join([*lines, ""])


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown; columns in which nothing stands are left out."""
    kept = [number for number in range(len(columns)) if any(row[number] for row in rows)]
    rules = ["---:" if column in NUMBERS else "---" for column in columns]
    return [f"| {' | '.join(row[number] for number in kept)} |" for row in (columns, rules, *rows)]


def markdown(text: str) -> str:
    """Return Markdown that shows a text as it is; what stands in backticks is code."""
    return MARKED.sub(lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}", text)


def _read(file: Path) -> Result:
    found = read_json(file)
    if found.quick:
        raise ValueError(
            f"{file}: of a quick run, whose numbers mean nothing: python -m benchmarks {file.stem} --save"
        )
    return found


def _has_peer(rows: Sequence[Row]) -> bool:
    return any(row.ratio for row in rows)


def _picture(name: str, number: int, theme: str) -> str:
    return f"{name}-{number}-{theme}.svg"


def _met(result: Result) -> str:
    return f"{len(result.judged) - len(result.missed)} of {len(result.judged)}"


def _processor(result: Result) -> str:
    return f"{result.machine['processor']}, {result.machine['cores']} cores"


def _targets(result: Result) -> Iterator[str]:
    """Say how many targets were met, and name those that were not."""
    if not result.judged:
        yield "No number here has a target."
        return
    yield f"**{_met(result)} targets met{', missed:' if result.missed else '.'}**"
    yield ""
    for title, rows in result.tables.items():
        missed = [row for row in rows if row.met is False]
        if missed:
            yield f"* {markdown(title)}"
        for row in missed:
            number = f"{shown(row.ratio)}x" if row.target.endswith("x") else f"{shown(row.ours)} {row.unit}"
            yield f"  * {markdown(row.what)}: {number}, target {_bound(row)}"


def _pictures(name: str, number: int, rows: Sequence[Row]) -> Iterator[str]:
    """Show one picture of the two, by the reader's choice of light and dark."""
    alt = json.dumps(in_words(rows), ensure_ascii=False)
    for theme in THEMES:
        lines = (f":class: only-{theme}", f":alt: {alt}")
        yield from (f"```{{image}} {_picture(name, number, theme)}", *lines, "```", "")


def _bound(row: Row) -> str:
    return markdown(row.target.replace(" ", "\N{NO-BREAK SPACE}"))


def _cells(row: Row) -> tuple[str, ...]:
    numbers = (shown(row.ours), shown(row.theirs), shown(row.ratio))
    texts = (markdown(row.unit), markdown(row.peer), _bound(row))
    return (markdown(row.what), *numbers, *texts, VERDICTS[row.met])
