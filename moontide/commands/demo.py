"""Train one digit classifier from Lua and from PyTorch at the same time.

Workers of both kinds, each in its own process, share the parameters through a parameter server in shared
memory and never wait for each other (asynchronous SGD). Ends with a table and a picture of the curves.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from moontide.extras import need
from moontide.options import positive

HELP = "train one model from Lua and from PyTorch at the same time"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the size of the run and where its picture goes."""
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first parameters and the samples' order (%(default)s)"
    )
    parser.add_argument(
        "--workers", type=positive, default=2, help="of each kind, Lua and PyTorch (%(default)s)"
    )
    parser.add_argument(
        "--epochs", type=positive, default=40, help="passes over the training samples (%(default)s)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("out"), help="directory of the picture (%(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; the status is 1 if a model missed its accuracy or the two models differ."""
    need("demo")
    from moontide.demo.run import Settings, run_demo

    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)
    )  # the workers are ended on the way
    return run_demo(
        Settings(seed=arguments.seed, workers=arguments.workers, epochs=arguments.epochs, out=arguments.out)
    )
