"""Writes `nn.pyi` from the table of classes, for editors and type checkers.

`python -m bridge.legacy.stubs > bridge/legacy/nn.pyi`, then `ruff format` it.
"""

from __future__ import annotations

import inspect
import sys

from bridge.legacy import modules, positions

HEAD = """\
# Written by bridge/legacy/stubs.py.
# ruff: noqa: A002
from typing import Any

from bridge.legacy.graph import Node as Node
"""


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return f"*{parameter.name}: Any"
    return f"{parameter.name}: Any" + ("" if parameter.default is inspect.Parameter.empty else " = ...")


def stub() -> str:
    """Return the text of the stub: the classes of the table, parents first, and the namespaces."""
    lines = [HEAD.rstrip()]
    lines += [
        f"from bridge.legacy.modules import {name} as {name}"
        for name in sorted({*modules.WRITTEN, "Namespace"})
    ]
    lines.append("")
    written = {"", *modules.WRITTEN}
    waiting = [row for row in positions.rows().values() if row.name not in written]
    while waiting:
        ready = [row for row in waiting if row.parent in written]
        for row in ready:
            given = ", ".join(["self", *map(_parameter, row.form.signature.parameters.values())])
            lines += [f"class {row.name}({row.parent}):", f"    def __init__({given}) -> None: ...", ""]
        written |= {row.name for row in ready}
        waiting = [row for row in waiting if row.name not in written]
    lines += [f"{name}: Namespace" for name in modules.NAMESPACES]
    lines += ["", "def __getattr__(name: str) -> Any: ...  # a class that a Lua program defines", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(stub())
