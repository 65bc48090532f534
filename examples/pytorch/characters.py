"""A recurrent network for letters in Torch7 and its twin in PyTorch, which train the same parameters.

    python -m examples.pytorch.characters

characters.lua has the network as programs of 2015 had it (after Karpathy's char-rnn); `Twin` is the same in PyTorch.
Each process trains both at the same time, a Lua thread beside the main one. Measured are the bits that the next letter
of the Bible takes, in verses that nobody trained with.
"""

from __future__ import annotations

import bz2
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from torch import nn

import bridge
import pyps
from examples.apps.corpus import FILE
from examples.pytorch.progress import Curve, run

WIDTH, BATCH, TIME, JUDGED = 64, 32, 32, 64
LETTERS, SPACE = 27, 26
OPTIMIZER = "adam:lr=0.005"


class Twin(nn.Module):
    """The network of characters.lua: an embedding, an LSTM whose gates are computed together, and a layer on top."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = nn.Embedding(LETTERS, WIDTH)
        self.input = nn.Linear(WIDTH, 4 * WIDTH)
        self.output = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.last = nn.Linear(WIDTH, LETTERS)

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        """Return the logarithms of the next letter's probabilities, shape (time, batch, letters)."""
        inputs = self.input(self.letters(letters))
        output = cell = torch.zeros(letters.shape[1], WIDTH)
        outputs = []
        for step in inputs:
            enter, hidden, keep, leave = (step + self.output(output)).chunk(4, 1)
            cell = keep.sigmoid() * cell + enter.sigmoid() * hidden.tanh()
            output = leave.sigmoid() * cell.tanh()
            outputs.append(output)
        return nn.functional.log_softmax(self.last(torch.stack(outputs)), 2)


def bits(predicted: torch.Tensor, letters: torch.Tensor) -> torch.Tensor:
    """Return the bits that each letter takes but the first, in the mean."""
    return nn.functional.nll_loss(predicted.flatten(0, 1), letters[1:].flatten()) / math.log(2)


def book() -> np.ndarray:
    """Return the letters of the Bible as numbers from 0; what is no letter is a space."""
    text = np.frombuffer(bz2.decompress(FILE.read_bytes()).lower(), np.uint8).astype(np.int64) - ord("a")
    letters: np.ndarray = np.where((text < 0) | (text >= SPACE), SPACE, text)
    return letters


def train(node: pyps.Server, kv: pyps.Worker, steps: int) -> Curve:
    """Train in both languages; return how many bits a letter takes."""
    text = book()
    seen, unseen = np.split(text, [len(text) * 9 // 10])

    def draw(text: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
        begin = random.integers(len(text) - TIME - 1, size=count)
        drawn: np.ndarray = text[begin + np.arange(TIME + 1)[:, None]]
        return drawn

    judged = torch.from_numpy(draw(unseen, JUDGED, np.random.default_rng(0)))
    torch.manual_seed(0)
    twin = Twin()
    with pyps.nn.Distributed(twin, kv, optimizer=OPTIMIZER) as model, bridge.Lua() as lua:
        program = lua.load(Path(__file__).with_suffix(".lua"))
        program.build(LETTERS, WIDTH)
        program.share(node.address, OPTIMIZER)

        def train_in_lua() -> None:
            random = np.random.default_rng((1, node.job.rank))
            for _ in range(steps):
                program.step(bridge.index(draw(seen, BATCH, random)))

        def quality() -> float:
            with torch.no_grad():
                return float(bits(twin(judged[:-1]), judged))

        random = np.random.default_rng((0, node.job.rank))
        curve = Curve("bits per letter", is_silent=node.job.rank > 0)
        with ThreadPoolExecutor(1) as pool:
            in_lua = pool.submit(train_in_lua)
            for _ in curve.follow(steps, quality):
                letters = torch.from_numpy(draw(seen, BATCH, random))
                bits(model(letters[:-1]), letters).backward()  # type: ignore[no-untyped-call]
            in_lua.result()
            meeting = pool.submit(program.meet)
            kv.waitall()
            kv.barrier()  # all have trained, in both languages
            meeting.result()
        model.pull()
        outputs = np.stack(program.predict(bridge.index(judged[:-1].numpy())))
        assert np.allclose(outputs, twin(judged[:-1]).detach(), atol=1e-4), "the twins differ"
        program.close()
    return curve


if __name__ == "__main__":
    run(train, __doc__, steps=600)
