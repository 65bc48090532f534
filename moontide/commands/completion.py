"""Print what makes a shell complete the commands and options of moontide when Tab is pressed.

For bash: eval "$(moontide completion bash)" in ~/.bashrc. For zsh: moontide completion zsh > DIRECTORY/_moontide, a
directory of $fpath.
"""

from __future__ import annotations

import argparse

from moontide.extras import need

HELP = "print a shell's completion of these commands"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the shell."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell that it is for")


def run(arguments: argparse.Namespace) -> int:
    """Print the shell's program."""
    need("completion")
    import shtab

    print(shtab.complete(arguments.parser, shell=arguments.shell))
    return 0
