"""Names from the packages python2torch, lutorpy and torchfile, and what to write here instead.

A name or keyword that exists there but not here raises an error that says what to do. docs/names.md lists the names.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

UTF8 = ("UTF-8", "utf-8", "UTF8", "utf8")


@dataclass(frozen=True)
class Keyword:
    """A keyword of another package's functions that does not exist here.

    Attributes
    ----------
    instead : str
        What to do instead.
    same : tuple
        Values that ask for what this package does anyway: with these the keyword is accepted.
    """

    instead: str
    same: tuple[object, ...] = ()

    def asks_for_the_same(self, value: object) -> bool:
        """Whether a value asks for what this package does anyway."""
        return any(type(value) is type(one) and value == one for one in self.same)


@dataclass(frozen=True)
class Program:
    """The names of another package that do not exist here.

    Attributes
    ----------
    name : str
        The package.
    keywords : mapping of str to Keyword
        Keywords of its functions.
    names : mapping of str to str
        Its functions and classes, each with what to do instead.
    """

    name: str
    keywords: Mapping[str, Keyword]
    names: Mapping[str, str]

    def pointing(self, function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        """Let a function raise a TypeError for the package's keywords that says what to write instead."""

        @functools.wraps(function)
        def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
            for keyword in [one for one in named if one in self.keywords]:
                here = self.keywords[keyword]
                if not here.asks_for_the_same(named.pop(keyword)):
                    called = function.__qualname__.removesuffix(".__init__")
                    raise TypeError(f"{called}() has no {keyword}=, which is {self.name}'s: {here.instead}")
            return function(*arguments, **named)

        return call


PYTHON2TORCH = Program(
    "python2torch",
    keywords={"script_name": Keyword("the file comes first, PyTorch(file)")},
    names={"PyTorchExtension": "bridge.PyTorch is the whole object"},
)

LUTORPY = Program(
    "lutorpy",
    keywords={
        "zero_based_index": Keyword(
            "leave it out; arrays and lists count from 0 in Python, tables by reference by Lua's own keys, and what "
            "is an index to Lua is marked by bridge.index"
        ),
        "encoding": Keyword('leave it out, or pass strings="bytes" for what encoding=None was', UTF8),
        "source_encoding": Keyword("pass Lua code in another encoding as bytes", (None, *UTF8)),
        "attribute_filter": Keyword(
            "leave it out; Lua reaches no attributes of Python's objects, which are opaque to it", (None,)
        ),
        "attribute_handlers": Keyword(
            "leave it out; Lua reaches no attributes of Python's objects, pass it functions that get and set them",
            (None,),
        ),
        "register_eval": Keyword(
            "leave it out; Lua has no python.eval, pass it the functions that it needs", (False,)
        ),
        "register_builtins": Keyword(
            "leave it out; Lua has no python.builtins, pass it the functions that it needs", (False,)
        ),
        "unpack_returned_tuples": Keyword(
            "leave it out; a tuple that a function returns is several values in Lua, and a list is a table",
            (True,),
        ),
        "overflow_handler": Keyword(
            "leave it out; an int that no number of Lua holds is an OverflowError, pass float(x) or str(x)",
            (None,),
        ),
        "max_memory": Keyword(
            "leave it out; bridge.serve.ModelProcess(file, memory=) is a process with a limit", (None, 0)
        ),
    },
    names={
        "LuaRuntime": "bridge.Lua() makes a state",
        "LuaSyntaxError": "bridge.LuaError is what Lua raises, also for its syntax",
        "array2tensor": "pass the array itself, it is a tensor in Lua",
        "asNumpyArray": "tensors come as arrays already",
        "boostrap_self": "methods need no self",
        "bs": "methods need no self",
        "fromNumpyArray": "pass the array itself, it is a tensor in Lua",
        "luaRuntime": "the bridge.Lua() that you made is the state",
        "lua_type": "isinstance(x, bridge.LuaTable), bridge.LuaFunction or bridge.LuaObject tells",
        "set_globals": "Lua's globals are attributes of the state, lua.nn after lua.require('nn')",
        "table_from": "pass a list or a dict, it is a table in Lua",
        "update_globals": "Lua's globals are attributes of the state, lua.nn after lua.require('nn')",
    },
)

TORCHFILE = Program(
    "torchfile",
    keywords={
        "filename": Keyword("the path comes first, load(path)"),
        "fileobj": Keyword("the open file comes first, load(file)"),
        "force_deserialize_classes": Keyword("leave it out; classes are always read", (None, True)),
        "use_int_heuristic": Keyword(
            "leave it out; whole numbers are int, float(x) makes one a float", (True,)
        ),
        "utf8_decode_strings": Keyword(
            "leave it out; texts are str where they are UTF-8, x.encode() makes one bytes", (True,)
        ),
    },
    names={
        "LuaFunction": "functions are bridge.t7.TorchFunction",
        "T7Reader": "bridge.t7.load(file) reads an object of an open file; what was written by parts is read by "
        "torch.DiskFile of a bridge.Lua",
        "T7ReaderException": "a file that cannot be read is a bridge.t7.T7Error",
        "add_notimpl_reader": "pass load(layouts=) for a class that writes something of its own",
        "add_storage_reader": "pass load(layouts=) for a class that writes something of its own",
        "add_tensor_reader": "pass load(layouts=) for a class that writes something of its own",
        "hashable_uniq_dict": "tables are lists and dicts, those that are keys bridge.t7.Key",
        "torch_readers": "pass load(layouts=) for a class that writes something of its own",
    },
)


def pointer(name: str, *programs: Program) -> str:
    """Return the end of an AttributeError's message for a name of one of the packages; "" for any other name."""
    for program in programs:
        if name in program.names:
            return f", which is {program.name}'s: {program.names[name]}"
    return ""
