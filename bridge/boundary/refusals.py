"""Better errors for calls of nn's modules: after a call has failed, its arguments are checked for the cause."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy

from bridge.boundary.marks import Index
from bridge.errors import LuaError, LuaTypeError

# Methods of modules and criterions, and the names of their arguments.
PASSES = {
    "accGradParameters": ("input", "gradOutput", "scale"),
    "accUpdateGradParameters": ("input", "gradOutput", "lr"),
    "backward": ("input", "gradOutput", "scale"),
    "forward": ("input", "target"),
    "updateGradInput": ("input", "gradOutput"),
    "updateOutput": ("input", "target"),
}
# Parts of Lua's messages for values of a wrong type.
ABOUT_TYPES = re.compile(
    r"attempt to |invalid arguments|bad argument|bad self|expect|not supported|mismatch of types"
)
FLOATS = {"torch.FloatTensor": "float32", "torch.DoubleTensor": "float64", "torch.HalfTensor": "float16"}
INTEGERS = {
    "uint8": "ByteTensor",
    "int8": "CharTensor",
    "int16": "ShortTensor",
    "int32": "IntTensor",
    "int64": "LongTensor",
}
# Messages for a method of tensors, or an operator, that was applied to a table.
TABLE_FOR_TENSOR = re.compile(
    r"attempt to call method '(?:dim|size|nElement|nDimension|new|type|isContiguous|contiguous|view|narrow|select)' |"
    r"invalid arguments: .*\btable\b"
)
METHODS = {"float16": "half", "float32": "float", "float64": "double"}
ASK = """
local object = ...
if not torch or not (torch.isTypeOf(object, 'nn.Module') or torch.isTypeOf(object, 'nn.Criterion')) then
   return nil
end
local ok, typename = pcall(object.type, object)
return torch.typename(object), ok and tostring(typename) or ''
"""


def explained(error: LuaError, target: Any, name: str, arguments: tuple[Any, ...]) -> LuaError:
    """Return an error that names the wrong argument of a call; the given error if no argument is wrong.

    Parameters
    ----------
    error : LuaError
        The error that the call raised.
    target : LuaObject
        The object whose method was called.
    name : str
        The method.
    arguments : tuple
        The arguments, without the object itself.
    """
    if name not in PASSES or error.original is not None:
        return error
    nothing = bool(arguments) and arguments[0] is None
    if not (nothing or ABOUT_TYPES.search(str(error))):
        return error
    if isinstance(error, LuaTypeError) or target.state.closed:
        return error
    with target.state.texts():
        asked = target.state.helper("execute", ASK, "=(python)", target)
    if asked is None:
        return error
    typename, tensors = asked
    if arguments and arguments[0] is target:
        return LuaTypeError.of(
            f"{typename}: the first argument is the module itself, which methods need not be given", error
        )
    for label, argument in zip(PASSES[name], arguments, strict=False):
        reason = _refused(argument, label, tensors, str(error))
        if reason is not None:
            return LuaTypeError.of(f"{typename}: {reason}", error)
    return error


def _refused(argument: Any, label: str, tensors: str, words: str) -> str | None:
    """Return why a module cannot take an argument, or None. `words`: the message of Lua's error."""
    if argument is None and label == "input":
        return f"{label} is None, which is nil in Lua; pass an array or a tensor"
    if isinstance(argument, list | tuple) and argument and all(map(_is_number, _leaves(argument))):
        return (
            f"{label} is a {type(argument).__name__} of numbers, which is a table in Lua; "
            "pass numpy.array(...) or torch.tensor(...)"
        )
    for leaf in _leaves(argument):
        dtype = _dtype(leaf)
        wanted = FLOATS.get(tensors)
        # integers may be right as indices: they are wrong only if Lua's message names their type
        if dtype and wanted and dtype != wanted and (dtype in METHODS or INTEGERS[dtype] in words):
            cast = f'x.astype("{wanted}")' if isinstance(leaf, numpy.ndarray) else f"x.{METHODS[wanted]}()"
            turn = f", or turn the module with .{METHODS[dtype]}()" if dtype in METHODS else ""
            return f"{label} is {dtype}, but the module computes in {wanted} ({tensors}); pass {cast}{turn}"
        if dtype is not None:
            continue
        if isinstance(leaf, str | bytes):
            return f"{label} is a {type(leaf).__name__}, {leaf!r:.40}; pass an array or a tensor"
        if label == "input" and _is_number(leaf) and leaf is argument:
            return f"{label} is the number {leaf!r:.40}; pass an array or a tensor"
        if _is_opaque(leaf):
            way = "x.to_numpy()" if hasattr(leaf, "to_numpy") else "numpy.asarray(x), an array or a tensor"
            return f"{label} is a {type(leaf).__module__}.{type(leaf).__qualname__}; pass {way}"
    if isinstance(argument, list | tuple | dict) and TABLE_FOR_TENSOR.match(words):
        return (
            f"{label} is a {type(argument).__name__}, which is a table in Lua, where the module takes a tensor; "
            "pass an array or a tensor"
        )
    return None


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value.value if isinstance(value, Index) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | numpy.number)


def _dtype(value: Any) -> str | None:
    """Return the dtype of an array or tensor as "float32" or "int64"; None for any other value."""
    torch = sys.modules.get("torch")
    if not isinstance(value, numpy.ndarray) and (torch is None or not isinstance(value, torch.Tensor)):
        return None
    name = str(value.dtype).removeprefix("torch.")
    return name if name in METHODS or name in INTEGERS else None


def _is_opaque(value: Any) -> bool:
    """Return whether a value is an object that Lua cannot use."""
    from bridge._boundary import Proxy

    torch = sys.modules.get("torch")
    known = isinstance(value, Proxy | numpy.ndarray | numpy.generic | bool | int | float) or value is None
    return not (known or callable(value) or (torch is not None and isinstance(value, torch.Tensor)))
