"""Models with 10^7 to 10^8 keys on 1, 2 and 4 hosts: classic management, intents, and nodes that choose by themselves.

Leaves `out/large.json` with every epoch, and `out/large-NAME.png` with the speed over the number of hosts and the
quality over time for each of `matrix`, `graph`, `text` and `clicks`. Hosts, links and seconds are those of `network`,
and so are the trainings of hosts that train alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from benchmarks.apps.measure import Training, write
from benchmarks.harness import Row
from benchmarks.large.plot import draw
from benchmarks.network import LINK, PLACE
from benchmarks.network.training import ALONE, alone_on, train_on_hosts
from examples.apps.large import TASKS
from examples.apps.rows import Rows

NAME = "large"
TITLES = {
    "matrix": "matrix factorization, 10^7 keys",
    "graph": "ComplEx, 10^7 keys",
    "text": "word2vec, 2 x 10^7 keys",
    "clicks": "DLRM, 10^8 keys",
}
MANAGED = ("classic", "intent", "auto")
PLACES = ((1, ALONE), *((hosts, how) for hosts in (2, 4) for how in (ALONE, *MANAGED)))
EPOCHS = 12  # with auto nodes try something in about four of them


def run(quick: bool) -> list[Row]:
    """Train each of them everywhere, for as many samples."""
    rows: list[Row] = []
    trained: list[Training] = []
    for app in ["matrix"] if quick else TASKS:
        of_app = [
            trained_at(app, nodes, management, quick) for nodes, management in PLACES[: 3 if quick else None]
        ]
        draw(of_app, TITLES[app], LINK, PLACE / f"large-{app}.png")
        rows += rows_of(of_app)
        trained += of_app
        write(trained, PLACE / "large.json")
    return rows


def trained_at(app: str, nodes: int, management: str, quick: bool) -> Training:
    """Train on some hosts."""
    task = TASKS[app](samples=8192, width=8) if quick else TASKS[app]()
    epochs = 2 if quick else EPOCHS
    seen, passed = train_on_hosts(
        task, management=management, nodes=nodes, epochs=epochs, link=LINK, layout=Rows(task), parted=True
    )
    done = Training(app, management, nodes, f"{task.metric} (best: {task.best():.3f})", seen)
    print(
        f"{TITLES[app]}, {nodes} hosts, {management}: {done.seconds:.2f} s an epoch; of the relay "
        f"{passed.core_seconds:.1f} s",
        file=sys.stderr,
        flush=True,
    )
    return done


def rows_of(trained: Sequence[Training]) -> Iterator[Row]:
    """Return a row for each training by several hosts, beside the one by hosts that train alone."""
    for one in trained:
        if one.management == ALONE:
            continue
        alone = alone_on(one.nodes, one.app, trained)
        yield Row(
            table=f"{NAME}: {TITLES[one.app]} over {LINK}: {one.metric}, samples a second",
            what=f"{one.nodes} hosts, {one.management}: {one.quality:.3f}, {one.share_local:.1%} local, {costs(one)}",
            ours=speed(one),
            unit="/s",
            peer=f"alone: {alone.quality:.3f}, {costs(alone)}",
            theirs=speed(alone),
        )


def costs(trained: Training) -> str:
    """Return what an epoch computes, and what the stores take in the end."""
    return f"{trained.core_seconds:.2f} s of cores, {trained.epochs[-1].memory / 1e9:.2f} GB"


def speed(trained: Training) -> float:
    """Return the samples of a second."""
    return trained.epochs[-1].samples / trained.seconds
