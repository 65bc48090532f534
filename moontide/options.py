"""Types of command line options, for argparse."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """Return a whole number above zero, or raise what argparse turns into a message."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return number
