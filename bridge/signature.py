"""The parameters of a Lua function as Python's `inspect` shows them."""

from __future__ import annotations

from inspect import Parameter, Signature


def signature(names: list[str], bound: bool) -> Signature:
    """Return the signature of a function with these parameters; "..." are any more.

    All are given by position, and those that are left out are nil.

    Parameters
    ----------
    names : list of str
        In Lua's order.
    bound : bool
        Whether the object that comes first is given already.
    """
    parameters = [
        Parameter("args", Parameter.VAR_POSITIONAL)
        if name == "..."
        else Parameter(name, Parameter.POSITIONAL_ONLY)
        for name in (names[1:] if bound and names[:1] != ["..."] else names)
    ]
    options = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in ("returns", "copy")]
    return Signature([*parameters, *options])
