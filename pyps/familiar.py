"""Keywords of Lapse and AdaPM that have another name in this package, and what to write instead.

`pyps.lapse` and `pyps.adapm` accept the keywords of their projects. docs/names.md has the same names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Keywords of Lapse's and AdaPM's setup and Server, when used for a node of pyps.
NODE = {
    "num_channels": "write server_threads=",
    "num_threads": "write num_workers=",
    "use_techniques": "write techniques=",
    "value_lengths": "write value_length=, a number or one for each key",
}
# Keywords of pyps.Server, when used for the Server of pyps.lapse or pyps.adapm.
ORIGINALS = {
    "num_keys": "setup(num_keys, num_threads) says it",
    "value_length": "write value_lengths=, a number or one for each key",
}
# Keywords of AdaPM's setup, when used for Lapse's.
LAPSE = {
    "num_channels": "from pyps import adapm, whose setup takes it",
    "use_techniques": "from pyps import adapm, whose setup takes it",
}


def pointing(
    table: Mapping[str, str],
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Decorate a function: a keyword of the table raises a TypeError that says what to write instead."""

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
