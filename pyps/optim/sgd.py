"""Stochastic gradient descent."""

from __future__ import annotations

from pyps.optim.optimizer import Optimizer


class SGD(Optimizer):
    """Stochastic gradient descent, as `torch.optim.SGD`.

    Without momentum nothing is kept beside a value; with it a buffer of the value's length, in float32 (float64 if
    values are).

    Parameters
    ----------
    lr, momentum, dampening, weight_decay : float
        At least 0; whether `momentum` is 0 is fixed.
    nesterov : bool
        Needs momentum, and no dampening.
    maximize, refuse_nan : bool
        See `Optimizer`.
    """

    name = "sgd"

    def __init__(
        self,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        refuse_nan: bool = False,
    ) -> None:
        super().__init__(
            lr=float(lr),
            momentum=float(momentum),
            dampening=float(dampening),
            weight_decay=float(weight_decay),
            nesterov=bool(nesterov),
            maximize=bool(maximize),
            refuse_nan=bool(refuse_nan),
        )
