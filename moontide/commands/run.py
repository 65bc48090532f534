"""Run a Lua program in the Torch7 environment, as `th script.lua arguments` does."""

from __future__ import annotations

import argparse

HELP = "run a Lua program, as th does"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the program and what it is given."""
    parser.add_argument("script", help="the Lua file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on to the program as its `arg`")


def run(arguments: argparse.Namespace) -> int:
    """Hand over to th."""
    from bridge import th

    return th.main([arguments.script, *arguments.arguments])
