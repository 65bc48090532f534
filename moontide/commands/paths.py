"""Print where the parts lie that other programs load: the Lua client and the parameter server's library."""

from __future__ import annotations

import argparse
import shlex

from moontide import locations

HELP = "print the paths that a plain LuaJIT needs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the choice of one path, or of lines for a shell."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--lua", action="store_true", help="only the LUA_PATH templates for `require 'luaps'`")
    which.add_argument("--libps", action="store_true", help="only the path of the parameter server's library")
    which.add_argument(
        "--shell", action="store_true", help='lines for a shell: eval "$(moontide paths --shell)"'
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the paths that were asked for."""
    if arguments.lua:
        print(locations.lua_path())
    elif arguments.libps:
        print(locations.libps())
    elif arguments.shell:
        print(f"export LUA_PATH={shlex.quote(locations.lua_path() + ';;')}")
        print(f"export LUAPS_LIBPS={shlex.quote(str(locations.libps()))}")
    else:
        print(f"lua    {locations.lua_path()}")
        print(f"libps  {locations.libps()}")
    return 0
