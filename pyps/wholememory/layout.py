"""How tensors lie in a memory file: as checked numbers, and as the text behind the elements.

From the text a process in any language knows how to read a memory file:

    wholememory 1
    tensor <name> <dtype> <offset in elements> <dimensions> <size>... <stride>...

The file's last 32 bytes have the length of the text.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch

MOST_BYTES = (1 << 63) - 1
MOST_DIMENSIONS = 64
PAGE = 4096
HEAD = "wholememory 1\n"
TAIL = 32  # bytes at the end of the file
DTYPES = {
    str(value).removeprefix("torch."): value
    for value in vars(torch).values()
    if isinstance(value, torch.dtype)
}


@dataclass(frozen=True)
class Layout:
    """A tensor of a memory file.

    Attributes
    ----------
    dtype : torch.dtype
    shape, strides : tuple of int
        In elements.
    offset : int
        Of the first element, in elements.
    name : str
        The name of a parameter, without blanks; "-" for a tensor that has none.
    """

    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    name: str = "-"

    @property
    def elements(self) -> int:
        """How many elements the memory must have, up to the last one that is used."""
        if 0 in self.shape:
            return self.offset
        return self.offset + 1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))

    @property
    def nbytes(self) -> int:
        """How many bytes the memory must have."""
        return self.elements * self.dtype.itemsize

    def __str__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        numbers = (self.offset, len(self.shape), *self.shape, *self.strides)
        return f"tensor {self.name} {dtype} {' '.join(map(str, numbers))}\n"

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read one line of the text."""
        _, name, dtype, *numbers = line.split()
        offset, dimensions, *rest = map(int, numbers)
        return cls(DTYPES[dtype], tuple(rest[:dimensions]), tuple(rest[dimensions:]), offset, name)


def check_layout(shape: Sequence[int], strides: Sequence[int], dtype: object) -> Layout:
    """Return the layout of a new tensor.

    Parameters
    ----------
    shape : sequence of int
        Sizes of at least 0; an empty shape is that of a tensor with one element.
    strides : sequence of int
        In elements; empty: the tensor is contiguous.
    dtype : torch.dtype

    Raises
    ------
    TypeError
        Something is not a whole number, or not a dtype of torch.
    ValueError
        A number is negative or too large, or two positions of the tensor would share an element.
    """
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"dtype is {dtype!r}; give one of torch's, such as torch.float32")
    sizes = _whole("shape", shape)
    for size in sizes:
        if size < 0:
            raise ValueError(f"shape is {list(sizes)}; a size cannot be negative")
    if len(sizes) > MOST_DIMENSIONS:
        raise ValueError(f"shape has {len(sizes)} dimensions; torch's tensors have at most {MOST_DIMENSIONS}")
    steps = _whole("strides", strides) if len(strides) else _contiguous(sizes)
    if len(steps) != len(sizes):
        raise ValueError(
            f"strides has {len(steps)} numbers and shape {len(sizes)}; leave it empty for the usual ones"
        )
    _refuse_overlaps(sizes, steps)
    layout = Layout(dtype, sizes, steps)
    if layout.nbytes > MOST_BYTES - (1 << 32) or any(step > MOST_BYTES for step in steps):
        raise ValueError(
            f"shape {list(sizes)} with strides {list(steps)} needs {layout.nbytes} bytes; no address reaches so far"
        )
    return layout


def _whole(what: str, numbers: Any) -> tuple[int, ...]:
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Sequence | torch.Size):
        raise TypeError(f"{what} is {numbers!r}; give a list of whole numbers")
    for number in numbers:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"{what} is {list(numbers)!r}; {number!r} is not a whole number")
    return tuple(map(operator.index, numbers))


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _refuse_overlaps(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Raise ValueError unless each stride is larger than everything that the smaller ones reach."""
    if any(step < 0 for step in strides):
        raise ValueError(f"strides is {list(strides)}; a stride cannot be negative")
    if 0 in shape:
        return
    reached = 0
    for step, size in sorted((step, size) for step, size in zip(strides, shape, strict=True) if size > 1):
        if step <= reached:
            raise ValueError(
                f"strides {list(strides)} let elements of shape {list(shape)} overlap: a stride of {step} is inside "
                f"the {reached + 1} elements that smaller ones reach; leave strides empty for the usual ones"
            )
        reached += (size - 1) * step


def as_text(layouts: Sequence[Layout]) -> bytes:
    """Return what lies behind the elements: whole pages, whose last bytes have the length of the text."""
    text = (HEAD + "".join(map(str, layouts))).encode()
    tail = f"wholememory {len(text)}".encode().ljust(TAIL)
    pages = -(-(len(text) + TAIL) // PAGE)
    return text.ljust(pages * PAGE - TAIL, b"\0") + tail


def from_text(text: bytes) -> list[Layout]:
    """Read the tensors of a file from its text."""
    lines = text.decode().splitlines()
    if not lines or lines[0] + "\n" != HEAD:
        raise ValueError(
            "the file does not tell what it holds: it was made by another version, or written over"
        )
    return [Layout.parse(line) for line in lines[1:]]
