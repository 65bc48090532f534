"""Models with 10^7 to 10^8 keys on 1, 2 and 4 hosts: classic management, intents, and nodes that choose by themselves.

Leaves `out/large.json` with every epoch, and `out/large-NAME-WIDTH.png` with the speed over the number of hosts and the
quality over time for each of `matrix`, `graph`, `text` and `clicks`, with 128 parameters of a key and, in fewer places,
with 512. Hosts, links and seconds are those of `network`, and so are the trainings of hosts that train alone.
"""

from __future__ import annotations

import itertools
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
PLACES = {  # hosts and management, by the parameters of a key
    128: [(1, ALONE), *itertools.product((2, 4), (ALONE, "classic", "intent", "auto"))],
    512: [(1, ALONE), *itertools.product((4,), (ALONE, "classic", "auto"))],
}
QUICK = {8: [(1, ALONE), (2, ALONE), (2, "classic")]}
EPOCHS = 12  # with auto nodes try something in about four of them


def run(quick: bool) -> list[Row]:
    """Train each of them everywhere, for as many samples."""
    rows: list[Row] = []
    trained: list[Training] = []
    for app, (width, places) in itertools.product(
        ["matrix"] if quick else TASKS, (QUICK if quick else PLACES).items()
    ):
        alike = [trained_at(app, width, nodes, management, quick) for nodes, management in places]
        draw(alike, title_of(app, width), LINK, PLACE / f"large-{app}-{width}.png")
        rows += rows_of(alike, title_of(app, width))
        trained += alike
        write(trained, PLACE / "large.json")
    return rows


def title_of(app: str, width: int) -> str:
    """Return what a training is of."""
    return f"{TITLES[app]} of {width} parameters"


def trained_at(app: str, width: int, nodes: int, management: str, quick: bool) -> Training:
    """Train on some hosts."""
    task = TASKS[app](samples=8192, width=width) if quick else TASKS[app](width=width)
    epochs = 2 if quick else EPOCHS
    seen, passed = train_on_hosts(
        task, management=management, nodes=nodes, epochs=epochs, link=LINK, layout=Rows(task), parted=True
    )
    done = Training(f"{app}-{width}", management, nodes, f"{task.metric} (best: {task.best():.3f})", seen)
    print(
        f"{title_of(app, width)}, {nodes} hosts, {management}: {done.seconds:.2f} s an epoch; of the relay "
        f"{passed.core_seconds:.1f} s",
        file=sys.stderr,
        flush=True,
    )
    return done


def rows_of(trained: Sequence[Training], title: str) -> Iterator[Row]:
    """Return a row for each training by several hosts, beside the one by hosts that train alone."""
    for one in trained:
        if one.management == ALONE:
            continue
        alone = alone_on(one.nodes, one.app, trained)
        yield Row(
            table=f"{NAME}: {title} over {LINK}: {one.metric}, samples a second",
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
