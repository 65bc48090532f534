"""One worker process of the demo: `python -m moontide.demo.worker KIND ...`, started by crew.py.

It says that it is ready, waits for a line, trains its share of every epoch, and reports after each. A worker
whose demo has gone finds its standard output closed and ends.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from moontide.demo.data import Digits
from moontide.demo.messages import Done, Epoch, Message, Ready, encode

KINDS = ("lua", "torch")


class Trainer(Protocol):
    """A network attached to the parameter server; torch_worker.py and lua_worker.py have one each."""

    def pull(self) -> None:
        """Fetch the parameters."""

    def train(self, inputs: NDArray[np.float32], targets: NDArray[np.int64]) -> float:
        """Compute a batch's gradient and return its mean loss."""

    def push(self, learning_rate: float) -> None:
        """Send one step of gradient descent."""

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return log-probabilities."""

    def close(self) -> None:
        """Detach."""


def make_trainer(kind: str, address: str) -> Trainer:
    """Return the trainer of one side; the other side's libraries are not loaded."""
    if kind == "lua":
        from moontide.demo.lua_worker import LuaTrainer

        return LuaTrainer(address)
    from moontide.demo.torch_worker import TorchTrainer

    return TorchTrainer(address)


@dataclass(frozen=True, kw_only=True)
class Share:
    """Which part of the work a worker does; worker `index` of `of` takes every `of`-th sample of an epoch."""

    index: int
    of: int
    epochs: int
    seed: int
    batch: int
    learning_rate: float

    def batches(self, samples: int, epoch: int) -> Iterator[NDArray[np.int64]]:
        """Yield the sample numbers of each batch of an epoch, in an order that only seed and epoch decide."""
        order = np.random.default_rng((self.seed, epoch)).permutation(samples)[self.index :: self.of]
        for start in range(0, len(order), self.batch):
            yield order[start : start + self.batch]


def accuracy(trainer: Trainer, digits: Digits) -> float:
    """Return the share of test samples whose most likely class is the right one."""
    return float(np.mean(trainer.predict(digits.test_inputs).argmax(axis=1) == digits.test_targets))


def train(trainer: Trainer, digits: Digits, share: Share, report: Callable[[Message], None]) -> None:
    """Train all epochs and report each; every pull and push is timed."""
    waits: list[float] = []

    def timed(operation: Callable[[], None]) -> None:
        start = time.perf_counter()
        operation()
        waits.append(time.perf_counter() - start)

    steps = 0
    begin = time.perf_counter()
    for epoch in range(1, share.epochs + 1):
        losses = []
        for batch in share.batches(len(digits.train_targets), epoch):
            timed(trainer.pull)
            losses.append(trainer.train(digits.train_inputs[batch], digits.train_targets[batch]))
            timed(lambda: trainer.push(share.learning_rate))
            steps += 1
        timed(trainer.pull)
        report(Epoch(epoch, float(np.mean(losses)), accuracy(trainer, digits)))
    seconds = time.perf_counter() - begin
    report(Done(steps, steps + share.epochs, steps, seconds, max(waits)))


def send(message: Message) -> None:
    """Write a message to the demo."""
    sys.stdout.write(encode(message))
    sys.stdout.flush()


def main() -> int:
    """Run one worker process."""
    parser = argparse.ArgumentParser(prog="moontide.demo.worker", description=__doc__)
    parser.add_argument("kind", choices=KINDS, help="which side's model to train")
    parser.add_argument("address", help="the server's address")
    parser.add_argument("data", type=Path, help="the samples, a file of Digits.save")
    for name in ("index", "of", "epochs", "seed", "batch"):
        parser.add_argument(f"--{name}", type=int, required=True, help=f"see Share.{name}")
    parser.add_argument("--learning-rate", type=float, required=True, help="size of a step")
    arguments = vars(parser.parse_args())

    torch.set_num_threads(1)
    digits = Digits.load(arguments.pop("data"))
    trainer = make_trainer(arguments.pop("kind"), arguments.pop("address"))
    trainer.pull()
    try:
        send(Ready())
        if sys.stdin.readline():
            train(trainer, digits, Share(**arguments), send)
    except BrokenPipeError:  # the demo has gone
        return 1
    finally:
        trainer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
