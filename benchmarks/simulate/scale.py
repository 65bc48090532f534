"""An application on many simulated nodes: `python -m benchmarks.simulate.scale`.

Each node does a part of an epoch that was recorded. The efficiency is the time that as many workers take on one node,
each with a processor of its own and all keys at hand, beside that on the nodes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.apps.tasks import APPS
from benchmarks.harness import Row, print_tables
from benchmarks.network import LINK
from benchmarks.simulate.plot import Scaled, draw
from benchmarks.simulate.program import simulate
from benchmarks.simulate.recording import record, record_large
from benchmarks.simulate.settings import Recorded, Run
from examples.apps.large import TASKS
from examples.apps.management import MANAGEMENTS

SIZES = (8, 32, 64)
PARTS = 64  # of an epoch, of which a node does one
BATCHES = 8  # of a part of a large task
MOST_ALONE = 128  # workers on one node: each has a processor and all keys, so more of them take as long
TIMED = 2  # workers of a large task whose processor time is recorded
PLACE = Path("out/simulate.json")


def scale(
    app: str, sizes: Sequence[int], ways: Sequence[str], work: Recorded, processors: int = Run.processors
) -> Iterator[Scaled]:
    """Simulate each number of nodes with each management."""
    for nodes in sizes:
        # So many epochs that all keys have rows in the last one.
        workers = min(nodes, MOST_ALONE)
        together = Run(nodes=1, workers=workers, processors=workers, work=replace(work, epochs=2))
        alone = simulate(together).epochs(work.stages, apart=True)[-1]
        for way in ways:
            seen = simulate(Run(nodes=nodes, management=way, work=work, processors=processors))
            seconds = seen.epochs(work.stages, apart=True)[-1]
            yield Scaled(app, nodes, way, alone, seconds, seen)


def row_of(one: Scaled) -> Row:
    """Return it as a row."""
    seen = one.seen
    return Row(
        table=f"{one.app} on simulated nodes, {LINK}: a part of an epoch on each",
        what=f"{one.nodes} nodes, {one.management}: efficiency {one.efficiency:.2f}, {seen.share_local:.1%} local, "
        f"{seen.messages.mean:.0f} messages of a node (most {seen.messages.most:.0f}), {seen.bytes.mean / 1e6:.1f} MB "
        f"(most {seen.bytes.most / 1e6:.1f}), server {seen.server_seconds.mean:.2f} s "
        f"(most {seen.server_seconds.most:.2f}), sockets {seen.socket_seconds.mean:.2f} s "
        f"(most {seen.socket_seconds.most:.2f}, of one thread {seen.carrier_seconds.most:.2f}), "
        f"{seen.replicas.most:.0f} replicas, {seen.memory.most / 1e6:.1f} MB of memory",
        ours=one.seconds,
        unit="s",
        peer="one node with as many workers",
        theirs=one.alone,
    )


def large(app: str, parts: int, batches: int, words_at_once: int | None) -> Any:
    """Make a large task of so many parts, each of so many batches."""
    sizes = {} if words_at_once is None else {"words_at_once": words_at_once}
    task: Any = TASKS[app](**sizes)
    task.samples = parts * batches * (task.words_at_once if app == "text" else task.batch_size)
    return task


def main() -> None:
    """Scale as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--app", default="word2vec", choices=[*APPS, *TASKS])
    parser.add_argument("--nodes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--management", nargs="+", default=list(MANAGEMENTS), choices=list(MANAGEMENTS))
    parser.add_argument(
        "--processors", type=int, default=Run.processors, help="of a node; default: %(default)s"
    )
    parser.add_argument("--parts", type=int, default=PARTS, help="of an epoch, of which a node does one")
    parser.add_argument("--words-at-once", type=int, help="of text: words between two clocks")
    parser.add_argument("--batches", type=int, default=BATCHES, help="of a large task: of a part")
    parser.add_argument("--epochs", type=int, default=2, help="of a large task; the last one is timed")
    parser.add_argument("--recorded", type=Path, help="of a large task: record into this directory, once")
    parser.add_argument("--out", type=Path, default=PLACE)
    options = parser.parse_args()
    seen = []
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.recorded or Path(temporary)
        described = directory / "recorded.json"
        if described.exists():
            work = Recorded(**json.loads(described.read_text()))
        elif options.app in TASKS:
            directory.mkdir(parents=True, exist_ok=True)
            task = large(options.app, options.parts, options.batches, options.words_at_once)
            work = record_large(task, options.parts, directory, TIMED, options.epochs)
            described.write_text(json.dumps(asdict(work)))
        else:
            work = record(APPS[options.app].large(), options.parts, directory)
        for one in scale(options.app, options.nodes, options.management, work, options.processors):
            seen.append(one)
            print(
                f"{one.nodes} nodes, {one.management}: efficiency {one.efficiency:.2f}, in {one.seen.took:.0f} s",
                file=sys.stderr,
                flush=True,
            )
            print(row_of(one), file=sys.stderr, flush=True)
    print_tables([row_of(one) for one in seen])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps([asdict(one) for one in seen], indent=2) + "\n")
    draw(seen, options.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
