"""Optimizers that a server applies to pushed gradients; they look like those of `torch.optim`.

>>> import numpy as np, pyps
>>> with pyps.Server(1000, 64, optimizer=pyps.optim.Adagrad(lr=0.1)) as server, server.worker() as kv:
...     kv.push([3, 7], np.ones((2, 64), np.float32))  # gradients
"""

from __future__ import annotations

from pyps import _core
from pyps.optim import settings
from pyps.optim.adagrad import Adagrad, RowwiseAdagrad
from pyps.optim.adam import Adam, AdamW
from pyps.optim.ftrl import FTRL
from pyps.optim.optimizer import Optimizer
from pyps.optim.rmsprop import RMSprop
from pyps.optim.sgd import SGD

__all__ = ["FTRL", "SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "RowwiseAdagrad"]

OPTIMIZERS: dict[str, type[Optimizer]] = {
    kind.name: kind for kind in (SGD, Adagrad, RowwiseAdagrad, Adam, AdamW, RMSprop, FTRL)
}


def of_node(node: _core.Node) -> Optimizer:
    """Return the optimizer of a node that has one, for this process to look at and to change."""
    name, _, text = node.optimizer_text().partition(":")
    optimizer = OPTIMIZERS[name]()
    found = settings.read(text, optimizer.defaults)
    made = OPTIMIZERS[name](**found)
    made.bind(node)
    return made
