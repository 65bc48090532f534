"""Pictures of results: a bar for each row that has a peer, from 1 to its ratio, on a log axis.

To the right of the line at 1 is better in every picture: where less is better, the axis runs from right to left. The
same rows always give the same bytes.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.harness import Row, shown

WIDTH = 320.0  # points: hardly wider than a phone, so that the letters are nearly as large there
SIDE = 8.0  # free at the left and right
LETTER = 9.0
LINE = 12.5  # a line of text
BAR = 9.0
GAP = 8.0  # below a bar
LETTERS = 42  # in a line of a label
POWERS = [float(f"1e{power}") for power in range(-6, 7)]
TICKS = [mantissa * power for power in POWERS for mantissa in (1, 2, 5)]
SIDES: dict[Literal["less", "more"], bool] = {"less": False, "more": True}
VERDICTS = {True: "met", False: "missed", None: "no target"}


@dataclass(frozen=True)
class Theme:
    """Colours for one kind of background, which itself is left as it is."""

    text: str
    faint: str
    verdicts: dict[bool | None, str]


# Blue and orange, which nobody confuses; the words beside the bars say the same.
THEMES = {
    "light": Theme("#3a3a3a", "#c4c4c4", {True: "#2b7bba", False: "#d1531b", None: "#8c8c8c"}),
    "dark": Theme("#d0d0d0", "#505050", {True: "#5aa9e6", False: "#f0803c", None: "#8c8c8c"}),
}


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One row in a picture.

    Attributes
    ----------
    what, peer : str
        What the ratio is of; `peer` is empty where all bars of a picture have the same.
    ratio, target : float
        `target` is a bound on the ratio, None where there is none.
    met : bool
        Whether the target was met; None where there is none.
    """

    what: str
    peer: str
    ratio: float
    target: float | None
    met: bool | None


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Bars that share an axis because for all of them the same is better."""

    better: Literal["less", "more"]
    peer: str
    bars: Sequence[Bar]


def panels(rows: Sequence[Row]) -> list[Panel]:
    """Return what a picture of the rows shows: a panel where less is better, one where more is, or one of the two."""
    drawn = [row for row in rows if row.ratio]
    peers = {row.peer for row in drawn}
    only = peers.pop() if len(peers) == 1 else ""
    found = []
    for better, more in SIDES.items():
        bars = [
            Bar(
                what=row.what,
                peer="" if only else row.peer,
                ratio=row.ratio or 0.0,
                target=row.target_ratio,
                met=row.met,
            )
            for row in drawn
            if row.more_is_better is more
        ]
        if bars:
            found.append(Panel(better=better, peer=only or "peer", bars=bars))
    return found


def in_words(rows: Sequence[Row]) -> str:
    """Say what a picture of the rows shows, for who cannot see it."""
    said = [
        f"{bar.what}{f' (peer: {bar.peer})' if bar.peer else ''}: {_said(bar)}"
        for panel in panels(rows)
        for bar in panel.bars
    ]
    return f"Bars of the ratios to the peer, to the right is better. {'; '.join(said)}."


def svg(rows: Sequence[Row], theme: str) -> str:
    """Draw the rows that have a peer, in the colours of a theme; at least one must have one."""
    with mpl.rc_context():
        mpl.rcdefaults()  # whatever the user has set
        mpl.rc("svg", hashsalt="moontide", fonttype="none")
        mpl.rc("text", parse_math=False)
        mpl.rc("font", size=LETTER)
        out = io.StringIO()
        metadata = {"Date": None, "Creator": None}
        _figure(panels(rows), THEMES[theme]).savefig(out, format="svg", transparent=True, metadata=metadata)
    return out.getvalue()


def _figure(shown_panels: Sequence[Panel], theme: Theme) -> Figure:
    """Place panels below each other, all in points, and the legend at the bottom."""
    heights = [sum(_height(bar) for bar in panel.bars) for panel in shown_panels]
    head, foot, legend = 2.5 * LINE, 2.5 * LINE, 1.5 * LINE
    height = sum(heights) + len(heights) * (head + foot) + legend
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    top = height
    for panel, of_bars in zip(shown_panels, heights, strict=True):
        top -= head + of_bars
        place = (SIDE / WIDTH, top / height, 1 - 2 * SIDE / WIDTH, of_bars / height)
        _draw(figure.add_axes(place), panel, of_bars, theme)
        top -= foot
    _legend(figure, shown_panels, theme, height)
    return figure


def _said(bar: Bar) -> str:
    return f"{shown(bar.ratio)}x" + ("" if bar.met is None else f" {VERDICTS[bar.met]}")


def _lines(bar: Bar) -> list[str]:
    said = [bar.what, f"peer: {bar.peer}"] if bar.peer else [bar.what]
    return [line for text in said for line in textwrap.wrap(text, LETTERS)]


def _height(bar: Bar) -> float:
    return len(_lines(bar)) * LINE + BAR + GAP


def _draw(axes: Axes, panel: Panel, height: float, theme: Theme) -> None:
    ticks = _prepare(axes, panel, theme)
    axes.set_ylim(height, 0)  # points from the top
    across = axes.get_yaxis_transform()
    y = 0.0
    for number, bar in enumerate(panel.bars):
        colour = theme.verdicts[bar.met]
        axes.text(1, y + LINE / 2, _said(bar), transform=across, ha="right", va="center", color=colour)
        for line in _lines(bar):
            axes.text(0, y + LINE / 2, line, transform=across, va="center", color=theme.text)
            y += LINE
        # Lines are drawn beside bars only: elsewhere they would cross the text.
        axes.vlines(ticks, y, y + BAR, color=theme.faint, linewidth=0.7, zorder=0)
        (drawn,) = axes.barh(y + BAR / 2, bar.ratio - 1, BAR - 2, left=1, color=colour)
        drawn.set_gid(f"{panel.better}-bar-{number}")
        for x, width, name in ((1.0, 0.9, "one"), (bar.target, 2.0, "target")):
            if x is not None:
                (line_at_x,) = axes.plot([x, x], [y, y + BAR], color=theme.text, linewidth=width)
                line_at_x.set_gid(f"{panel.better}-{name}-{number}")
        y += BAR + GAP
    for x, side, text in ((0, "left", "← worse"), (1, "right", "better →")):
        axes.text(x, height + 1.4 * LINE, text, transform=across, ha=side, va="center", color=theme.text)


def _prepare(axes: Axes, panel: Panel, theme: Theme) -> list[float]:
    """Set the axis and what is written above and below the bars; return the ticks."""
    numbers = [1.0, *(bar.ratio for bar in panel.bars), *(bar.target for bar in panel.bars if bar.target)]
    low, high = min(0.5, *numbers) / 1.15, max(2.0, *numbers) * 1.15
    axes.set_xscale("log")
    axes.set_xlim((low, high) if panel.better == "more" else (high, low))
    ticks = [tick for tick in TICKS if low <= tick <= high]
    if len(ticks) > 8:
        ticks = [tick for tick in ticks if tick in POWERS]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}x"))
    axes.yaxis.set_major_locator(NullLocator())
    axes.tick_params(axis="x", length=0, colors=theme.text, pad=0)
    axes.spines[:].set_visible(False)
    title = textwrap.fill(f"ours / {panel.peer}: {panel.better} is better", LETTERS)
    axes.set_title(title, loc="left", fontsize=LETTER, color=theme.text, fontweight="bold", pad=6)
    return ticks


def _legend(figure: Figure, shown_panels: Sequence[Panel], theme: Theme, height: float) -> None:
    bars = [bar for panel in shown_panels for bar in panel.bars]
    verdicts = {bar.met for bar in bars}
    marks = [("■", theme.verdicts[met], said) for met, said in VERDICTS.items() if met in verdicts]
    if any(bar.target for bar in bars):
        marks.append(("┃", theme.text, "target"))
    x = SIDE
    for mark, colour, said in marks:
        figure.text(x / WIDTH, LINE / height / 2, mark, color=colour, va="center")
        figure.text((x + LETTER + 2) / WIDTH, LINE / height / 2, said, color=theme.text, va="center")
        x += LETTER * (3 + 0.6 * len(said))
