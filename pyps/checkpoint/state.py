"""What each optimizer keeps beside a value, in the order in which it lies there: see pyps/core/store/optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Settings = Mapping[str, float]


@dataclass(frozen=True)
class Part:
    """Something that an optimizer keeps for each key: a number for each element, or one for the key.

    Attributes
    ----------
    name : str
    is_count : bool
        One whole number for the key: its steps.
    per_key : bool
        One number for the key.
    """

    name: str
    is_count: bool = False
    per_key: bool = False


STEPS = Part("steps", is_count=True)


def _adam(settings: Settings) -> list[Part]:
    return [STEPS, Part("means"), Part("squares"), *_if(settings["amsgrad"], Part("greatest"))]


def _if(setting: float, *parts: Part) -> list[Part]:
    return list(parts) if setting else []


STATES: Mapping[str, Callable[[Settings], list[Part]]] = {
    "sgd": lambda settings: _if(settings["momentum"], STEPS, Part("momentum")),
    "adagrad": lambda settings: [*_if(settings["lr_decay"], STEPS), Part("sums")],
    "rowwise_adagrad": lambda _: [Part("sum", per_key=True)],
    "adam": _adam,
    "adamw": _adam,
    "rmsprop": lambda settings: [
        Part("squares"),
        *_if(settings["centered"], Part("means")),
        *_if(settings["momentum"], Part("momentum")),
    ],
    "ftrl": lambda _: [Part("sums"), Part("z")],
}


def state_of(optimizer: str) -> tuple[Part, ...]:
    """Return what an optimizer keeps.

    Parameters
    ----------
    optimizer : str
        With all of its settings, as `Node.optimizer_text` has it; empty if pushes add.

    Raises
    ------
    ValueError
        There is no such optimizer, or a setting is missing.
    """
    if not optimizer:
        return ()
    name, _, text = optimizer.partition(":")
    try:
        settings = {key: float(number) for key, _, number in (one.partition("=") for one in text.split(","))}
        return tuple(STATES[name](settings))
    except (KeyError, ValueError):
        raise ValueError(f"what {optimizer!r} keeps for a key is not known") from None
