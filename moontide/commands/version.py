"""Print the versions of Moontide and of the libraries it runs on."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version

HELP = "print versions, for bug reports"
LIBRARIES = ("moontide", "torch", "numpy", "lupa", "pyzmq")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare nothing: the command has no options."""
    del parser


def run(arguments: argparse.Namespace) -> int:
    """Print one line per library."""
    del arguments
    for library in LIBRARIES:
        print(f"{library:<9} {version(library)}")
    print(f"{'python':<9} {platform.python_version()}")
    print(f"{'platform':<9} {platform.platform()}")
    return 0
