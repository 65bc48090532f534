"""What replicas cost in quality: each training several times, from other first values, in other orders.

`python -m benchmarks.apps.spread` trains word vectors and the plain factorization on one node, and on two and four with
intents; `--without` takes away one of the things that keep the quality, to see what it is good for.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from examples.apps.corpus import king_james
from examples.apps.entries import made
from examples.apps.management import MANAGEMENTS, Management
from examples.apps.matrix_factorization import MatrixFactorization
from examples.apps.training import train
from examples.apps.word2vec import Word2Vec

Learner = Word2Vec | MatrixFactorization

TASKS: dict[str, tuple[Callable[[], Learner], int]] = {  # name: task, epochs
    "word2vec": (lambda: Word2Vec(king_james(verses=10_000), width=32, window=3), 4),
    "plain": (lambda: MatrixFactorization(made(4_000, 800, 200_000, 8), "plain"), 6),
    "word2vec-large": (lambda: Word2Vec(king_james(), window=3), 3),
    "plain-large": (lambda: MatrixFactorization(made(), "plain"), 6),
}
WITHOUT = ("sync", "sampling", "first-sum")


@dataclass(frozen=True)
class Place:
    """Where it is trained: nodes, workers of each, and how parameters are managed."""

    nodes: int
    workers: int
    management: str

    def __str__(self) -> str:
        return f"{self.nodes} x {self.workers} {self.management}"


PLACES = (
    Place(1, 1, "intent"),
    Place(1, 4, "intent"),
    Place(2, 1, "intent"),
    Place(4, 1, "intent"),
    Place(4, 1, "classic"),
)


def qualities(
    task: Learner, epochs: int, place: Place, management: Management, seeds: int
) -> Iterator[float]:
    """Train once for each seed."""
    for seed in range(1, seeds + 1):
        one = replace(task, seed=seed)
        seen = train(one, management=management, nodes=place.nodes, workers=place.workers, epochs=epochs)
        yield seen[-1].quality


def without(what: Sequence[str], task: Learner, management: Management) -> tuple[Learner, Management]:
    """Take some of the things away that keep the quality where nodes have replicas."""
    if management.replicates:
        sampling = "local" if "sampling" in what else management.sampling
        management = replace(management, sampling=sampling, replicates="sync" not in what)
    if "first-sum" in what:
        task = replace(task, first_sum=0.0)
    return task, management


def main(argv: Sequence[str] | None = None) -> None:
    """Train as the command line says; a line for each place."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tasks", nargs="*", metavar="task", default=["word2vec", "plain"], help=", ".join(TASKS)
    )
    parser.add_argument("--without", action="append", choices=WITHOUT, default=[])
    parser.add_argument("--nodes", action="append", type=int, choices=(1, 2, 4), help="only so many nodes")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args(argv)
    unknown = sorted(set(options.tasks) - set(TASKS))
    if unknown:
        parser.error(f"no task named {', '.join(unknown)}; there are: {', '.join(TASKS)}")
    print("task, nodes x workers, management: mean, standard deviation, least to greatest")
    for name in options.tasks:
        make, epochs = TASKS[name]
        for place in (one for one in PLACES if not options.nodes or one.nodes in options.nodes):
            task, management = without(options.without, make(), MANAGEMENTS[place.management])
            seen = list(qualities(task, epochs, place, management, options.seeds))
            spread = statistics.stdev(seen) if len(seen) > 1 else 0.0
            print(
                f"{name}, {place}: {statistics.mean(seen):.3f} {spread:.3f}, {min(seen):.3f} to {max(seen):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
