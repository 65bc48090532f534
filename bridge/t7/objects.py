"""Values of Torch7 files for which Python has no type: class instances, storages, functions, some table keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

# Values without a class; lists and dicts contain any values.
Plain: TypeAlias = "bool | int | float | str | bytes | list[Any] | dict[Any, Any] | None"


class T7Error(ValueError):
    """A file that is not in Torch7's format, or a value that cannot be written in it.

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

    A field with the name of a method of this class is reached as `obj["fields"]`.

    Parameters
    ----------
    typename : str
        The class's name in Lua.
    payload : object
        What the class writes: for most classes a dict of the fields, bytes for `torch.Generator`, a dict for
        `tds.Hash`, a list for `tds.Vec`.
    version : int or float or None
        The class's version number; None as in old files, which had no versions.
    parts : list of (str, object), optional
        For a class with a layout of its own: the kind and value of everything it writes, in order.
    tail : (str, bytes), optional
        For a class of unknown layout: the form of the file it was read from, and the bytes it wrote after its fields.
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
        """Return the class's version number in the file."""
        return self._version

    def torch_payload(self) -> Any:
        """Return what the class wrote: usually the same dict as `fields()`."""
        return self._payload

    def torch_parts(self) -> list[tuple[str, Any]]:
        """Return the kind and value of everything that the class wrote, in order."""
        return self._parts if self._parts is not None else [("object", self._payload)]

    def fields(self) -> dict[Any, Any]:
        """Return the dict of the fields; changing it changes the object.

        Raises
        ------
        TypeError
            The class does not write a table of fields.
        """
        if isinstance(self._payload, dict):
            return self._payload
        raise TypeError(
            f"{self._typename} has no fields: it holds {type(self._payload).__name__}, see torch_payload()"
        )

    def __getattr__(self, name: str) -> Any:
        if name in TorchObject.__slots__:  # __init__ has not run, as while unpickling
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
    """A Torch7 storage that is a value of its own in a file, such as the LongStorage of a tensor's size.

    It behaves like a sequence of numbers; `numpy.asarray` gives an array over its memory, which its tensors share.

    Attributes
    ----------
    array : ndarray or torch.Tensor
        Its elements, one-dimensional and contiguous. An ndarray is also the `base` of the arrays of its tensors.
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
    """A Lua function in a file: its byte code and upvalues. It is never run, and is written back unchanged.

    Attributes
    ----------
    code : bytes
        The result of Lua's `string.dump`.
    upvalues : object
        The function's upvalues, as the file has them.
    kind : int
        The file's type number for the function: 8, or 6 or 7 in older files.
    """

    __slots__ = ("__weakref__", "code", "kind", "upvalues")

    def __init__(self, code: bytes, upvalues: Any = None, kind: int = 8) -> None:
        self.code = code
        self.upvalues = upvalues
        self.kind = kind

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Refuse to run code from a file.

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
    """A table's key that Python cannot hash or would confuse with another key. It equals only a Key of the same object.

    Tables, tensors and storages as keys become Key(value). So do booleans in a table that also has the key 0 or 1.
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
