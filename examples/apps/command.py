"""The command line that the programs share."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from examples.apps.layout import Layout
from examples.apps.management import MANAGEMENTS
from examples.apps.rows import MADE, LargeTask, Rows
from examples.apps.task import Task
from examples.apps.training import train


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


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Add the options of programs with many keys."""
    parser.add_argument("--keys", type=int, help="how many there may be")
    parser.add_argument("--dim", dest="width", type=int, help="parameters of a key")
    parser.add_argument("--samples", type=int, help="of an epoch")
    parser.add_argument(
        "--made", choices=MADE, default="used", help="which keys exist: those that were used, or all"
    )


def run_large(make: Callable[..., LargeTask], options: argparse.Namespace) -> None:
    """Make a task in the given sizes and train it."""
    sizes = {name: getattr(options, name) for name in ("keys", "width", "samples")}
    task = make(**{name: size for name, size in sizes.items() if size is not None})
    print(f"the best {task.metric} there can be: {task.best():.3f}")
    run(task, options, Rows(task, options.made))


def run(task: Task, options: argparse.Namespace, layout: Layout | None = None) -> None:
    """Train, and print a line for each epoch."""
    seen = train(
        task,
        management=options.management,
        nodes=options.nodes,
        workers=options.workers,
        epochs=options.epochs,
        layout=layout,
    )
    for number, epoch in enumerate(seen, 1):
        print(
            f"epoch {number}: {epoch.seconds:.2f} s ({epoch.core_seconds:.2f} s of cores), "
            f"{epoch.samples / epoch.seconds:.0f} samples/s, {epoch.memory / 1e9:.2f} GB, loss {epoch.loss:.0f}, "
            f"{task.metric} {epoch.quality:.3f}, {100 * epoch.share_local:.1f} % local"
        )
