"""A picture of one model's trainings: the speed over the number of hosts, and the quality over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.apps.measure import Training
from benchmarks.apps.plot import curves
from benchmarks.network.hosts import Link
from benchmarks.network.plot import speed_ups
from benchmarks.network.training import ALONE


def draw(trained: Sequence[Training], title: str, link: Link, path: Path) -> None:
    """Write a PNG."""
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    speeds, qualities = figure.subplots(1, 2)
    speed_ups(speeds, trained)
    curves(qualities, [one for one in trained if one.nodes == 1 or one.management != ALONE])
    figure.suptitle(f"{title}, links of {link}")
    figure.legend(*speeds.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
