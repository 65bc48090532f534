"""RMSprop."""

from __future__ import annotations

from pyps.optim.optimizer import Optimizer


class RMSprop(Optimizer):
    """RMSprop, as `torch.optim.RMSprop`.

    It keeps a mean of squares for each element, one more mean if `centered`, and a buffer if it has momentum.

    Parameters
    ----------
    lr, eps, weight_decay, momentum : float
        At least 0; whether `momentum` is 0 is fixed.
    alpha : float
        In [0, 1).
    centered : bool
        Fixed.
    maximize, refuse_nan : bool
        See `Optimizer`.
    """

    name = "rmsprop"

    def __init__(
        self,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
        refuse_nan: bool = False,
    ) -> None:
        super().__init__(
            lr=float(lr),
            alpha=float(alpha),
            eps=float(eps),
            weight_decay=float(weight_decay),
            momentum=float(momentum),
            centered=bool(centered),
            maximize=bool(maximize),
            refuse_nan=bool(refuse_nan),
        )
