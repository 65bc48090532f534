"""What the demo shows at its end: a table, and a picture of the curves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from moontide.demo.messages import Done, Epoch

LEAST_ACCURACY = 0.95
LARGEST_DIFFERENCE = 1e-5
LONGEST_WAIT = 0.020  # seconds
COLOURS = {"Lua": "#1f3a93", "PyTorch": "#d35400"}


@dataclass
class Record:
    """What one worker reported; `side` is Lua or PyTorch."""

    side: str
    epochs: list[Epoch] = field(default_factory=list)
    done: Done | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a run.

    Attributes
    ----------
    records : dict of str to Record
        By the workers' names.
    accuracies : dict of str to float
        Of each side's model on the test samples, 0..1, all with the final parameters.
    difference : float
        The largest absolute difference between the two models' outputs on those samples.
    """

    records: dict[str, Record]
    accuracies: dict[str, float]
    difference: float

    @property
    def longest_wait(self) -> float:
        """The longest time in seconds that any worker spent in one pull or push."""
        return max(done.longest_wait for side in self.accuracies for done in self.totals(side))

    @property
    def good(self) -> bool:
        """Whether both models are accurate and the same; times depend on the machine and do not count."""
        accurate = min(self.accuracies.values()) >= LEAST_ACCURACY
        return accurate and self.difference <= LARGEST_DIFFERENCE

    def totals(self, side: str) -> list[Done]:
        """Return the totals of the workers of one side."""
        return [record.done for record in self.records.values() if record.side == side and record.done]


def mark(good: bool) -> str:
    """Return how a bound was kept, in colour."""
    return "[green]met[/]" if good else "[red]missed[/]"


def print_outcome(outcome: Outcome, console: Console) -> None:
    """Print the table: a column per side, and what was to be shown."""
    sides = list(outcome.accuracies)
    table = Table("", *sides, "to reach", "", title="the same parameters, two models", title_justify="left")
    for column in table.columns[1 : len(sides) + 1]:
        column.justify = "right"
    totals = {side: outcome.totals(side) for side in sides}
    accuracies = [f"{outcome.accuracies[side]:.1%}" for side in sides]
    accurate = min(outcome.accuracies.values()) >= LEAST_ACCURACY
    table.add_row("test accuracy", *accuracies, f">= {LEAST_ACCURACY:.0%}", mark(accurate))
    table.add_row("steps", *(f"{sum(d.steps for d in totals[side]):,}" for side in sides))
    table.add_row(
        "pulls per second", *(f"{sum(d.pulls / d.seconds for d in totals[side]):,.0f}" for side in sides)
    )
    table.add_row(
        "pushes per second", *(f"{sum(d.pushes / d.seconds for d in totals[side]):,.0f}" for side in sides)
    )
    table.add_row(
        "longest pull or push",
        *(f"{max(d.longest_wait for d in totals[side]) * 1e3:.2f} ms" for side in sides),
        f"< {LONGEST_WAIT * 1e3:.0f} ms",
        mark(outcome.longest_wait < LONGEST_WAIT),
    )
    table.add_row(
        "largest difference of outputs",
        f"{outcome.difference:.1e}",
        *("" for _ in sides[1:]),
        f"<= {LARGEST_DIFFERENCE:.0e}",
        mark(outcome.difference <= LARGEST_DIFFERENCE),
    )
    console.print(table)


def draw_curves(records: dict[str, Record], path: Path) -> None:
    """Write the loss and accuracy curves as a PNG: thin lines per worker, a thick one per side."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = zip(figure.subplots(1, 2), ("loss", "accuracy"), strict=True)
    for axes, quantity in panels:
        for side, colour in COLOURS.items():
            curves = [
                [getattr(epoch, quantity) for epoch in record.epochs]
                for record in records.values()
                if record.side == side
            ]
            numbers = np.arange(1, len(curves[0]) + 1)
            axes.plot(numbers, np.transpose(curves), color=colour, linewidth=0.6, alpha=0.5)
            axes.plot(numbers, np.mean(curves, axis=0), color=colour, linewidth=2, label=f"{side} workers")
        axes.set_xlabel("epoch")
        axes.grid(alpha=0.3)
        axes.legend()
    left, right = figure.axes
    left.set(title="training loss", yscale="log")
    right.set(title="test accuracy", ylim=(None, 1.0))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
