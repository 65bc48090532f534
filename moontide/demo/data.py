"""The 1,797 scanned digits of UCI's optical recognition set, which scikit-learn carries, in a fixed split."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TEST_SAMPLES = 450


@dataclass(frozen=True, eq=False)
class Digits:
    """Images as rows of 64 grey levels in 0..1 (float32), targets as classes 0..9 (int64)."""

    train_inputs: NDArray[np.float32]
    train_targets: NDArray[np.int64]
    test_inputs: NDArray[np.float32]
    test_targets: NDArray[np.int64]

    def save(self, path: Path) -> None:
        """Write the arrays for other processes."""
        np.savez(path, **asdict(self))

    @classmethod
    def load(cls, path: Path) -> Digits:
        """Read what `save` wrote."""
        with np.load(path) as arrays:
            return cls(**arrays)


def load_digits() -> Digits:
    """Return all samples: 1,347 to train on and 450 to test with, always the same ones."""
    from sklearn import datasets

    inputs, targets = datasets.load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(targets))
    inputs = np.ascontiguousarray(inputs[order] / 16, dtype=np.float32)
    targets = np.ascontiguousarray(targets[order], dtype=np.int64)
    train = slice(0, len(targets) - TEST_SAMPLES)
    test = slice(len(targets) - TEST_SAMPLES, None)
    return Digits(inputs[train], targets[train], inputs[test], targets[test])
