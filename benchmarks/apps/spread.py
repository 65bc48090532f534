"""What replicas cost in quality: each training several times, from other first values, in other orders.

`python -m benchmarks.apps.spread` trains tasks, by default word vectors and the plain factorization, on one node, on
two with intents, and on four with intents, with classic management and with nodes that choose; `--without` takes one
of the things away that keep the quality, to see what it is good for, and `--compression` has deltas compressed. Bytes
are those of the loopback: of all programs, unless this one has a network of its own (`unshare --net sh -c 'ip link set
lo up && ...'`).
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from examples.apps.corpus import king_james
from examples.apps.entries import made
from examples.apps.knowledge_graph import KnowledgeGraph
from examples.apps.management import MANAGEMENTS, Management
from examples.apps.matrix_factorization import MatrixFactorization
from examples.apps.training import train
from examples.apps.triples import wordnet_verbs
from examples.apps.word2vec import Word2Vec

Learner = Word2Vec | MatrixFactorization | KnowledgeGraph

TASKS: dict[str, tuple[Callable[[], Learner], int]] = {  # name: task, epochs
    "word2vec": (lambda: Word2Vec(king_james(verses=10_000), width=32, window=3), 4),
    "plain": (lambda: MatrixFactorization(made(4_000, 800, 200_000, 8), "plain"), 6),
    "word2vec-large": (lambda: Word2Vec(king_james(), window=3), 3),
    "plain-large": (lambda: MatrixFactorization(made(), "plain"), 6),
    "dsgd-large": (lambda: MatrixFactorization(made(), "dsgd"), 6),
    "complex": (lambda: KnowledgeGraph(wordnet_verbs()), 16),
}
WITHOUT = ("sync", "sampling", "first-sum")


@dataclass(frozen=True)
class Place:
    """Where it is trained: nodes, workers of each, and how parameters are managed."""

    nodes: int
    workers: int
    management: str

    @property
    def replicates(self) -> bool:
        """Whether nodes have replicas, whose deltas may be compressed."""
        return self.nodes > 1 and MANAGEMENTS[self.management].replicates

    def __str__(self) -> str:
        return f"{self.nodes} x {self.workers} {self.management}"


PLACES = (
    Place(1, 1, "intent"),
    Place(1, 4, "intent"),
    Place(2, 1, "intent"),
    Place(4, 1, "intent"),
    Place(4, 1, "classic"),
    Place(4, 1, "auto"),
)


@dataclass(frozen=True)
class Run:
    """What was seen in one training: the quality in the end, and what an epoch took."""

    quality: float
    core_seconds: float
    megabytes: float


def runs(
    task: Learner, epochs: int, place: Place, management: Management, seeds: int, compression: str | None
) -> Iterator[Run]:
    """Train once for each seed."""
    for seed in range(1, seeds + 1):
        before = loopback_bytes()
        seen = train(
            replace(task, seed=seed),
            management=management,
            nodes=place.nodes,
            workers=place.workers,
            epochs=epochs,
            compression=compression,
        )
        core_seconds = statistics.median(epoch.core_seconds for epoch in seen[1:])
        yield Run(seen[-1].quality, core_seconds, (loopback_bytes() - before) / epochs / 1e6)


def loopback_bytes() -> int:
    """Return how many bytes have passed the loopback."""
    lines = Path("/proc/self/net/dev").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.split()[0] == "lo:")


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
    parser.add_argument("--compression", action="append", help="as for pyps.Server; several take turns")
    parser.add_argument("--nodes", action="append", type=int, choices=(1, 2, 4), help="only so many nodes")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args(argv)
    unknown = sorted(set(options.tasks) - set(TASKS))
    if unknown:
        parser.error(f"no task named {', '.join(unknown)}; there are: {', '.join(TASKS)}")
    print(
        "task, nodes x workers, management: quality, mean, standard deviation, least to greatest; of an epoch"
    )
    for name in options.tasks:
        make, epochs = TASKS[name]
        for place in PLACES:
            if (options.nodes and place.nodes not in options.nodes) or (
                options.compression and not place.replicates
            ):
                continue
            task, management = without(options.without, make(), MANAGEMENTS[place.management])
            compressions = options.compression or [None]
            turns = [
                runs(task, epochs, place, management, options.seeds, compression)
                for compression in compressions
            ]
            of_turns = zip(*zip(*turns, strict=True), strict=True)
            for compression, seen in zip(compressions, of_turns, strict=True):
                compressed = f" {compression}" if compression else ""
                print(f"{name}, {place}{compressed}: {summary(seen)}", flush=True)


def summary(seen: Sequence[Run]) -> str:
    """Describe the trainings of several seeds."""
    qualities = [run.quality for run in seen]
    spread = statistics.stdev(qualities) if len(qualities) > 1 else 0.0
    return (
        f"{statistics.mean(qualities):.3f} {spread:.3f}, {min(qualities):.3f} to {max(qualities):.3f}; "
        f"{statistics.median(run.core_seconds for run in seen):.2f} s of cores, "
        f"{statistics.median(run.megabytes for run in seen):.1f} MB"
    )


if __name__ == "__main__":
    main()
