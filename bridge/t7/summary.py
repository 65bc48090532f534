"""Descriptions of a Torch7 file's contents without its tensors' data, with counts and a tree to print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bridge.t7.objects import Key, Storage, TorchFunction, TorchObject

ITEM_BYTES = {"Byte": 1, "Char": 1, "Short": 2, "Int": 4, "Long": 8, "Half": 2, "Float": 4, "Double": 8}
PLAIN = frozenset((str, int, float, bytes, bool, type(None)))


def _element(typename: str) -> str:
    """Return "Float" of "torch.FloatTensor"."""
    return typename.removeprefix("torch.").removesuffix("Tensor").removesuffix("Storage")


@dataclass(frozen=True, eq=False)
class StorageSummary:
    """A storage whose elements were not read.

    Attributes
    ----------
    typename : str
        Such as "torch.FloatStorage"; for a Cuda storage, the name of the type in main memory.
    size : int
        Elements.
    position : int
        The byte of the file at which they begin.
    """

    typename: str
    size: int
    position: int

    @property
    def nbytes(self) -> int:
        """Bytes that the elements take in memory."""
        return self.size * ITEM_BYTES[_element(self.typename)]

    def __str__(self) -> str:
        return f"{self.typename} of size {self.size}"


@dataclass(frozen=True, eq=False)
class TensorSummary:
    """A tensor whose elements were not read.

    Attributes
    ----------
    typename : str
        Such as "torch.FloatTensor"; for a Cuda tensor, the name of the type in main memory.
    shape, strides : tuple of int
        Sizes and strides in elements.
    offset : int
        Its first element in the storage, from 0.
    storage : StorageSummary or None
        Shared by the tensors that share memory.
    """

    typename: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: StorageSummary | None

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1 if self.shape else 0
        for length in self.shape:
            count *= length
        return count

    @property
    def nbytes(self) -> int:
        """Bytes that its elements take in memory, without the rest of its storage."""
        return self.size * ITEM_BYTES[_element(self.typename)]

    @property
    def contiguous(self) -> bool:
        """Whether the elements are next to each other in memory, in order."""
        expected = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length != 1 and stride != expected:
                return False
            expected *= length
        return True

    def __str__(self) -> str:
        if not self.shape:
            return f"{self.typename} with no dimension"
        shown = f"{self.typename} of size {'x'.join(map(str, self.shape))}"
        if not self.contiguous:
            shown += f", strides {'x'.join(map(str, self.strides))}"
        if self.storage is not None and self.storage.size != self.size:
            shown += f", on a storage of {self.storage.size}"
        return shown


class Summary:
    """The contents of a file.

    Attributes
    ----------
    value : object
        The value that `bridge.t7.load` returns, with `TensorSummary` and `StorageSummary` for tensors and storages.
    file : str
        The file's name.
    file_bytes : int
        Its size in bytes.
    tensors, storages, tables, functions : int
        How many of them there are, each counted once.
    elements : int
        Elements of all storages together.
    data_bytes : int
        Bytes that all storages take in memory.
    parameters : int
        Elements of the tensors in the fields weight and bias of objects, each counted once.
    classes : dict of str to int
        How many objects of each class there are.
    """

    def __init__(self, value: Any, file: str, file_bytes: int) -> None:
        self.value = value
        self.file = file
        self.file_bytes = file_bytes
        self.tensors = self.storages = self.tables = self.functions = 0
        self.elements = self.data_bytes = self.parameters = 0
        self.classes: dict[str, int] = {}
        self._count()

    def _count(self) -> None:
        """Visit everything once, without recursion."""
        seen: set[int] = set()
        parameters: dict[tuple[int, int], int] = {}
        waiting = [self.value]
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            waiting.extend(child for child in _held(value) if type(child) not in PLAIN)
            if isinstance(value, TensorSummary):
                self.tensors += 1
                if value.storage is not None:
                    waiting.append(value.storage)
            elif isinstance(value, StorageSummary):
                self.storages += 1
                self.elements += value.size
                self.data_bytes += value.nbytes
            elif isinstance(value, TorchObject):
                name = value.torch_typename()
                self.classes[name] = self.classes.get(name, 0) + 1
                for field in ("weight", "bias"):
                    held = value.torch_payload().get(field) if _has_fields(value) else None
                    if isinstance(held, TensorSummary):
                        parameters[id(held.storage), held.offset] = held.size
            elif isinstance(value, TorchFunction):
                self.functions += 1
            elif isinstance(value, list | dict):
                self.tables += 1
        self.parameters = sum(parameters.values())

    def text(self, depth: int = 4, width: int = 12) -> str:
        """Return the tree as text.

        Parameters
        ----------
        depth : int
            Levels to show.
        width : int
            Entries to show of each table or object.
        """
        head = (
            f"{self.file}: {self.file_bytes:,} bytes; {self.tensors} tensors on {self.storages} storages of "
            f"{self.elements:,} elements ({self.data_bytes:,} bytes), {self.tables} tables"
        )
        if self.parameters:
            head += f", {self.parameters:,} parameters"
        if self.functions:
            head += f", {self.functions} functions (never run)"
        return "\n".join([head, *self._lines(depth, width)])

    def _lines(self, depth: int, width: int) -> Iterator[str]:
        shown: set[int] = set()
        waiting: list[tuple[int, str, Any]] = [(0, "", self.value)]
        while waiting:
            level, label, value = waiting.pop()
            margin = "  " * level + label
            children = _children(value)
            if not children:
                yield margin + _leaf(value)
                continue
            again = id(value) in shown
            shown.add(id(value))
            yield margin + _title(value, len(children)) + (" (shown above)" if again else "")
            if again:
                continue
            if level >= depth:
                yield "  " * (level + 1) + "..."
                continue
            if len(children) > width:
                rest = f"... {len(children) - width} more"
                waiting.append((level + 1, rest, _NOTHING))
            waiting.extend((level + 1, f"{name}: ", child) for name, child in reversed(children[:width]))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Summary of {self.file!r}: {self.tensors} tensors, {self.data_bytes:,} bytes>"


_NOTHING = object()


def _held(value: Any) -> Iterable[Any]:
    """Return the values inside a value."""
    if isinstance(value, TorchObject):
        value = value.torch_payload()
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        keys = [key.value if isinstance(key, Key) else key for key in value if type(key) not in PLAIN]
        return [*value.values(), *keys] if keys else value.values()
    return (value.upvalues,) if isinstance(value, TorchFunction) else ()


def _has_fields(value: TorchObject) -> bool:
    return isinstance(value.torch_payload(), dict)


def _children(value: Any) -> list[tuple[str, Any]]:
    """Return the values inside a value, each with its label."""
    if isinstance(value, list):
        return [(f"[{place}]", child) for place, child in enumerate(value)]
    if isinstance(value, dict):
        found = []
        for key, child in value.items():
            if isinstance(key, Key | TorchObject | TorchFunction):
                found.append(("(key)", key.value if isinstance(key, Key) else key))
            found.append((key if isinstance(key, str) and key.isidentifier() else f"[{key!r:.60}]", child))
        return found
    if isinstance(value, TorchObject):
        payload = value.torch_payload()
        return _children(payload) if isinstance(payload, dict | list) else []
    if isinstance(value, TorchFunction) and value.upvalues:
        return [("upvalues", value.upvalues)]
    return []


def _title(value: Any, count: int) -> str:
    if isinstance(value, TorchObject):
        return value.torch_typename()
    if isinstance(value, TorchFunction):
        return repr(value)
    return f"{'list' if isinstance(value, list) else 'dict'} of {count}"


def _leaf(value: Any) -> str:
    if value is _NOTHING:
        return ""
    if isinstance(value, TorchObject):
        return value.torch_typename()
    if isinstance(value, TensorSummary | StorageSummary | Storage):
        return str(value)
    shown = repr(value[:60] if isinstance(value, str | bytes) else value)
    return shown + (
        f"... ({len(value)} characters)" if isinstance(value, str | bytes) and len(value) > 60 else ""
    )
