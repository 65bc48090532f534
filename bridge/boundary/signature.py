"""Signatures of Lua functions for Python's `inspect`."""

from __future__ import annotations

from inspect import Parameter, Signature


def signature(names: list[str], bound: bool) -> Signature:
    """Return the signature of a function with these parameters.

    All of them are positional; those that a call leaves out are nil.

    Parameters
    ----------
    names : list of str
        The parameters' names in order; "..." stands for any number of further ones.
    bound : bool
        Whether the function is a method whose first argument, the object, is already given.
    """
    parameters = [
        Parameter("args", Parameter.VAR_POSITIONAL)
        if name == "..."
        else Parameter(name, Parameter.POSITIONAL_ONLY)
        for name in (names[1:] if bound and names[:1] != ["..."] else names)
    ]
    options = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in ("returns", "copy")]
    return Signature([*parameters, *options])
