"""Lines of text as a picture of a terminal, in SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

FONT = 13  # pixels
WIDTH, HEIGHT = 0.602 * FONT, 1.35 * FONT  # of a character
MARGIN = 16
NO_BREAK = "\u00a0"  # a space that browsers do not join with the next one


def svg(title: str, lines: Sequence[str]) -> str:
    """Return the picture of a title and the lines below it."""
    width = max(map(len, [title, *lines])) * WIDTH + 2 * MARGIN
    height = (len(lines) + 1) * HEIGHT + 2 * MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    style = f'font-family="monospace" font-size="{FONT}" fill="#e6e6e6"'
    rows = [
        f'<text x="{MARGIN}" y="{MARGIN + (number + 0.8) * HEIGHT:.1f}">{escape(line).replace(" ", NO_BREAK)}</text>'
        for number, line in enumerate([title, *lines])
        if line
    ]
    background = '<rect width="100%" height="100%" rx="8" fill="#1b1f24"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>'
    return "\n".join([head, background, *rows, "</svg>\n"])
