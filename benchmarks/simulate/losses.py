"""A node is lost: how long until all others know it, and what they send: `python -m benchmarks.simulate.losses`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from benchmarks.harness import Row, print_tables
from benchmarks.simulate.program import Spread, ask
from benchmarks.simulate.settings import Run

SIZES = (8, 32, 64, 128, 256)
LIMIT = 60.0  # seconds after which nobody waits any longer


@dataclass(frozen=True)
class Loss:
    """What was seen.

    Attributes
    ----------
    known : int
        Nodes that know of the loss in the end.
    seconds : float
        Until the last one does.
    messages, most_received, bytes : int
        That all sent, that one received, and bytes of all.
    thought : Spread
        Real seconds of the shipped code on a node.
    """

    known: int
    seconds: float
    messages: int
    most_received: int
    bytes: int
    thought: Spread


def lose(
    nodes: int, *, goes_on: bool = True, refused: bool = True, thinking: bool = False, lost: int = -1
) -> Loss:
    """Lose a node of a cluster.

    Parameters
    ----------
    nodes : int
    goes_on : bool
        The others go on without it; else they end.
    refused : bool
        Its host says that its process has ended; else nothing is heard from there.
    thinking : bool
        What the shipped code computes takes as long as it does here, so that runs differ; else it takes no time.
    lost : int
        Which one; by default the last.
    """
    settings = {
        "limit": LIMIT,
        "goes_on": int(goes_on),
        "refused": int(refused),
        "thinking": int(thinking),
        "lost": lost % nodes,
    }
    lines = [*Run(nodes=nodes).lines(), *(f"{name} {value}" for name, value in settings.items())]
    seen = ask("loss", "\n".join(lines))
    return Loss(**seen | {"thought": Spread(*seen["thought"])})


def row_of(nodes: int, how: str, loss: Loss) -> Row:
    """Return a loss as a row."""
    return Row(
        table="a node is lost: until all others know it",
        what=f"{nodes} nodes, {how}: {loss.messages} messages, {loss.bytes / 1e6:.2f} MB, at most "
        f"{loss.most_received} to one, which computed {loss.thought.most:.3f} s",
        ours=loss.seconds,
        unit="s",
        target="<= 5 s",
    )


def main() -> None:
    """Lose nodes as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", nargs="+", type=int, default=SIZES)
    parser.add_argument(
        "--thinking", action="store_true", help="what is computed takes the time that it takes here"
    )
    options = parser.parse_args()
    rows = []
    for nodes in options.nodes:
        for goes_on in (True, False):
            for refused in (True, False):
                how = f"{'the others go on' if goes_on else 'all end'}, {'refused' if refused else 'silent'}"
                loss = lose(nodes, goes_on=goes_on, refused=refused, thinking=options.thinking)
                rows.append(row_of(nodes, how, loss))
    print_tables(rows)


if __name__ == "__main__":
    main()
