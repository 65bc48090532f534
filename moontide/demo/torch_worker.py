"""The PyTorch side: the network of examples/digits/model.lua in torch.nn, over one flat parameter vector."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import pyps
from moontide.demo.layout import LAYERS, value_lengths


class TorchTrainer:
    """A network whose flat parameter vector is the buffer that pulls write to."""

    def __init__(self, address: str) -> None:
        self.kv = pyps.attach(address).worker()
        self.keys = np.arange(len(value_lengths()), dtype=np.int64)
        self.model = network()
        self.criterion = nn.NLLLoss()
        self.parameters, self.gradients = flatten(self.model)

    def pull(self) -> None:
        """Fetch the parameters into the network."""
        self.kv.pull(self.keys, self.parameters)

    def train(self, inputs: NDArray[np.float32], targets: NDArray[np.int64]) -> float:
        """Compute the gradient of a batch and return its mean loss."""
        self.gradients.zero_()
        loss = self.criterion(self.model(torch.from_numpy(inputs)), torch.from_numpy(targets))
        loss.backward()
        return float(loss.item())

    def push(self, learning_rate: float) -> None:
        """Take one step of gradient descent: the server adds what is pushed."""
        self.kv.push(self.keys, self.gradients.mul_(-learning_rate))

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the log-probabilities of a batch."""
        with torch.no_grad():
            output: NDArray[np.float32] = self.model(torch.from_numpy(inputs)).numpy()
        return output

    def close(self) -> None:
        """Leave the server."""
        self.kv.finalize()


def network() -> nn.Sequential:
    """Return the two-layer network."""
    (inputs, hidden), (_, classes) = LAYERS
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, classes), nn.LogSoftmax(dim=1)
    )


def flatten(model: nn.Module) -> tuple[torch.Tensor, torch.Tensor]:
    """Move a model's parameters and gradients into two flat vectors that they are views of.

    Parameters
    ----------
    model : nn.Module
        Its parameters are replaced in place; their order is the order in the vectors.

    Returns
    -------
    parameters, gradients : torch.Tensor
        float32, as long as all parameters together; they do not require grad themselves.
    """
    size = sum(parameter.numel() for parameter in model.parameters())
    parameters, gradients = torch.empty(size), torch.zeros(size)
    start = 0
    for parameter in model.parameters():
        end = start + parameter.numel()
        parameters[start:end] = parameter.detach().flatten()
        parameter.data = parameters[start:end].view_as(parameter)
        parameter.grad = gradients[start:end].view_as(parameter)
        start = end
    return parameters, gradients
