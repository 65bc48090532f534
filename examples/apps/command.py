"""The command line that the programs share."""

from __future__ import annotations

import argparse

from examples.apps.management import MANAGEMENTS
from examples.apps.training import Task, train


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all programs have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=2, help="processes, each with a part of the keys")
    parser.add_argument("--workers", type=int, default=1, help="threads in each of them")
    parser.add_argument("--management", choices=sorted(MANAGEMENTS), default="intent")
    parser.add_argument("--epochs", type=int, default=5)
    return parser


def run(task: Task, options: argparse.Namespace) -> None:
    """Train, and print a line for each epoch."""
    seen = train(
        task,
        management=options.management,
        nodes=options.nodes,
        workers=options.workers,
        epochs=options.epochs,
    )
    for number, epoch in enumerate(seen, 1):
        print(
            f"epoch {number}: {epoch.seconds:.2f} s ({epoch.core_seconds:.2f} s of cores), loss {epoch.loss:.0f}, "
            f"{task.metric} {epoch.quality:.3f}, {100 * epoch.share_local:.1f} % local"
        )
