"""A picture of the trainings on hosts: how many times as fast an epoch is as on one alone, with each management."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.apps.measure import Training
from benchmarks.apps.plot import COLOURS
from benchmarks.apps.tasks import APPS
from benchmarks.network.hosts import Link
from benchmarks.network.training import alone_on
from examples.apps.management import MANAGEMENTS


def draw(trained: Sequence[Training], link: Link, path: Path) -> None:
    """Draw a column for each app and write a PNG."""
    apps = [app for app in APPS if any(one.app == app for one in trained)]
    figure = Figure(figsize=(3.6 * len(apps), 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, app in zip(figure.subplots(1, len(apps), squeeze=False)[0], apps, strict=True):
        speed_ups(axes, [one for one in trained if one.app == app])
        axes.set_title(APPS[app].title)
    figure.suptitle(f"links of {link}")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(MANAGEMENTS) + 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def speed_ups(axes: Axes, trained: Sequence[Training]) -> None:
    """Draw a line for each management that was trained with on several hosts, and the ideal one."""
    nodes = sorted({one.nodes for one in trained})
    used = {one.management for one in trained}
    for management in (name for name in MANAGEMENTS if name in used):
        seen = {1: 1.0}
        for one in (one for one in trained if one.management == management):
            seen[one.nodes] = alone_on(one.nodes, one.app, trained).seconds / one.seconds
        places = sorted(seen)
        axes.plot(
            places, [seen[place] for place in places], "o-", color=COLOURS[management], label=management
        )
    axes.plot(nodes, nodes, "k:", label="ideal")
    axes.set(xlabel="hosts", ylabel="times the speed of one alone", xticks=nodes, ylim=0)
