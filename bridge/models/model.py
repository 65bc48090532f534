"""The interface of a loaded model, the same for all kinds of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TensorSpec:
    """The name of an input or output tensor, and its type and shape as far as they are known.

    Attributes
    ----------
    name : str
        Its name in requests.
    dtype : str or None
        numpy's name of its type; None: any type.
    shape : tuple or None
        Its sizes, with None for one that may vary; None as a whole: unknown.
    """

    name: str
    dtype: str | None = None
    shape: tuple[int | None, ...] | None = None


@dataclass(frozen=True)
class Model:
    """The functions of a model, and the inputs and outputs of its default function.

    Attributes
    ----------
    file : str
        The file it was loaded from.
    platform : str
        What runs it: "torch7", "lua", "torch" or "onnx".
    functions : mapping of str to callable
        Its functions by name; a network has only one, "forward" or the method that was asked for.
    parameters : mapping of str to list of str
        The names of each function's parameters; "..." stands for further ones.
    default : str or None
        The function to call when none is named; None if the file has several.
    inputs, outputs : tuple of TensorSpec or None
        Of the default function. None: unknown.
    by_row : bool
        Each row of the result depends only on the same row of the inputs, so rows of several callers can be computed
        together.
    table : bool
        Several inputs are passed as one table, as Torch7's networks take them.
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
        """Return a function by its name, or the default one.

        Raises
        ------
        ValueError
            There is no function of that name, or no name was given and there is no default.
        """
        wanted = self.default if name is None else name
        if wanted is None or wanted not in self.functions:
            what = "defines several functions" if wanted is None else f"defines no function {wanted!r}"
            raise ValueError(f"{self.file} {what}; it has {', '.join(self.functions) or 'none'}")
        return self.functions[wanted]
