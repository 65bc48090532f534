"""Drawing curves into files for `optim.Logger` of Lua, by matplotlib, which is imported when the first one is drawn.

Programs plot after every step, so a file is drawn only a few times a second. Curves that come too soon are kept and
drawn with the next plot, or when the Lua state or the process ends: the last curves are always drawn.
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

PAUSE = 0.25  # least seconds between two drawings of a file
SHARE = 4  # at most 1 / SHARE of the time is spent on drawing

_log = logging.getLogger(__name__)
_guard = threading.Lock()
_next: dict[str, float] = {}  # file -> the time from which it may be drawn again
_waiting: dict[str, tuple[Any, ...]] = {}  # file -> arguments of _now, to be drawn later
_owner = 0  # id of the process that draws them; a forked child does not


STYLES: dict[str, dict[str, Any]] = {
    ".": {"linestyle": "none", "marker": "."},
    "+": {"linestyle": "none", "marker": "+"},
    "-": {"linestyle": "-"},
    "+-": {"linestyle": "-", "marker": "+"},
}


def draw(path: str, title: str, logscale: bool, *curves: Any) -> str | None:
    """Draw curves into a file, now or soon. The suffix is the format: .png, .eps, .svg, .pdf.

    Parameters
    ----------
    path : str
    title : str
    logscale : bool
        Whether both axes are logarithmic.
    *curves : str, torch.Tensor, str, ...
        For each curve its name, its values at 1, 2, ... (a vector) and its style: `.` dots, `+` points, `-` lines,
        `+-` both, `~` smooth lines, `|` boxes; anything else is drawn as lines.

    Returns
    -------
    str or None
        The reason if nothing was drawn, because matplotlib is missing.
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
    """Draw the curves that were kept for later."""
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
    # Titles are plain text; without this, matplotlib would interpret $...$ as mathematics.
    axes.set_title(title, parse_math=False)
    axes.grid(visible=True)
    legend = axes.legend(framealpha=1.0)  # EPS has no transparency
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
    """Points of a smooth curve through all values: cubic Hermite pieces, whose slopes are central differences."""
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
