"""Which key of the server holds which parameters of the network.

Both models keep their parameters in one flat vector, layer by layer, the weight row by row and then the bias
(the order of Torch7's getParameters and of torch's Module.parameters). Every row of a weight is a value, and
so is every bias.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LAYERS = ((64, 64), (64, 10))  # inputs and outputs of each Linear


def value_lengths() -> NDArray[np.int64]:
    """Return the length of every key's value, in the order of the flat vector."""
    lengths: list[int] = []
    for inputs, outputs in LAYERS:
        lengths += [inputs] * outputs + [outputs]
    return np.array(lengths, dtype=np.int64)


def first_parameters(seed: int) -> NDArray[np.float32]:
    """Return a flat vector drawn as both libraries do by default: uniform within 1 / sqrt(inputs)."""
    random = np.random.default_rng(seed)
    layers = [
        random.uniform(-(inputs**-0.5), inputs**-0.5, (inputs + 1) * outputs) for inputs, outputs in LAYERS
    ]
    return np.concatenate(layers).astype(np.float32)
