"""`python -m benchmarks [name ...]`: run benchmarks, print their tables, write JSON if asked."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, cast

import benchmarks
from benchmarks.harness import Row, print_tables, write_json

NOT_BENCHMARKS = {"__main__", "harness", "nodes"}  # the last is a part of ps


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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen benchmarks; a missed target does not change the exit status, a failure does."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"all by default; one of: {', '.join(names())}"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    parser.add_argument("--quick", action="store_true", help="few repetitions: shows that everything runs")
    arguments = parser.parse_args(argv)
    unknown = sorted(set(arguments.names) - set(names()))
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(names())}")

    rows: list[Row] = []
    for name in arguments.names or names():
        benchmark = load(name)
        print(f"{benchmark.NAME} ...", file=sys.stderr, flush=True)
        measured = benchmark.run(arguments.quick)
        print_tables(measured)
        rows += measured
    judged = [row.met for row in rows if row.met is not None]
    print(f"{len(rows)} measured, {sum(judged)} of {len(judged)} targets met")
    if arguments.json:
        write_json(rows, arguments.json)
        print(f"written to {arguments.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
