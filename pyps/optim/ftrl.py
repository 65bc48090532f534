"""FTRL-Proximal."""

from __future__ import annotations

from pyps.optim.optimizer import Optimizer


class FTRL(Optimizer):
    """FTRL-Proximal, which torch does not have; with `l1` many elements become exactly 0.

    It keeps two numbers for each element, from which the element follows. A value that was set is where they begin.

    Parameters
    ----------
    lr : float
        The paper's alpha, above 0.
    beta, l1, l2, weight_decay : float
        At least 0. `l1` and `l2` are the strengths of the regularisation; `weight_decay` adds to gradients.
    maximize, refuse_nan : bool
        See `Optimizer`.

    Notes
    -----
    Algorithm 1 of H. B. McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013.
    """

    name = "ftrl"

    def __init__(
        self,
        lr: float = 0.1,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        refuse_nan: bool = False,
    ) -> None:
        super().__init__(
            lr=float(lr),
            beta=float(beta),
            l1=float(l1),
            l2=float(l2),
            weight_decay=float(weight_decay),
            maximize=bool(maximize),
            refuse_nan=bool(refuse_nan),
        )
