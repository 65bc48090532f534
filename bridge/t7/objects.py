"""What a Torch7 file can hold that has no plain Python form: class instances, storages, functions, odd table keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

# What a file can hold without any class; entries of lists and dicts are values again.
Plain: TypeAlias = "bool | int | float | str | bytes | list[Any] | dict[Any, Any] | None"


class T7Error(ValueError):
    """A file or a value that has no meaning in Torch7's format.

    Attributes
    ----------
    file : str
        The file's name, or "<bytes>".
    offset : int or None
        The byte at which reading stopped; None when writing.
    """

    def __init__(self, message: str, file: str = "", offset: int | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.offset = offset

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.file, self.offset)


class TorchObject:
    """An instance of a Torch7 class (`nn.Linear`, `torch.Generator`, a program's own): its fields as attributes.

    A field whose name is also a method's of this class is reached as `obj["fields"]`.

    Parameters
    ----------
    typename : str
        The class's name in Lua.
    payload : object
        What the class writes: a dict of the fields for most classes, bytes for `torch.Generator`, a dict for
        `tds.Hash`, a list for `tds.Vec`.
    version : int or float or None
        The class's version number; None as in files from before there were versions.
    parts : list of (str, object), optional
        For a class with a layout of its own: everything that it writes, in order, each with its kind.
    tail : (str, bytes), optional
        What a class of unknown layout wrote behind its fields, with the format it is in.
    """

    __slots__ = ("__weakref__", "_parts", "_payload", "_tail", "_typename", "_version")

    _typename: str
    _payload: Any
    _version: float | None
    _parts: list[tuple[str, Any]] | None
    _tail: tuple[str, bytes] | None

    def __init__(
        self,
        typename: str,
        payload: Any = None,
        version: float | None = 1,
        parts: list[tuple[str, Any]] | None = None,
        tail: tuple[str, bytes] | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "_typename", typename)
        put(self, "_payload", {} if payload is None else payload)
        put(self, "_version", version)
        put(self, "_parts", parts)
        put(self, "_tail", tail)

    def torch_typename(self) -> str:
        """Return the name of the class."""
        return self._typename

    def torch_version(self) -> float | None:
        """Return the class's version number that stands in the file."""
        return self._version

    def torch_payload(self) -> Any:
        """Return what the class wrote: usually the same dict as `fields()`."""
        return self._payload

    def torch_parts(self) -> list[tuple[str, Any]]:
        """Return everything that the class wrote, in order, each with its kind."""
        return self._parts if self._parts is not None else [("object", self._payload)]

    def fields(self) -> dict[Any, Any]:
        """Return the fields by name, the dict itself: changing it changes the object.

        Raises
        ------
        TypeError
            When the class does not write a table of fields.
        """
        if isinstance(self._payload, dict):
            return self._payload
        raise TypeError(
            f"{self._typename} has no fields: it holds {type(self._payload).__name__}, see torch_payload()"
        )

    def __getattr__(self, name: str) -> Any:
        if name in TorchObject.__slots__:  # an object that was never initialised
            raise AttributeError(name)
        payload = self._payload
        if isinstance(payload, dict) and name in payload:
            return payload[name]
        raise AttributeError(f"{self._typename} has no field {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        self.fields()[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self.fields():
            raise AttributeError(f"{self._typename} has no field {name!r}")
        del self.fields()[name]

    def __getitem__(self, name: Any) -> Any:
        payload = self._payload
        if isinstance(name, bytes) and isinstance(payload, dict) and name not in payload:
            raise KeyError(f"{name!r}: texts that are UTF-8 are str here, {name.decode(errors='replace')!r}")
        return payload[name]

    def __setitem__(self, name: Any, value: Any) -> None:
        self._payload[name] = value

    def __contains__(self, name: Any) -> bool:
        return name in self._payload

    def __dir__(self) -> list[str]:
        names = self._payload if isinstance(self._payload, dict) else ()
        return sorted({*super().__dir__(), *(name for name in names if isinstance(name, str))})

    def __reduce__(self) -> tuple[Any, ...]:
        return (
            type(self),
            (self._typename, None, self._version, None, self._tail),
            (self._payload, self._parts),
        )

    def __setstate__(self, state: tuple[Any, Any]) -> None:
        object.__setattr__(self, "_payload", state[0])
        object.__setattr__(self, "_parts", state[1])

    def __repr__(self) -> str:
        count = f", {len(self._payload)} fields" if isinstance(self._payload, dict) else ""
        return f"<TorchObject {self._typename}{count}>"


class Storage:
    """A Torch7 storage that a file names by itself, such as the LongStorage of a size.

    It behaves as a sequence of numbers; `numpy.asarray` gives its memory, which the tensors on it share.

    Attributes
    ----------
    array : ndarray or torch.Tensor
        Its elements, one-dimensional and contiguous; for numpy also the `base` of the tensors that view it.
    """

    __slots__ = ("__weakref__", "array")

    def __init__(self, array: Any) -> None:
        if getattr(array, "ndim", None) != 1:
            raise ValueError(f"a storage is one array or tensor of one dimension, got {array!r:.80}")
        self.array = array

    def __len__(self) -> int:
        return int(self.array.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, place: Any) -> Any:
        return self.array[place]

    def __setitem__(self, place: Any, value: Any) -> None:
        self.array[place] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        return numpy.array(self.array, dtype=dtype, copy=copy)

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers."""
        return list(self.array.tolist())

    def __repr__(self) -> str:
        return f"<Storage of {len(self)} {self.array.dtype}>"


class TorchFunction:
    """A Lua function of a file: its bytecode and upvalues, written back unchanged and never run.

    Attributes
    ----------
    code : bytes
        What `string.dump` gave.
    upvalues : object
        What the function closed over, as the file has it.
    kind : int
        The file's type number of the function: 8, or 6 and 7 in older files.
    """

    __slots__ = ("__weakref__", "code", "kind", "upvalues")

    def __init__(self, code: bytes, upvalues: Any = None, kind: int = 8) -> None:
        self.code = code
        self.upvalues = upvalues
        self.kind = kind

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Refuse to run: a file is data.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(
            f"{self!r} came from a Torch7 file and is not run by bridge.t7: "
            "load the file in a bridge.Lua to use functions"
        )

    def __repr__(self) -> str:
        return f"<TorchFunction, {len(self.code)} bytes of code>"


class Key:
    """A table's key that Python cannot hash, or would take for another: equal only to a key of the same object.

    Tables, tensors and storages as keys become Key(value); so do booleans where the table also has 0 or 1.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.value is other.value

    def __hash__(self) -> int:
        return hash((Key, id(self.value)))

    def __repr__(self) -> str:
        plain = isinstance(self.value, bool | int | float | str | bytes)
        return f"Key({self.value!r:.60})" if plain else f"Key(<{type(self.value).__name__}>)"
