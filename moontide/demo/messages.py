"""What a worker process tells the demo: one line of JSON per message on its standard output."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Ready:
    """The worker has loaded everything and waits for a line on its standard input."""


@dataclass(frozen=True)
class Epoch:
    """One pass over the worker's share of the samples is done.

    Attributes
    ----------
    number : int
        From 1.
    loss : float
        Mean over the pass.
    accuracy : float
        On the test samples, 0..1, with the parameters pulled at the end of the pass.
    """

    number: int
    loss: float
    accuracy: float


@dataclass(frozen=True)
class Done:
    """The worker's totals; times in seconds, `longest_wait` the longest of all pulls and pushes."""

    steps: int
    pulls: int
    pushes: int
    seconds: float
    longest_wait: float


Message = Ready | Epoch | Done
KINDS: dict[str, type[Message]] = {kind.__name__: kind for kind in (Ready, Epoch, Done)}


def encode(message: Message) -> str:
    """Return the message as one line."""
    return json.dumps({"kind": type(message).__name__, **asdict(message)}) + "\n"


def decode(line: str) -> Message:
    """Return the message of a line that `encode` wrote."""
    fields = json.loads(line)
    return KINDS[fields.pop("kind")](**fields)
