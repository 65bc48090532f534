"""Call a Lua function, or a network of a .t7 file, and print what it returns as JSON.

Each argument is JSON, or @FILE: a .npy array, or a .json file; @- is JSON from the standard input. Lists of numbers are
tensors to a network, tables to a function. Tables come back as lists or objects; positions count from 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from moontide.errors import CommandError
from moontide.options import CommandParser, files

HELP = "call a Lua function or a network on JSON or .npy"


def add_arguments(parser: CommandParser) -> None:
    """Declare the model, what is called, and where the result goes."""
    parser.intermixed = True
    files(parser.add_argument("file", type=Path, help="a .t7 file that holds a network, or a .lua file"))
    parser.add_argument("arguments", nargs="*", metavar="ARGUMENT", help="JSON, @FILE.npy, @FILE.json or @-")
    parser.add_argument(
        "--function", help="the function, or the network's method (the only function; forward)"
    )
    parser.add_argument("--key", help="the place of the network in the file's tables, such as protos.rnn")
    parser.add_argument(
        "--output", type=Path, metavar="FILE.npy", help="write the array that is returned there instead"
    )
    parser.add_argument(
        "--allow-functions",
        action="store_true",
        help="let functions that are stored in a .t7 file run: for files that you trust",
    )


def run(arguments: argparse.Namespace) -> int:
    """Call once."""
    import bridge
    from bridge import models, t7
    from bridge.models.plain import plain

    given = [argument(text) for text in arguments.arguments]
    with bridge.Lua(allow_functions=arguments.allow_functions) as lua:
        try:
            model = models.call(lua, arguments.file, function=arguments.function, key=arguments.key)
            result = model(*given)
            if arguments.output is not None:
                save(arguments.output, result)
            else:
                print(json.dumps(plain(result), allow_nan=False))
        except (OSError, ValueError, TypeError, bridge.LuaError, t7.T7Error) as error:
            raise CommandError(str(error)) from error
    return 0


def argument(text: str) -> Any:
    """Return the value that an argument stands for.

    Raises
    ------
    CommandError
        It is neither JSON nor a file of a known kind; with the way to write a text.
    """
    import numpy as np

    name = text.removeprefix("@") if text.startswith("@") else None
    try:
        if name is None:
            return json.loads(text)
        if name == "-":
            return json.load(sys.stdin)
        if name.endswith(".npy"):
            return np.load(name, allow_pickle=False)
        return json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, EOFError) as error:
        raise CommandError(f"{text}: {error}") from error
    except ValueError as error:
        hint = "" if name else f"; a text is written '\"{text}\"', a file @{text}"
        raise CommandError(f"{text}: {error}{hint}") from error


def save(file: Path, value: Any) -> None:
    """Write an array to a .npy file."""
    import numpy as np

    if not isinstance(value, np.ndarray):
        raise TypeError(f"--output is for an array; the result is a {type(value).__name__}")
    with file.open("wb") as opened:
        np.save(opened, value, allow_pickle=False)
