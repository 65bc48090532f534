"""`LuaModule`: a Lua nn.Module as a torch.nn.Module, with autograd across the two languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import torch

from bridge._boundary import LuaObject
from bridge.nn.call import ModuleCall, apply
from bridge.nn.host import LuaHost
from bridge.nn.leases import Lease
from bridge.nn.trees import flatten, unflatten


class LuaModule(LuaHost):
    """A Torch7 module inside a PyTorch model: forward and backward run in Lua, on Lua's own parameters.

    Its parameters share memory with the Lua weights and have names such as `0.weight`; running means and variances are
    buffers. Autograd accumulates gradients in `.grad`; the fields `gradWeight` in Lua have those of the last backward
    only. Several forwards may wait for their backwards: each has a copy of the Lua module with buffers of its own.
    `train` and `eval` take effect in Lua with the next forward at the latest.

    Parameters
    ----------
    net : bridge.legacy.nn.Module or LuaObject
        The Lua module, which is used itself and not copied. Its gradients must be tensors (nn.IndexLinear's are not).
    base : {0, 1}
        The first index in inputs: 0 as in Python, or 1 as in Lua.

    Raises
    ------
    TypeError
        `net` is not a Lua module. From a call: an input's dtype is not the module's.
    LuaError
        From a call: an error in Lua.
    RuntimeError
        From a second backward through the same forward if another forward has run since, and from a backward through
        a backward: there are no second derivatives.

    Examples
    --------
    >>> from bridge.legacy import nn
    >>> net = LuaModule(nn.Sequential().add(nn.Linear(2, 1)).add(nn.Tanh()))
    >>> net(torch.ones(1, 2, dtype=torch.float64)).sum().backward()
    >>> [(name, tuple(p.grad.shape)) for name, p in net.named_parameters()]
    [('0.weight', (1, 2)), ('0.bias', (1,))]
    """

    def __init__(self, net: Any, *, base: int = 0) -> None:
        super().__init__(net, base=base)
        self._register()
        self.training = "train" not in dir(self._target) or self._target.train is not False
        self._copies.set_mode(self.training, lambda target, mode: None)  # only note the mode it has

    def _attach(self, target: LuaObject) -> None:
        super()._attach(target)
        self._moved = self._lua.watch(target)
        self.inplace: bool = self._lua.inplace(target)

    # ---- parameters

    def _register(self) -> None:
        """Register Lua's parameters and statistics by their names; tensors that share memory are one parameter."""
        known: dict[tuple[Any, ...], torch.nn.Parameter] = {}
        with self._session.state:
            self._look()
            for name, tensor in zip(self._names, self._values, strict=True):
                key = (tensor.data_ptr(), tensor.shape, tensor.stride())
                if key not in known:
                    known[key] = torch.nn.Parameter(tensor, requires_grad=tensor.is_floating_point())
                self._holder(name).register_parameter(name.rpartition(".")[2], known[key])
            for name, tensor in zip(self._statistic_names, self._statistics, strict=True):
                self._holder(name).register_buffer(name.rpartition(".")[2], tensor)
            self._moved()

    def _holder(self, name: str) -> torch.nn.Module:
        """Return the submodule for a parameter, making it if necessary. Submodules only hold parameters."""
        place: torch.nn.Module = self
        for part in name.split(".")[:-1]:
            if part not in place._modules:
                place.add_module(part, torch.nn.Module())
            place = place.get_submodule(part)
        return place

    def _look(self) -> None:
        """Get Lua's parameters and statistics, and the first time also their names."""
        names: list[str] = list(self._lua.names(self._target))
        found = dict(zip(names, self.run(self._lua.parameters, self._target), strict=True))
        statistics = dict(zip(*self.run(self._lua.statistics, self._target), strict=True))
        if "_names" not in self.__dict__:
            self._names, self._statistic_names = list(found), list(statistics)
        elif not {*self._names, *self._statistic_names} <= {*found, *statistics}:
            raise RuntimeError(_changed(list(found), self._names))
        self._values: list[torch.Tensor] = [found[name] for name in self._names]
        self._statistics: list[torch.Tensor] = [statistics[name] for name in self._statistic_names]
        known = {tensor.data_ptr() for tensor in self._values}
        if any(tensor.data_ptr() not in known for tensor in found.values()):
            raise RuntimeError(_changed(list(found), self._names))

    def follow(self) -> list[torch.Tensor]:
        """Let parameters and buffers share Lua's memory again, if one side has replaced a tensor.

        Done before each forward. If Lua has moved its tensors (as `getParameters` does), Lua's values are taken. A
        tensor replaced here (`parameter.data = ...`) is copied into Lua's memory. A plain tensor in place of a
        parameter, as in `torch.func.functional_call`, is not changed.

        Returns
        -------
        list of Tensor
            The parameters here, in the order of their names; one with several names occurs several times.
        """
        moved = self._moved() or "_values" not in self.__dict__
        if moved:
            self._look()
            self._copies.drop()
        ours = [_named(self, name) for name in self._names]
        buffers = [self.get_buffer(name) for name in self._statistic_names]
        for place, (mine, lua) in enumerate(
            zip([*ours, *buffers], [*self._values, *self._statistics], strict=True)
        ):
            if mine.data_ptr() == lua.data_ptr() and mine.dtype == lua.dtype:
                continue
            if mine.shape != lua.shape:
                raise RuntimeError(
                    f"a parameter of size {tuple(mine.shape)} stands where Lua's has size {tuple(lua.shape)}"
                )
            if place < len(ours) and not isinstance(mine, torch.nn.Parameter):
                continue
            if not moved:
                lua.copy_(mine.detach())
            mine.data = lua
        return ours

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Self:
        super()._apply(fn, recurse)
        with self._session.state:
            self.follow()
            for parameter in self.parameters():
                if parameter.grad is not None and parameter.grad.dtype != parameter.dtype:
                    parameter.grad.data = fn(parameter.grad.data)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set the mode, here and in Lua; copies whose backward is still to come keep theirs."""
        super().train(mode)
        with self._session.state:
            self._copies.set_mode(mode, self._set_mode)
        return self

    def _set_mode(self, target: LuaObject, mode: bool) -> None:
        self._session.call(target, "training" if mode else "evaluate")

    def take(self) -> Lease:
        """Lease a copy for a forward and set its mode. The caller holds the Lua state."""
        lease = super().take()
        if lease.copy.mode is not self.training:
            self._set_mode(lease.copy.target, self.training)
            lease.copy.mode = self.training
        return lease

    # ---- computing

    def forward(self, *inputs: Any) -> Any:
        """Return the output for an input: a tensor, or a list or dict of tensors, nested.

        Several arguments are the same as a list of them. Indices may have any integer dtype.
        """
        if not inputs:
            raise TypeError("a Lua module takes an input: a tensor, or a list or dict of them")
        tensors: list[torch.Tensor] = []
        structure = flatten(inputs[0] if len(inputs) == 1 else list(inputs), tensors)
        with self._session.state:
            dtype = self.check(tensors)
            ours = self.follow()
            parameters: list[torch.Tensor] = list(dict.fromkeys(ours))
            places = {parameter: place for place, parameter in enumerate(parameters, len(tensors))}
            pairs = [(lua, places[mine]) for lua, mine in zip(self._values, ours, strict=True)]
            call = ModuleCall(self, dtype, structure, len(tensors), pairs)
            outputs = apply(call, [*tensors, *parameters])
        return unflatten(call.structure, outputs)


def _named(module: torch.nn.Module, name: str) -> torch.Tensor:
    """Return a parameter, or the tensor in its place, by its name."""
    *path, last = name.split(".")
    for part in path:
        module = module._modules[part]  # type: ignore[assignment]
    found: torch.Tensor | None = module._parameters.get(last)
    return getattr(module, last) if found is None else found


def _changed(now: list[str], before: list[str]) -> str:
    return (
        f"the Lua module has other parameters than when this LuaModule was made: {now} instead of {before}; "
        "make a new one of it"
    )
