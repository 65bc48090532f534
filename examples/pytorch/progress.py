"""What the programs share: their options, and how good a model is from time to time, as numbers and as a picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from textwrap import fill

from matplotlib.figure import Figure

import pyps


def options(description: str | None, steps: int) -> argparse.Namespace:
    """Read --steps and --plot."""
    summary = (description or "").partition("\n")[0]
    parser = argparse.ArgumentParser(
        description=summary, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=steps, help="batches of each process")
    parser.add_argument("--plot", metavar="FILE", help="write the curve there: .svg, .png or .pdf")
    return parser.parse_args()


@dataclass
class Curve:
    """How good a model is after so many steps.

    Parameters
    ----------
    measure : str
        What `quality` says.
    is_silent : bool
        Nothing is printed: of several processes one does.
    """

    measure: str
    is_silent: bool = False
    steps: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def follow(self, steps: int, quality: Callable[[], float], looks: int = 10) -> Iterator[int]:
        """Yield the numbers of steps; before the first, after the last, and evenly between, look at the quality."""
        every = max(steps // looks, 1)
        for step in range(steps):
            if step % every == 0:
                self.add(step, quality())
            yield step
        self.add(steps, quality())

    def add(self, step: int, value: float) -> None:
        """Note a value, and print it."""
        self.steps.append(step)
        self.values.append(value)
        if not self.is_silent:
            print(f"step {step:5}: {self.measure} {value:.3f}", flush=True)

    def draw(self, file: str, title: str) -> None:
        """Write the curve as a picture."""
        figure = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.add_subplot(title=fill(title, 45), xlabel="steps", ylabel=self.measure)
        axes.plot(self.steps, self.values, marker=".")
        axes.grid(alpha=0.3)
        figure.savefig(file)


def run(train: Callable[..., Curve], description: str | None, steps: int) -> None:
    """Train as the command line says: by itself, or as one of a cluster's processes, of which the first one draws."""
    given = options(description, steps)
    with pyps.init(num_keys=1, value_length=1) as node, node.worker() as kv:
        curve = train(node, kv, given.steps)
        if given.plot and node.job.rank == 0:
            curve.draw(given.plot, (description or "").partition(".")[0])
