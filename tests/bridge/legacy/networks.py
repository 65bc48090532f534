"""What several tests of bridge.legacy.nn compute with."""

from __future__ import annotations

from typing import Any

import numpy as np

from bridge.legacy import nn


def mlp() -> Any:
    return nn.Sequential().add(nn.Linear(4, 8)).add(nn.Tanh()).add(nn.Linear(8, 3)).add(nn.LogSoftMax())


SCORES = np.log(np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]))
