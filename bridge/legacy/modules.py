"""The classes of nn that need code in Python, and the making of all others from the table of classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

from bridge._boundary import LuaFunction
from bridge.legacy import positions
from bridge.legacy.graph import Node, is_nodes, node_of
from bridge.legacy.kinds import kind_of
from bridge.legacy.objects import (
    LegacyObject,
    complete,
    describe,
    known_class,
    lua_method,
)
from bridge.legacy.session import current

# The attributes of nn that are not classes.
NAMESPACES = ("Jacobian", "SparseJacobian", "hessian", "tables", "test", "testTHNN", "utils")


class Module(LegacyObject, native=True):  # noqa: D101, the table has the text
    forward = lua_method("forward", "Return the output for an input: `updateOutput`.")
    backward = lua_method(
        "backward", "Add to the parameters' gradients and return the input's: (input, gradOutput, scale=1)."
    )
    updateOutput = lua_method("updateOutput", "Compute `output` from an input.")
    updateGradInput = lua_method("updateGradInput", "Compute `gradInput`: (input, gradOutput).")
    accGradParameters = lua_method(
        "accGradParameters", "Add to the parameters' gradients: (input, gradOutput, scale=1)."
    )
    accUpdateGradParameters = lua_method(
        "accUpdateGradParameters", "Take a step at once: (input, gradOutput, rate)."
    )
    zeroGradParameters = lua_method("zeroGradParameters", "Set the parameters' gradients to 0.")
    updateParameters = lua_method("updateParameters", "Take a step along the gradients: (learningRate).")
    parameters = lua_method(
        "parameters", "Return the parameters and their gradients, two lists; None without any."
    )
    getParameters = lua_method(
        "getParameters", "Return all parameters, and all gradients, as one vector each."
    )
    training = lua_method("training", "Behave as in training.")
    evaluate = lua_method("evaluate", "Behave as in evaluation.")
    type = lua_method(
        "type", "Return the type's name, or convert to that of a name such as 'torch.FloatTensor'."
    )
    float = lua_method("float", "Convert to FloatTensor.")
    double = lua_method("double", "Convert to DoubleTensor.")
    cuda = lua_method("cuda", "Move to the GPU.")
    reset = lua_method("reset", "Draw the parameters anew: (stdv).")
    share = lua_method("share", "Share the named fields of another module: (module, *names).")
    clone = lua_method("clone", "Return a copy; fields that are named are shared: (*names).")
    apply = lua_method("apply", "Call a function with this module and all in it.")
    applyToModules = lua_method("applyToModules", "Call a function with each module right inside.")
    replace = lua_method("replace", "Replace each module by what a function returns for it.")
    findModules = lua_method("findModules", "Return the modules of a type by its name, and their containers.")
    listModules = lua_method("listModules", "Return this module and all in it, as a list.")
    clearState = lua_method("clearState", "Let go of buffers that the next forward makes again.")

    def __call__(self, *arguments: Any) -> Any:
        """Return a node of a graph when called with nodes or without arguments; else `forward`."""
        if not arguments or is_nodes(arguments[0]):
            return node_of(self, arguments)
        return self.forward(*arguments)

    def __neg__(self) -> Node:
        return node_of(self, ())

    def __rsub__(self, nodes: Any) -> Node:
        return node_of(self, (nodes,)) if is_nodes(nodes) else NotImplemented


class Container(Module, native=True):  # noqa: D101
    add = lua_method("add", "Put a module behind the others; returns this container.")
    size = lua_method("size", "Return the number of modules.")

    def get(self, index: int) -> Any:
        """Return the module at an index, from 0, or from the end if negative; None if there is none."""
        return self._invoke("get", (index + len(self) if index < 0 else index,))

    def __len__(self) -> int:
        return int(self.size())

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> Any:
        size = len(self)
        if not isinstance(index, int) or not -size <= index < size:
            raise IndexError(f"there is no module {index!r} among {size}")
        return self.get(index)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.modules)


class Criterion(LegacyObject, native=True):  # noqa: D101
    forward = lua_method("forward", "Return the loss: (input, target).", first=True)
    backward = lua_method("backward", "Return the loss's gradient by the input: (input, target).")
    updateOutput = lua_method("updateOutput", "Compute `output`, the loss: (input, target).", first=True)
    updateGradInput = lua_method("updateGradInput", "Compute `gradInput`: (input, target).")
    type = lua_method(
        "type", "Return the type's name, or convert to that of a name such as 'torch.FloatTensor'."
    )
    float = lua_method("float", "Convert to FloatTensor.")
    double = lua_method("double", "Convert to DoubleTensor.")
    cuda = lua_method("cuda", "Move to the GPU.")
    clone = lua_method("clone", "Return a copy.")

    def __call__(self, *arguments: Any) -> Any:
        """Return a node of a graph when called with nodes; else `forward`."""
        if arguments and is_nodes(arguments[0]):
            return node_of(class_named("ModuleFromCriterion")(self), arguments)
        return self.forward(*arguments)


class StochasticGradient(LegacyObject, native=True):  # noqa: D101
    def __init__(self, module: Any, criterion: Any) -> None:  # replaced by complete()
        raise NotImplementedError

    def train(self, examples: Iterable[tuple[Any, Any]]) -> Self:
        """Train on pairs of input and target; targets count from 0."""
        pairs = [[self._session.to_lua(part) for part in example] for example in examples]
        self._session.run(self._session.function("train"), self._object, pairs)
        return self


WRITTEN: dict[str, type[LegacyObject]] = {
    cls.__name__: cls for cls in (Module, Container, Criterion, StochasticGradient)
}
for _name, _cls in WRITTEN.items():
    complete(_cls, positions.rows()[_name], describe(positions.rows()[_name]))


def class_named(name: str) -> type[Any]:
    """Return the class with this name in the table."""
    return known_class(name, WRITTEN)


class Namespace:
    """A table of functions in nn, such as nn.tables. Arguments and results are converted as for modules."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        session = current()
        value = getattr(getattr(session.require("nn"), self._name), name)
        if not isinstance(value, LuaFunction):
            return value

        def function(*arguments: Any) -> Any:
            form = positions.methods().get(f"{self._name}.{name}")
            values = [session.to_lua(argument) for argument in arguments]
            result = session.from_lua(session.run(value, *values), kind_of(arguments))
            return form.result(result, -1) if form is not None and form.result is not None else result

        function.__name__ = name
        return function

    def __dir__(self) -> list[str]:
        return sorted(str(key) for key in getattr(current().require("nn"), self._name))

    def __repr__(self) -> str:
        return f"<bridge.legacy nn.{self._name}>"
