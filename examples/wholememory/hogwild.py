"""Hogwild training of the digits network: two Lua and two Python processes on one set of weights, without locks.

``python -m examples.wholememory.hogwild``. The weights, the images and their classes lie in memory that all processes
share; each takes its own random batches and changes the weights in place.
"""

from __future__ import annotations

import argparse
import multiprocessing
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

import pyps
from pyps import wholememory as wm

TRAINED_ON = 1347  # of 1797 images
RATE = 0.1
PATIENCE = 120.0  # seconds that a worker may take


def network() -> nn.Sequential:
    """Return the network of examples/digits/model.lua."""
    return nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 10), nn.LogSoftmax(dim=1))


def shared(values: torch.Tensor) -> torch.Tensor:
    """Return a copy in shared memory."""
    copy = wm.create_tensor(list(values.shape), [], values.dtype, True, [])
    return copy.copy_(values)


def worker(weights: str, inputs: torch.Tensor, targets: torch.Tensor, seed: int, steps: int) -> None:
    """Train in a process of its own; the tensors came by their names."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    model, criterion = network(), nn.NLLLoss()
    pyps.share(model, weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    loss = torch.zeros(())
    for _ in range(steps):
        batch = torch.randint(len(inputs), (32,))
        optimizer.zero_grad()
        loss = criterion(model(wm.gather(inputs, batch)), wm.gather(targets, batch))
        loss.backward()
        optimizer.step()
    print(f"Python worker {seed}: last loss {loss.item():.3f}", flush=True)


def train(steps: int, lua_workers: int = 2, python_workers: int = 2) -> tuple[float, float]:
    """Return the accuracy on images that nobody trained on, before and after."""
    from sklearn import datasets

    digits = datasets.load_digits()
    images = torch.from_numpy(digits.data).float() / 16
    classes = torch.from_numpy(digits.target).long()
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    images, classes = images[order], classes[order]

    def accuracy() -> float:
        with torch.no_grad():
            found = model(images[TRAINED_ON:]).argmax(1)
        return float((found == classes[TRAINED_ON:]).double().mean())

    wm.init_lib()
    wm.mp_init(0, 1)
    inputs, targets = shared(images[:TRAINED_ON]), shared(classes[:TRAINED_ON])
    model = network()
    weights = pyps.share(model)
    before = accuracy()
    script = Path(__file__).with_suffix(".lua")
    names = [weights, wm.name_of(inputs), wm.name_of(targets)]
    context = multiprocessing.get_context("spawn")
    lua = [
        subprocess.Popen(
            [sys.executable, "-m", "bridge.th", str(script), *names, str(seed), str(steps), str(RATE)]
        )
        for seed in range(lua_workers)
    ]
    python = [
        context.Process(target=worker, args=(weights, inputs, targets, seed, steps))
        for seed in range(python_workers)
    ]
    try:
        for process in python:
            process.start()
        for process in python:
            process.join(PATIENCE)
        statuses = [process.exitcode for process in python] + [each.wait(PATIENCE) for each in lua]
    finally:
        for process in python:
            process.kill()
            process.join()
        for each in lua:
            each.kill()
            each.wait()
    if any(statuses):
        raise RuntimeError(f"workers ended with {statuses}")
    wm.finalize_lib()
    return before, accuracy()


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500, help="of each worker")
    before, after = train(parser.parse_args(arguments).steps)
    print(f"accuracy on the {1797 - TRAINED_ON} other images: {before:.3f} before, {after:.3f} after")


if __name__ == "__main__":
    main()
