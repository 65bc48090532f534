"""The Lua side: runs examples/digits/model.lua, and worker.lua, which pulls and pushes through luaps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import bridge
from moontide import locations


class LuaTrainer:
    """The Torch7 model file in a Lua state of its own; batches reach it without a copy."""

    def __init__(self, address: str) -> None:
        directory = locations.example("digits")
        self.lua = bridge.Lua(interruptible=False)  # the demo stops its workers
        self.model = self.lua.load(directory / "model.lua")
        self.worker = self.lua.load(directory / "worker.lua")
        self.worker.connect(address)

    def pull(self) -> None:
        """Fetch the parameters into the network."""
        self.worker.pull()

    def train(self, inputs: NDArray[np.float32], targets: NDArray[np.int64]) -> float:
        """Compute the gradient of a batch and return its mean loss."""
        return float(self.model.train({"inputs": inputs, "targets": bridge.index(targets)}))

    def push(self, learning_rate: float) -> None:
        """Take one step of gradient descent: the server adds what is pushed."""
        self.worker.push(learning_rate)

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the log-probabilities of a batch."""
        output: NDArray[np.float32] = self.model.predict({"inputs": inputs})
        return output.copy()  # the model reuses its output

    def close(self) -> None:
        """Detach from the server and end the Lua state."""
        self.worker.disconnect()
        self.lua.close()
