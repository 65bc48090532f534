"""Keywords that people know from Lapse and AdaPM where this package has others, and what to write in their place.

`pyps.lapse` and `pyps.adapm` take those that their programs use. docs/names.md has the same names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Of the originals' setup and Server, for a node of pyps.
NODE = {
    "num_channels": "write server_threads=",
    "num_threads": "write num_workers=",
    "use_techniques": "write techniques=",
    "value_lengths": "write value_length=, a number or one for each key",
}
# Of pyps.Server, for the originals' Server.
ORIGINALS = {
    "num_keys": "setup(num_keys, num_threads) says it",
    "value_length": "write value_lengths=, a number or one for each key",
}
# Of AdaPM's setup, for Lapse's.
LAPSE = {
    "num_channels": "from pyps import adapm, whose setup takes it",
    "use_techniques": "from pyps import adapm, whose setup takes it",
}


def pointing(
    table: Mapping[str, str],
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Let a function answer the keywords of a table with a TypeError that says what to write."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @functools.wraps(function)
        def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
            for keyword in named:
                if keyword in table:
                    called = function.__qualname__.removesuffix(".__init__")
                    raise TypeError(f"{called}() has no {keyword}=: {table[keyword]}")
            return function(*arguments, **named)

        return call

    return decorate
