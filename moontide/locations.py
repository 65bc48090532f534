"""Where the installed parts lie that are not Python: libps, the Lua client and the demo's Lua files.

The packages of this project lie side by side, in a checkout as in an environment, and nothing is imported to find
them.
"""

from __future__ import annotations

from pathlib import Path

from moontide.errors import CommandError

HOME = Path(__file__).resolve().parents[1]


def package_directory(name: str) -> Path:
    """Return the directory of a package of this project; luaps, which has no `__init__.py`, is one too."""
    path = HOME / name
    if not path.is_dir():
        raise CommandError(
            f"the package '{name}' is missing beside '{HOME / 'moontide'}'; install moontide again"
        )
    return path


def libps() -> Path:
    """Return the path of the parameter server's library, which Lua loads by `ffi.load`."""
    path = package_directory("pyps") / "libps.so"
    if not path.is_file():
        raise CommandError(f"{path} has not been built; `make env` in the checkout builds it")
    return path


def lua_path() -> str:
    """Return the LUA_PATH templates with which a plain LuaJIT finds `require 'luaps'`."""
    parent = package_directory("luaps").parent
    return f"{parent}/?.lua;{parent}/?/init.lua"


def example(name: str) -> Path:
    """Return the directory of an example: inside the package when installed, else in the checkout."""
    for place in (HOME / "moontide" / "examples" / name, HOME / "examples" / name):
        if place.is_dir():
            return place
    raise CommandError(f"the example '{name}' is missing; install moontide again")
