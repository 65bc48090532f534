"""The parser of a command's options, and types of them, for argparse."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

SIZES = {"K": 10, "M": 20, "G": 30, "T": 40}  # units of sizes, as powers of two


class CommandParser(argparse.ArgumentParser):
    """Takes options between the words of a positional argument too, if `intermixed` is set."""

    intermixed = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return what was recognised, and the rest."""
        if not self.intermixed:
            return super().parse_known_args(args, namespace)
        self.intermixed = False  # the intermixed way calls this one
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.intermixed = True


def files(action: argparse.Action) -> None:
    """Let shells complete the argument by files; the words are those of shtab, which makes their programs."""
    action.complete = {"bash": "_shtab_compgen_files", "zsh": "_files", "tcsh": "f"}  # type: ignore[attr-defined]


def positive(text: str) -> int:
    """Return a whole number above zero, or raise what argparse turns into a message."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return number


def seconds(text: str) -> float:
    """Return a number from 0 up, or raise what argparse turns into a message."""
    number = float(text)
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number from 0 up, got {text}")
    return number


def nbytes(text: str) -> int:
    """Return the bytes in 512M or 2G, or raise what argparse turns into a message."""
    digits, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in SIZES else (text, "")
    if not digits.isdecimal() or int(digits) < 1:
        raise argparse.ArgumentTypeError(f"expected a size such as 512M or 2G, got {text}")
    return int(digits) << SIZES.get(unit, 0)
