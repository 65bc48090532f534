"""Adam and AdamW."""

from __future__ import annotations

from pyps.optim.optimizer import Optimizer


class Adam(Optimizer):
    """Adam, as `torch.optim.Adam`, for keys whose gradients may be rare.

    It keeps two means for each element (with `amsgrad` three), and a count of steps for each key. So a key is treated
    as a parameter of its own that has steps only when it has gradients; `torch.optim.SparseAdam` counts those of all.

    Parameters
    ----------
    lr, eps, weight_decay : float
        At least 0.
    betas : pair of float
        In [0, 1).
    amsgrad : bool
        Fixed.
    maximize, refuse_nan : bool
        See `Optimizer`.
    """

    name = "adam"

    def __init__(
        self,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        refuse_nan: bool = False,
    ) -> None:
        super().__init__(
            lr=float(lr),
            betas=tuple(float(beta) for beta in betas),
            eps=float(eps),
            weight_decay=float(weight_decay),
            amsgrad=bool(amsgrad),
            maximize=bool(maximize),
            refuse_nan=bool(refuse_nan),
        )


class AdamW(Adam):
    """Adam with a decay of weights that does not pass through its means, as `torch.optim.AdamW`.

    The parameters are those of `Adam`, but `weight_decay` is 0.01 by default.
    """

    name = "adamw"

    def __init__(
        self,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        refuse_nan: bool = False,
    ) -> None:
        super().__init__(lr, betas, eps, weight_decay, amsgrad, maximize=maximize, refuse_nan=refuse_nan)
