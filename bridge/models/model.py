"""What a loaded model is to those who use it, whatever file it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TensorSpec:
    """An input or output tensor: its name, and what is known of it.

    Attributes
    ----------
    name : str
        By which requests name it.
    dtype : str or None
        numpy's name of its type; None where any is taken.
    shape : tuple or None
        Its sizes, None for one that is open; None as a whole where nothing is known, not even how many there are.
    """

    name: str
    dtype: str | None = None
    shape: tuple[int | None, ...] | None = None


@dataclass(frozen=True)
class Model:
    """Functions, and what is known of the tensors of the one that is meant.

    Attributes
    ----------
    file : str
        Where it comes from.
    platform : str
        What runs it: "torch7", "lua", "torch" or "onnx".
    functions : mapping of str to callable
        All that can be called, by name; a network's only one is "forward", or the method that was asked for.
    parameters : mapping of str to list of str
        The names of each function's parameters; "..." are any more.
    default : str or None
        The function that is meant where none is named; None where the file has several.
    inputs, outputs : tuple of TensorSpec or None
        Of that function. None: nothing is known.
    by_row : bool
        Each row of the result belongs to the same row of the inputs, so that rows of several callers can go together.
    table : bool
        Several inputs go in as one table, as Torch7's networks take them.
    """

    file: str
    platform: str
    functions: Mapping[str, Callable[..., Any]]
    parameters: Mapping[str, list[str]]
    default: str | None = None
    inputs: tuple[TensorSpec, ...] | None = None
    outputs: tuple[TensorSpec, ...] | None = None
    by_row: bool = False
    table: bool = False

    def chosen(self, name: str | None = None) -> Callable[..., Any]:
        """Return a function by its name, or the one that is meant.

        Raises
        ------
        ValueError
            There is none of that name, or several and no name.
        """
        wanted = self.default if name is None else name
        if wanted is None or wanted not in self.functions:
            what = "defines several functions" if wanted is None else f"defines no function {wanted!r}"
            raise ValueError(f"{self.file} {what}; it has {', '.join(self.functions) or 'none'}")
        return self.functions[wanted]
