"""The parser of a command's options, and types of them, for argparse."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


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
