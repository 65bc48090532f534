"""Torch7's optim with the interface of PyTorch's torch.legacy.optim.

    x, losses = optim.adam(opfunc, x, config, state)

`opfunc(x)` is a Python function that returns the loss and its gradient. `x` is changed in place. The dicts `config` and
`state` are changed too, because they keep what the algorithm needs for its next call (without `state`, all in
`config`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy

from bridge.boundary.marks import shift_position
from bridge.legacy import positions
from bridge.legacy.kinds import is_torch, kind_of
from bridge.legacy.objects import LegacyObject, complete
from bridge.legacy.session import Session, current

ALGORITHMS = {
    "adadelta": "Zeiler's Adadelta.",
    "adagrad": "Duchi, Hazan and Singer's Adagrad.",
    "adam": "Kingma and Ba's Adam.",
    "adamax": "Adam with the infinity norm.",
    "asgd": "Averaged stochastic gradient descent; a third result is the average.",
    "cg": "Conjugate gradients.",
    "cmaes": "Evolution with an adapted covariance matrix; needs no gradient.",
    "de": "Differential evolution; needs no gradient.",
    "lbfgs": "Limited-memory BFGS.",
    "nag": "Nesterov's accelerated gradient.",
    "rmsprop": "RMSprop.",
    "rprop": "Resilient propagation.",
    "sgd": "Stochastic gradient descent with momentum and weight decay.",
}
SEARCHES = ("cmaes", "de")  # these return the point that they found and do not change x
FUNCTIONS = {
    "FistaLS": "(f, g, pl, xinit, params): FISTA with a line search.",
    "checkgrad": "(opfunc, x, eps): how far a gradient is from finite differences.",
    "lswolfe": "(opfunc, x, t, d, f, g, gtd, options): a line search for Wolfe's conditions.",
    "polyinterp": "(points, xmin, xmax): the minimum of an interpolating polynomial.",
}


def _algorithm(name: str) -> Callable[..., Any]:
    def algorithm(
        opfunc: Callable[[Any], Any],
        x: Any,
        config: dict[str, Any] | None = None,
        state: dict[str, Any] | None = None,
    ) -> tuple[Any, ...]:
        session = current()
        kind = _kind(name, x)
        for argument, value in (("config", config), ("state", state)):
            if value is not None and not isinstance(value, dict):
                raise TypeError(f"optim.{name} takes a dict as {argument}, got {type(value).__name__}")
        left = session.run(
            session.function("optimise"),
            getattr(session.require("optim"), name),
            session.callback(_evaluated(opfunc, name, kind, session)),
            x,
            session.to_lua(config),
            session.to_lua(state),
            base=1,
        )
        left = session.from_lua(left, kind)
        _remember(config, left[0])
        _remember(state, left[1])
        return tuple(left[2:]) if name in SEARCHES else (x, *left[3:])

    algorithm.__name__ = algorithm.__qualname__ = name
    what = (
        "where to begin. Returns the best\npoint found, a vector, and the losses"
        if name in SEARCHES
        else "changed in\nplace. Returns x and the list of losses"
    )
    algorithm.__doc__ = (
        f"{ALGORITHMS[name]}\n\nopfunc(x) returns (loss, gradient); x is a numpy or torch vector, {what}. "
        "config and state are dicts that keep what the next call needs."
    )
    return algorithm


def _kind(name: str, x: Any) -> str:
    kind = kind_of([x])
    if kind is None:
        raise TypeError(f"optim.{name} takes a numpy array or a torch tensor as x, got {type(x).__name__}")
    if isinstance(x, numpy.ndarray) and not (x.flags.writeable and x.flags.aligned and x.dtype.isnative):
        raise ValueError(
            f"optim.{name} changes x in place; this array cannot be shared with Lua, pass x.copy()"
        )
    if isinstance(x, numpy.ndarray) and min(x.strides, default=0) < 0:
        raise ValueError(
            f"optim.{name} changes x in place; an array with negative strides arrives as a copy, pass x.copy()"
        )
    return kind


def _evaluated(opfunc: Callable[[Any], Any], name: str, kind: str, session: Session) -> Callable[[Any], Any]:
    def evaluate(x: Any) -> Any:
        result = opfunc(session.from_lua(x, kind))
        if isinstance(result, list):
            result = tuple(result)
        if isinstance(result, tuple) and result and is_torch(result[0]):
            result = (float(result[0]), *result[1:])
        return result

    evaluate.__name__ = name
    return evaluate


def _remember(given: dict[str, Any] | None, left: Any) -> None:
    """Update a dict from its Lua table. Functions, and tensors over the same memory, stay the same objects."""
    if given is None or left is None:
        return
    entries: dict[Any, Any] = dict(left) if isinstance(left, dict) else dict(enumerate(left, 1))
    for key in [key for key in given if key not in entries and given[key] is not None]:
        del given[key]
    for key, value in entries.items():
        if key not in given or not (callable(given[key]) or _same(given[key], value)):
            given[key] = value


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, numpy.ndarray) and isinstance(b, numpy.ndarray):
        return bool(a.__array_interface__ == b.__array_interface__)
    if is_torch(a) and is_torch(b):
        same: bool = a.data_ptr() == b.data_ptr() and a.shape == b.shape and a.stride() == b.stride()
        return same and bool(a.dtype == b.dtype)
    return False


def _function(name: str) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        session = current()
        values = [session.to_lua(argument) for argument in arguments]
        return session.from_lua(
            session.run(getattr(session.require("optim"), name), *values, base=1), kind_of(arguments)
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = FUNCTIONS[name]
    return function


class ConfusionMatrix(LegacyObject, native=True):  # noqa: D101, completed below
    def add(self, prediction: Any, target: Any) -> None:
        """Count a prediction. Prediction and target are each a class, counted from 0, or a vector of scores."""
        values = [_class(value, 0) for value in (prediction, target)]
        self._session.call(self._object, "add", *values, base=1)

    def batchAdd(self, predictions: Any, targets: Any) -> None:
        """Count predictions. Each argument is a vector of classes, counted from 0, or a matrix with rows of scores."""
        values = [_class(value, 1) for value in (predictions, targets)]
        self._session.call(self._object, "batchAdd", *values, base=1)


class Logger(LegacyObject, native=True):  # noqa: D101, completed below
    pass


def _class(value: Any, dimensions: int) -> Any:
    """Shift a value that has classes; a value with more dimensions has scores and is not shifted."""
    if isinstance(value, list | tuple):
        value = numpy.asarray(value)
    found = getattr(value, "ndim", 0)
    return shift_position(value, 1) if found <= dimensions else value


CLASSES: dict[str, type[LegacyObject]] = {"ConfusionMatrix": ConfusionMatrix, "Logger": Logger}
complete(
    ConfusionMatrix,
    positions.row("ConfusionMatrix: nclasses, classes?"),
    "optim.ConfusionMatrix(nclasses, classes=None): how often each class was taken for each. Classes count from 0.",
    "optim",
)
complete(
    Logger,
    positions.row("Logger: filename?, timestamp?"),
    "optim.Logger(filename=None, timestamp=None): columns of numbers in a file, and curves of them.",
    "optim",
)


def class_named(name: str) -> type[LegacyObject]:
    """Return a class of optim."""
    return CLASSES[name]


if TYPE_CHECKING:
    # Declared for type checkers, which would accept any name with __getattr__.
    class _Algorithm(Protocol):
        def __call__(
            self,
            opfunc: Callable[[Any], Any],
            x: Any,
            config: dict[str, Any] | None = None,
            state: dict[str, Any] | None = None,
        ) -> tuple[Any, ...]: ...

    adadelta: _Algorithm
    adagrad: _Algorithm
    adam: _Algorithm
    adamax: _Algorithm
    asgd: _Algorithm
    cg: _Algorithm
    cmaes: _Algorithm
    de: _Algorithm
    lbfgs: _Algorithm
    nag: _Algorithm
    rmsprop: _Algorithm
    rprop: _Algorithm
    sgd: _Algorithm
    FistaLS: Callable[..., Any]
    checkgrad: Callable[..., Any]
    lswolfe: Callable[..., Any]
    polyinterp: Callable[..., Any]
else:

    def __getattr__(name):
        """Return an algorithm or function of optim."""
        if name in ALGORITHMS:
            return globals().setdefault(name, _algorithm(name))
        if name in FUNCTIONS:
            return globals().setdefault(name, _function(name))
        raise AttributeError(f"optim has no {name!r}; it has {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted({*ALGORITHMS, *FUNCTIONS, *CLASSES})
