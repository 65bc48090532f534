"""The `moontide` command: a table of commands, one file each in moontide/commands.

A command's module imports what it needs only when it runs, so that `--help` is quick.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

from moontide import __version__
from moontide.commands import (
    call,
    checkpoint,
    completion,
    convert,
    demo,
    doctor,
    inspect,
    launch,
    node,
    paths,
    run,
    serve,
    stats,
    top,
    version,
)
from moontide.errors import CommandError
from moontide.options import CommandParser


class Command(Protocol):
    """What a module in moontide/commands offers."""

    HELP: str

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the command's options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work and return the exit status."""


COMMANDS: Mapping[str, Command] = {
    "call": call,
    "checkpoint": checkpoint,
    "completion": completion,
    "convert": convert,
    "demo": demo,
    "doctor": doctor,
    "inspect": inspect,
    "launch": launch,
    "node": node,
    "paths": paths,
    "run": run,
    "serve": serve,
    "stats": stats,
    "top": top,
    "version": version,
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with one subparser per command."""
    parser = argparse.ArgumentParser(
        prog="moontide",
        description="Torch7 models inside Python; a parameter server that Lua and PyTorch train on together.",
    )
    parser.set_defaults(parser=parser)  # for the command that describes all of them
    parser.add_argument("--version", action="version", version=f"moontide {__version__}")
    subparsers = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.HELP, description=command.__doc__)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; sys.argv's by default.
    """
    arguments = build_parser().parse_args(argv)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except CommandError as error:
        print(f"moontide {arguments.command}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return _unheard()
    return status


def _unheard() -> int:
    """Nobody reads our output any more, as in `moontide ... | head`: drop the rest of it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 128 + signal.SIGPIPE
