"""Curves as pictures, for the `optim.Logger` of Lua; matplotlib is loaded when the first one is drawn.

Programs plot after each step, so a file is drawn a few times a second at most. What came in between waits for the next
plot, for the end of the Lua state or for that of the process: the last curves are always drawn.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAUSE = 0.25  # seconds between two drawings of a file, at least
SHARE = 4  # of the time, one part is spent on drawing at most

_log = logging.getLogger(__name__)
_guard = threading.Lock()
_next: dict[str, float] = {}  # file -> when it may be drawn again
_waiting: dict[str, tuple[Any, ...]] = {}  # file -> what is to be drawn
_owner = 0  # the process that is to draw it: no child of it


STYLES: dict[str, dict[str, Any]] = {
    ".": {"linestyle": "none", "marker": "."},
    "+": {"linestyle": "none", "marker": "+"},
    "-": {"linestyle": "-"},
    "+-": {"linestyle": "-", "marker": "+"},
}


def draw(path: str, title: str, logscale: bool, *curves: Any) -> str | None:
    """Draw curves into a file, now or soon; its ending says which kind (.png, .eps, .svg, .pdf).

    Parameters
    ----------
    path : str
    title : str
    logscale : bool
        Both axes.
    *curves : str, torch.Tensor, str, ...
        For each curve its name, its values at 1, 2, ... (a vector) and its style: `.` dots, `+` points, `-` lines,
        `+-` both, `~` smooth lines, `|` boxes; anything else is drawn as lines.

    Returns
    -------
    str or None
        Why nothing was drawn, where matplotlib is missing.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").split(".", maxsplit=1)[0] != "matplotlib":
            raise
        return "matplotlib is not installed (pip install matplotlib)"
    path = str(Path.cwd() / path)
    with _guard:
        if time.monotonic() < _next.get(path, 0):
            _wait(path, (title, logscale, *curves))
        else:
            _waiting.pop(path, None)
            _now(path, title, logscale, *curves)
    return None


def flush() -> None:
    """Draw what waits."""
    if _owner != os.getpid():
        return
    with _guard:
        waiting = dict(_waiting)
        _waiting.clear()
        for path, what in waiting.items():
            try:
                _now(path, *what)
            except OSError as problem:
                _log.warning("the last curves were not drawn: %s", problem)


def _wait(path: str, what: tuple[Any, ...]) -> None:
    global _owner  # noqa: PLW0603
    if _owner != os.getpid():
        if not _owner:
            atexit.register(flush)
        _owner = os.getpid()
        _waiting.clear()
    _waiting[path] = what


def _now(path: str, title: str, logscale: bool, *curves: Any) -> None:
    started = time.monotonic()
    _draw(path, title, logscale, *curves)
    ended = time.monotonic()
    _next[path] = ended + max(PAUSE, (SHARE - 1) * (ended - started))


def _draw(path: str, title: str, logscale: bool, *curves: Any) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.add_subplot()
    for name, values, style in zip(curves[::3], curves[1::3], curves[2::3], strict=True):
        _curve(axes, name, values.numpy(), style)
    if logscale:
        axes.set_xscale("log")
        axes.set_yscale("log")
    # A title is text: what looks like mathematics to matplotlib stays as it is.
    axes.set_title(title, parse_math=False)
    axes.grid(visible=True)
    legend = axes.legend(framealpha=1.0)  # EPS knows no transparency
    for entry in legend.get_texts():
        entry.set_parse_math(False)
    figure.savefig(path)


def _curve(axes: Axes, name: str, values: NDArray[np.float64], style: str) -> None:
    label = (
        f"\u200b{name}" if name.startswith("_") else name
    )  # matplotlib hides names with an underscore in front
    places = np.arange(1, len(values) + 1, dtype=np.float64)
    if style == "|":
        axes.bar(places, values, label=label, width=1.0, fill=False)
    elif style == "~":
        axes.plot(*_smooth(places, values), label=label)
    else:
        axes.plot(places, values, label=label, **STYLES.get(style, STYLES["-"]))


def _smooth(
    places: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cubic Hermite pieces through all points, whose slopes are the central differences."""
    slopes = np.gradient(values)
    dense = np.linspace(places[0], places[-1], 16 * len(places))
    piece = np.minimum(dense.astype(int) - 1, len(places) - 2)
    t = dense - places[piece]
    left, right = values[piece], values[piece + 1]
    curve = (
        (1 + 2 * t) * (1 - t) ** 2 * left
        + t**2 * (3 - 2 * t) * right
        + t * (1 - t) ** 2 * slopes[piece]
        + t**2 * (t - 1) * slopes[piece + 1]
    )
    return dense, curve
