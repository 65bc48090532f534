"""Run a Lua program in the Torch7 environment, as `th` does; without one, take Lua interactively."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from moontide.options import files

HELP = "run a Lua program, as th does"


class _Word(argparse.Action):
    """Keep an option and its value as words for th, in the order given."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[str] | None,
        option_string: str | None = None,
    ) -> None:
        words = [option_string or "", *([values] if isinstance(values, str) else [])]
        namespace.options = [*namespace.options, *words]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare th's options, the program and what it is given."""
    parser.set_defaults(options=[])
    parser.add_argument("-e", metavar="CODE", action=_Word, help="run this code (may be repeated)")
    parser.add_argument("-l", metavar="NAME", action=_Word, help="require this library (may be repeated)")
    parser.add_argument("-i", nargs=0, action=_Word, help="take Lua interactively after the script")
    files(parser.add_argument("script", nargs="?", help="the Lua file"))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on to the program as its `arg`")


def run(arguments: argparse.Namespace) -> int:
    """Hand over to th."""
    from bridge import th

    script = [] if arguments.script is None else [arguments.script]
    return th.main([*arguments.options, *script, *arguments.arguments])
