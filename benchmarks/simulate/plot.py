"""A picture of simulated clusters: what is left of each node's speed, and what a node sends, by the number of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from benchmarks.apps.plot import COLOURS
from benchmarks.simulate.program import Seen


@dataclass(frozen=True)
class Scaled:
    """A number of nodes with one management: seconds of an epoch there, and on one node with as many workers."""

    app: str
    nodes: int
    management: str
    alone: float
    seconds: float
    seen: Seen

    @property
    def efficiency(self) -> float:
        """The part of the ideal speed."""
        return self.alone / self.seconds


def draw(seen: Sequence[Scaled], path: Path) -> None:
    """Draw the efficiency, the messages in a second, and the server's load; write a PNG."""
    figure = Figure(figsize=(10.8, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    efficiency, messages, load = figure.subplots(1, 3)
    for management in dict.fromkeys(one.management for one in seen):
        points = [one for one in seen if one.management == management]
        nodes = [one.nodes for one in points]
        took = [one.seen.barriers[-1] - one.seen.barriers[0] for one in points]
        style = {"color": COLOURS[management], "label": management, "marker": "o"}
        efficiency.plot(nodes, [one.efficiency for one in points], **style)
        messages.plot(
            nodes, [one.seen.messages.mean / time for one, time in zip(points, took, strict=True)], **style
        )
        load.plot(
            nodes,
            [one.seen.server_seconds.most / time for one, time in zip(points, took, strict=True)],
            **style,
        )
    efficiency.axhline(0.7, color="k", linestyle=":")
    efficiency.set(ylabel="efficiency", ylim=(0, 1.05))
    messages.set(ylabel="messages of a node in a second", yscale="log")
    load.set(ylabel="load of the busiest server", ylim=(0, 1.05))
    for axes in (efficiency, messages, load):
        axes.set(xlabel="nodes", xscale="log")
    figure.legend(*efficiency.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
