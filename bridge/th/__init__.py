"""The `th` command: runs Torch7 programs, or Lua interactively."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bridge.companions import finish
from bridge.errors import LuaError
from bridge.lua import Lua

HELP = """\
usage: th [options] [script.lua [arguments]]

  -e CODE   run this code (may be repeated)
  -l NAME   require this library (may be repeated)
  -i        start the interactive mode after the script
  -g        report global variables that the program creates, or reads although they do not exist
  -gg       the same, as errors
  -h, --help
  --version

Code and libraries run before the script, in the order given. Without a script or code, th starts the
interactive mode on a terminal, and runs the code that it reads from a pipe. With `-` as the script, th
reads it from standard input.
"""

MONITORS = {"-g": "print", "--globals": "print", "-gg": "error", "--gglobals": "error"}
OURS = "=(th)"  # the name of our own chunks, which tracebacks leave out


@dataclass
class Arguments:
    """The options of a command line."""

    before: list[tuple[str, str]] = field(default_factory=list)  # ("code" | "library", text) in order
    script: str | None = None
    rest: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)  # the words before the script
    interactive: bool = False
    monitor: str | None = None  # "print" or "error" for global variables that are new
    help: bool = False
    version: bool = False


class UsageError(Exception):
    """The command line has an error."""


def parse(argv: Sequence[str]) -> Arguments:
    """Read a command line (without the program's name); options end where the script begins.

    Raises
    ------
    UsageError
        An unknown option, or one that lacks its value.
    """
    arguments = Arguments()
    rest = list(argv)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option == "--":
            break
        if option in ("-h", "--help"):
            arguments.help = True
        elif option in ("-v", "--version"):
            arguments.version = True
        elif option in ("-i", "--interactive"):
            arguments.interactive = True
        elif option in MONITORS:
            arguments.monitor = MONITORS[option]
        elif option[:2] in ("-e", "-l") and not option.startswith("--"):
            value = option[2:] or (rest.pop(0) if rest else None)
            if value is None:
                raise UsageError(f"{option} needs a value")
            arguments.before.append(("code" if option[1] == "e" else "library", value))
        else:
            raise UsageError(f"unknown option {option}")
    arguments.options = list(argv)[: len(argv) - len(rest)]
    if rest:
        arguments.script, arguments.rest = rest[0], rest[1:]
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status (a program's `os.exit` does not return)."""
    try:
        arguments = parse(sys.argv[1:] if argv is None else argv)
    except UsageError as problem:
        print(f"th: {problem}\n\n{HELP}", end="", file=sys.stderr)  # noqa: T201
        return 2
    if arguments.help:
        sys.stdout.write(HELP)
        return 0
    if arguments.version:
        from importlib.metadata import version

        sys.stdout.write(f"th (moontide {version('moontide')})\n")
        return 0
    with Lua(allow_functions=True) as lua:
        status = _reported(lambda: _run(lua, arguments))
        if status == 0 and _interactive(arguments):
            from bridge.th.repl import interact

            status = interact(lua, _reported)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _unheard()
    return status


def _run(lua: Lua, arguments: Arguments) -> None:
    def call(what: str, *values: object) -> None:
        lua.execute(f"return require('bridge.runtime.th').{what}(...)", *values, name=OURS)

    rest = [os.fsencode(word) for word in arguments.rest]  # the bytes that the shell passed
    call("start", _leave)
    options = [os.fsencode(word) for word in ("th", *arguments.options)]
    call("arguments", os.fsencode(arguments.script or ""), options, *rest)
    if arguments.monitor is not None:
        call("monitor", arguments.monitor == "error")
    for kind, text in arguments.before:
        if kind == "code":
            call("code", os.fsencode(text), "=(command line)")
        else:
            call("library", os.fsencode(text))
    if arguments.script == "-" or _piped(arguments):
        call("code", sys.stdin.buffer.read(), "=stdin", *rest)
    elif arguments.script is not None:
        call("script", os.fsencode(arguments.script), *rest)


def _piped(arguments: Arguments) -> bool:
    return not (arguments.script or arguments.before or arguments.interactive or sys.stdin.isatty())


def _interactive(arguments: Arguments) -> bool:
    return arguments.interactive or not (arguments.script or arguments.before or _piped(arguments))


def _leave(code: int) -> None:
    """End the process as Lua's os.exit does: at once, also within a pcall, after writing all output."""
    finish()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code) & 0xFF)


def _reported(action: Callable[[], None]) -> int:
    """Run an action and print its errors to standard error. Returns the exit status."""
    try:
        action()
    except LuaError as error:
        if isinstance(error.original, BrokenPipeError):
            return _unheard()
        sys.stdout.flush()
        sys.stderr.write(f"th: {_described(error)}\n")
        return 1
    except KeyboardInterrupt:
        sys.stdout.flush()
        sys.stderr.write("th: interrupted\n")
        return 130
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    return 0


def _unheard() -> int:
    """Drop the rest of the output, which nobody reads. Returns the status that shells use for that."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 128 + signal.SIGPIPE


def _described(error: LuaError) -> str:
    """Return an error's message, and the lines of its traceback that are about the program."""
    frames = [
        line
        for line in error.traceback.splitlines()[1:]
        if not any(ours in line for ours in (OURS[1:], "bridge/runtime/th.lua", "[C]: at 0x"))
    ]
    if not any(".lua" in frame or "(command line)" in frame or "stdin" in frame for frame in frames):
        return error.message
    return "\n".join([error.message, "stack traceback:", *frames])
