"""A model's process with its connections and messages: the part that `handle` and `member` share."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bridge.models import Model, TensorSpec
from bridge.serve.process.area import Area
from bridge.serve.process.values import packed, unpacked

LEAVING = 2.0  # seconds that a process has to end by itself
NO_ANSWER = "the model's process sent what is no answer"


class ProcessLost(RuntimeError):
    """The model's process ended during a call."""


class CallTimeout(TimeoutError):
    """A call took longer than allowed; its process was ended."""


@dataclass(frozen=True)
class Wanted:
    """What a process loads, and its limits; see `bridge.models.load` and `ModelProcess`.

    `threads`: torch's threads. `watch`: seconds that the process waits for its next call without sleeping.
    """

    file: str
    function: str | None = None
    key: str | None = None
    network: str | None = None
    device: str = "cpu"
    memory: int | None = None
    allow_functions: bool = False
    threads: int | None = None
    watch: float = 0.0


@dataclass(frozen=True)
class Description:
    """A process's description of its model; see `bridge.models.Model`."""

    platform: str
    parameters: dict[str, list[str]]
    default: str | None = None
    inputs: tuple[TensorSpec, ...] | None = None
    outputs: tuple[TensorSpec, ...] | None = None
    by_row: bool = False
    table: bool = False

    @classmethod
    def of(cls, model: Model) -> dict[str, Any]:
        """Return the description of a model as a message."""
        return {
            "platform": model.platform,
            "parameters": dict(model.parameters),
            "default": model.default,
            "inputs": None if model.inputs is None else [asdict(one) for one in model.inputs],
            "outputs": None if model.outputs is None else [asdict(one) for one in model.outputs],
            "by_row": model.by_row,
            "table": model.table,
        }

    @classmethod
    def told(cls, message: Any) -> Description:
        """Return the description in a message.

        Raises
        ------
        ProcessLost
            The message is not a description: the process is defective.
        """
        try:
            return cls(
                platform=str(message["platform"]),
                parameters={
                    str(name): [str(one) for one in names] for name, names in message["parameters"].items()
                },
                default=None if message["default"] is None else str(message["default"]),
                inputs=_specs(message["inputs"]),
                outputs=_specs(message["outputs"]),
                by_row=bool(message["by_row"]),
                table=bool(message["table"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ProcessLost(f"{NO_ANSWER}: {error!r}") from None


def _specs(message: Any) -> tuple[TensorSpec, ...] | None:
    if message is None:
        return None
    return tuple(
        TensorSpec(
            str(one["name"]),
            None if one["dtype"] is None else str(one["dtype"]),
            None
            if one["shape"] is None
            else tuple(None if size is None else int(size) for size in one["shape"]),
        )
        for one in message
    )


class Running:
    """A process and its connections: a socket, and a shared area for each direction."""

    def __init__(self) -> None:
        self.given, self.made = Area.create(), Area.create()
        self.socket, theirs = socket.socketpair()
        inherited = (theirs.fileno(), self.given.descriptor, self.made.descriptor)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "bridge.serve.process.worker", *map(str, (*inherited, os.getpid()))],
                pass_fds=inherited,
                stdin=subprocess.DEVNULL,
                stdout=2,  # a model's output goes to standard error, like log messages
                start_new_session=True,
            )
        except BaseException:
            self.socket.close()
            self.given.close()
            self.made.close()
            raise
        finally:
            theirs.close()

    def question(self, function: str | None, arguments: Sequence[Any]) -> dict[str, Any]:
        """Return a call as a message; its arrays are put into the area that the process reads."""
        self.given.clear()
        return {"function": function, "arguments": [packed(one, self.given) for one in arguments]}

    def value(self, result: Any) -> Any:
        """Return a copy of the result in an answer.

        Raises
        ------
        ProcessLost
            It was not made by `packed`.
        """
        try:
            return unpacked(result, self.made, copy=True)
        except ValueError as error:
            raise ProcessLost(f"the model's process sent what is no value: {error}") from None

    def kill(self) -> None:
        """Send the process the signal that ends it."""
        self.process.kill()

    def reason(self) -> str:
        """Return why the process ended; or that it is alive and has only closed its connection."""
        try:
            status = self.process.wait(LEAVING)
        except subprocess.TimeoutExpired:
            return "it no longer listens"
        return signal.Signals(-status).name if status < 0 else f"status {status}"

    def end(self) -> None:
        """Kill the process and close all connections."""
        self.process.kill()
        self.process.wait()
        self.socket.close()
        self.given.close()
        self.made.close()


def checked(answer: Any) -> dict[str, Any]:
    """Return an answer: a dict with the result or with the error.

    Raises
    ------
    ProcessLost
        It is not an answer.
    """
    if isinstance(answer, dict) and ("result" in answer or isinstance(answer.get("error"), dict)):
        return answer
    raise ProcessLost(NO_ANSWER)
