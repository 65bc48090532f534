"""Reading the table of `signatures.py`: how classes and methods are called, and which values are positions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from bridge.boundary.marks import shift_index, shift_position
from bridge.legacy import signatures

Shift = Callable[[Any, int], Any]
# `@` counts from the start, or with negative numbers from the end; `#` is an index, or -1 for none (0 in Lua).
SHIFTS: dict[str, Shift] = {"@": shift_position, "#": shift_index}
PARAMETER = re.compile(r"^(\*?)(\w+)([@#]?)(\??)$")


@dataclass(frozen=True)
class Form:
    """The parameters of a function or class, and which of them, and whether its results, are positions."""

    signature: inspect.Signature
    shifts: tuple[Shift | None, ...]
    result: Shift | None = None

    def bind(self, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
        """Return the arguments in Lua's order. Raises TypeError like a Python function."""
        try:
            bound = self.signature.bind(*arguments, **keywords)
        except TypeError as reason:
            raise TypeError(f"{name}{self.signature}: {reason}") from None
        bound.apply_defaults()
        values = [
            value
            for parameter, given in bound.arguments.items()
            for value in (given if self._takes_rest(parameter) else (given,))
        ]
        while values and values[-1] is None:
            values.pop()
        return self.shift(values)

    def shift(self, values: list[Any]) -> list[Any]:
        """Shift the arguments that are positions from Python's counting to Lua's."""
        if not any(self.shifts):
            return values
        rest = (
            self.shifts[len(self.shifts) - 1]
            if self._takes_rest(list(self.signature.parameters)[-1])
            else None
        )
        shifts = [*self.shifts, *[rest] * len(values)]
        return [
            value if shift is None or value is None else shift(value, 1)
            for value, shift in zip(values, shifts, strict=False)
        ]

    def _takes_rest(self, parameter: str) -> bool:
        return self.signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL

    @property
    def positions(self) -> list[str]:
        """The names of the parameters that count from 0 in Python."""
        return [
            name
            for name, shift in zip(self.signature.parameters, self.shifts, strict=True)
            if shift is not None
        ]


ANYTHING = Form(
    inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)]), (None,)
)


@dataclass(frozen=True)
class Row:
    """A class of nn: its parent and its constructor."""

    name: str
    parent: str
    form: Form


def _form(text: str) -> Form:
    parameters, _, result = text.partition("->")
    found = []
    shifts: list[Shift | None] = []
    for part in parameters.replace(",", " ").split():
        match = PARAMETER.match(part)
        if match is None:
            raise ValueError(f"{part!r} is no parameter of the table")
        star, name, mark, optional = match.groups()
        kind = inspect.Parameter.VAR_POSITIONAL if star else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = None if optional else inspect.Parameter.empty
        found.append(inspect.Parameter(name, kind, default=default))
        shifts.append(SHIFTS[mark] if mark else None)
    return Form(inspect.Signature(found), tuple(shifts), SHIFTS.get(result.strip()))


def _lines(text: str) -> list[str]:
    return re.sub(r"\n +", " ", text).split("\n")[1:-1]


def row(line: str) -> Row:
    """Read a line of the table of classes."""
    head, _, parameters = line.partition(":")
    name, _, parent = (part.strip() for part in head.partition("<"))
    return Row(name, parent, _form(parameters))


def _rows(text: str) -> dict[str, Row]:
    return {found.name: found for found in map(row, _lines(text))}


@cache
def rows() -> dict[str, Row]:
    """Every class of nn by name, modules first."""
    return {**_rows(signatures.MODULES), **_rows(signatures.CRITERIONS), **_rows(signatures.OTHERS)}


@cache
def methods() -> dict[str, Form]:
    """Return the methods and functions that take or give positions, as `Class.method`."""
    found = {}
    for line in _lines(signatures.METHODS):
        name, _, parameters = line.partition(":")
        found[name] = _form(parameters)
    return found


@cache
def fields() -> dict[str, Shift]:
    """Return the fields that are positions, as `Class.field`: listed, or named as a constructor's parameter."""
    found = {line[:-1]: SHIFTS[line[-1]] for line in _lines(signatures.FIELDS)}
    for known in rows().values():
        for name, shift in zip(known.form.signature.parameters, known.form.shifts, strict=True):
            if shift is not None:
                found[f"{known.name}.{name}"] = shift
    return found


@cache
def method_form(lineage: tuple[str, ...], name: str) -> Form | None:
    """Return the form of a method if the table has it. `lineage`: the class and its parents."""
    table = methods()
    return next((table[f"{base}.{name}"] for base in lineage if f"{base}.{name}" in table), None)


@cache
def position(lineage: tuple[str, ...], name: str) -> Shift | None:
    """Return the function that shifts a field of a class, if the field is a position."""
    table = fields()
    return next((table[f"{base}.{name}"] for base in lineage if f"{base}.{name}" in table), None)
