"""Adagrad, with a sum for each element or one for each value."""

from __future__ import annotations

from pyps.optim.optimizer import Optimizer


class Adagrad(Optimizer):
    """Adagrad, as `torch.optim.Adagrad`.

    It keeps a sum of squares for each element, and with `lr_decay` a count of steps for each key.

    Parameters
    ----------
    lr, lr_decay, weight_decay, initial_accumulator_value, eps : float
        At least 0; whether `lr_decay` is 0 is fixed.
    maximize, refuse_nan : bool
        See `Optimizer`.
    """

    name = "adagrad"

    def __init__(
        self,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
        refuse_nan: bool = False,
    ) -> None:
        super().__init__(
            lr=float(lr),
            lr_decay=float(lr_decay),
            weight_decay=float(weight_decay),
            initial_accumulator_value=float(initial_accumulator_value),
            eps=float(eps),
            maximize=bool(maximize),
            refuse_nan=bool(refuse_nan),
        )


class RowwiseAdagrad(Optimizer):
    """Adagrad with one sum for each value: that of the means of its squared gradients, as in FBGEMM and TorchRec.

    It keeps 8 bytes beside a value, whatever its length.

    Parameters
    ----------
    lr, weight_decay, initial_accumulator_value, eps : float
        At least 0.
    maximize, refuse_nan : bool
        See `Optimizer`.
    """

    name = "rowwise_adagrad"

    def __init__(
        self,
        lr: float = 1e-2,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
        refuse_nan: bool = False,
    ) -> None:
        super().__init__(
            lr=float(lr),
            weight_decay=float(weight_decay),
            initial_accumulator_value=float(initial_accumulator_value),
            eps=float(eps),
            maximize=bool(maximize),
            refuse_nan=bool(refuse_nan),
        )
