"""A picture of the trainings: how long an epoch takes, and how good the parameters are after how many seconds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.apps.measure import Training
from benchmarks.apps.tasks import APPS
from examples.apps.management import MANAGEMENTS

COLOURS = dict(zip(MANAGEMENTS, ("tab:gray", "tab:blue", "tab:orange", "tab:green"), strict=True))


def draw(trained: Sequence[Training], path: Path) -> None:
    """Draw a column for each app and write a PNG."""
    apps = [app for app in APPS if any(one.app == app for one in trained)]
    figure = Figure(figsize=(3.6 * len(apps), 6.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, len(apps), squeeze=False)
    for column, app in enumerate(apps):
        of_app = [one for one in trained if one.app == app]
        _bars(axes[0, column], of_app)
        curves(axes[1, column], of_app)
        axes[0, column].set_title(APPS[app].title)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(MANAGEMENTS))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def _bars(axes: Axes, trained: Sequence[Training]) -> None:
    nodes = sorted({one.nodes for one in trained})
    for one in trained:
        place = nodes.index(one.nodes) + 0.27 * (list(MANAGEMENTS).index(one.management) - 1)
        label = one.management if one.nodes == nodes[-1] else None
        axes.bar(place, one.seconds, 0.25, color=COLOURS[one.management], label=label)
    axes.set_xticks(range(len(nodes)), [str(count) for count in nodes])
    axes.set_xlabel("nodes")
    axes.set_ylabel("seconds an epoch")


def curves(axes: Axes, trained: Sequence[Training]) -> None:
    """Draw the quality over the time."""
    styles = {1: ":", 2: "-", 4: "--"}
    for one in trained:
        seconds = list(accumulate(epoch.seconds for epoch in one.epochs))
        quality = [epoch.quality for epoch in one.epochs]
        axes.plot(
            seconds, quality, styles[one.nodes], color=COLOURS.get(one.management, "black"), linewidth=1
        )
    axes.set_xlabel("seconds (1 node dotted, 2 full, 4 dashed)")
    axes.set_ylabel(trained[0].metric)
