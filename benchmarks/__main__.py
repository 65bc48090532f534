"""`python -m benchmarks [name ...]`: run benchmarks, print their tables, write JSON if asked.

`--save` writes what the documentation shows, a file for each benchmark.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

import benchmarks
from benchmarks.harness import Row, print_tables
from benchmarks.saved import RESULTS, Result, measured_today, write_json

NOT_BENCHMARKS = {"__main__", "bars", "harness", "nodes", "pages", "saved"}  # nodes is a part of ps


class Benchmark(Protocol):
    """What a module of this package offers."""

    NAME: str

    def run(self, quick: bool) -> list[Row]:
        """Measure and return the rows; `quick` only shows that everything runs."""


def names() -> list[str]:
    """Return the names of the benchmarks, which are their modules' or packages'."""
    found = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(set(found) - NOT_BENCHMARKS)


def load(name: str) -> Benchmark:
    """Import one benchmark."""
    return cast(Benchmark, importlib.import_module(f"benchmarks.{name}"))


def described(chosen: Sequence[str], rows: Sequence[Row], *, quick: bool) -> Result:
    """Return what benchmarks measured with their titles, what they are about, and the command that repeats it."""
    about = (inspect.getdoc(load(chosen[0])) or "") if len(chosen) == 1 else ""
    return measured_today(
        rows,
        title="; ".join(load(name).NAME for name in chosen),
        about=" ".join(about.split("\n\n")[0].split()),
        command=f"python -m benchmarks {' '.join(chosen)}{' --quick' * quick}",
        quick=quick,
    )


def main(argv: Sequence[str] | None = None, *, results: Path = RESULTS) -> int:
    """Run the chosen benchmarks; a missed target does not change the exit status, a failure does."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"all by default; one of: {', '.join(names())}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--quick", action="store_true", help="few repetitions: shows that everything runs")
    way.add_argument("--save", action="store_true", help="keep the rows for the documentation's pages")
    arguments = parser.parse_args(argv)
    unknown = sorted(set(arguments.names) - set(names()))
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(names())}")

    rows: list[Row] = []
    chosen = arguments.names or names()
    for name in chosen:
        benchmark = load(name)
        print(f"{benchmark.NAME} ...", file=sys.stderr, flush=True)
        measured = benchmark.run(arguments.quick)
        print_tables(measured)
        rows += measured
        if arguments.save:
            file = results / f"{name}.json"
            write_json(described([name], measured, quick=False), file)
            print(f"saved to {file}")
    judged = [row.met for row in rows if row.met is not None]
    print(f"{len(rows)} measured, {sum(judged)} of {len(judged)} targets met")
    if arguments.json:
        write_json(described(chosen, rows, quick=arguments.quick), arguments.json)
        print(f"written to {arguments.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
