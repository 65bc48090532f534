"""`LuaHost`, the base of LuaModule and LuaCriterion: the Lua object, its element type and its copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import torch

from bridge._boundary import LuaObject, State
from bridge.legacy.kinds import as_kind
from bridge.legacy.objects import LegacyObject
from bridge.legacy.session import Session, session_of
from bridge.nn.leases import Copies, Lease

# Element types that nn computes in; on a GPU, `CudaTensor` is the name of float32.
TYPES = {torch.float32: "torch.FloatTensor", torch.float64: "torch.DoubleTensor"}
CUDA_TYPES = {
    torch.float16: "torch.CudaHalfTensor",
    torch.float32: "torch.CudaTensor",
    torch.float64: "torch.CudaDoubleTensor",
}
DTYPES = {name: dtype for table in (TYPES, CUDA_TYPES) for dtype, name in table.items()}


class LuaHost(torch.nn.Module):
    """A Lua object inside a PyTorch model; base of LuaModule and LuaCriterion."""

    parent = "nn.Module"  # the class that the Lua object must derive from

    def __init__(self, net: Any, *, base: int = 0) -> None:
        super().__init__()
        if base not in (0, 1):
            raise ValueError(
                f"base= is 0, where indices in inputs and targets start in Python, or 1, got {base!r}"
            )
        target = net.lua_object if isinstance(net, LegacyObject) else net
        if not isinstance(target, LuaObject):
            raise TypeError(f"{type(self).__name__} takes a Lua {self.parent}, got {type(net).__name__}")
        self.base = base
        self._attach(target)

    def _attach(self, target: LuaObject) -> None:
        """Set the Lua object."""
        session = session_of(target.state)
        if self.parent not in session.ask("lineage", target.typename):
            raise TypeError(f"{type(self).__name__} takes a Lua {self.parent}, got a {target.typename}")
        self._session: Session = session
        self._lua: Any = session.require("bridge.runtime.autograd")
        self._target: LuaObject = target
        with session.state:
            pointer = session.pointer(target)
            self._copies: Copies = session.watchers.get(pointer) or Copies(target, self._lua.twin)
            session.watchers[pointer] = self._copies

    @property
    def lua_object(self) -> LuaObject:
        """The Lua object."""
        return self._target

    @property
    def net(self) -> Any:
        """The Lua object as an object of `bridge.legacy`."""
        return self._session.from_lua(self._target)

    # ---- element type and device

    @property
    def dtype(self) -> torch.dtype:
        """The element type that the Lua object computes in."""
        name = self._lua.type(self._target)
        if name not in DTYPES:
            raise TypeError(f"this Lua object computes in {name}; call .float() or .double() first")
        return DTYPES[name]

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Self:
        """Convert the Lua object for `.to`, `.float`, `.double` and `.cuda`, as torch would convert parameters."""
        name = self._lua.type(self._target)
        device = "cuda" if name in CUDA_TYPES.values() else "cpu"
        wanted = fn(torch.empty(0, dtype=DTYPES.get(name, torch.float64), device=device))
        table = CUDA_TYPES if wanted.device.type == "cuda" else TYPES
        if wanted.device.type not in ("cpu", "cuda") or wanted.dtype not in table:
            raise TypeError(
                f"a Lua module computes in {', '.join(map(str, TYPES))}, not in {wanted.dtype} on {wanted.device}"
            )
        if table[wanted.dtype] != name:
            with self._session.state:
                self._session.call(self._target, "type", table[wanted.dtype])
                self._copies.drop()
        return self

    def share_memory(self) -> Self:
        """Not possible: raises NotImplementedError."""
        raise NotImplementedError(
            "the parameters lie in the Lua state's memory, which no other process has; "
            "load the module in each process, or keep its parameters in a parameter server"
        )

    @property
    def state(self) -> State:
        """The Lua state, which is also its lock."""
        return self._session.state

    def check(self, tensors: list[torch.Tensor]) -> torch.dtype:
        """Return the Lua object's element type. Raises TypeError for floating-point inputs of another type."""
        dtype = self.dtype
        for place, tensor in enumerate(tensors):
            if tensor.is_floating_point() and tensor.dtype != dtype:
                raise TypeError(
                    f"{self._target.typename} computes in {dtype}, got input {place} of {tensor.dtype}; convert one "
                    f"of them: .to({tensor.dtype}) on the module, or .to({dtype}) on the tensor"
                )
        return dtype

    # ---- calls

    def take(self) -> Lease:
        """Lease a copy for a forward. The caller holds the Lua state."""
        return self._copies.take()

    def call(self, target: LuaObject, name: str, *arguments: Any) -> Any:
        """Call a method of a copy; tensors in the result are torch tensors."""
        return self.as_torch(self._session.call(target, name, *arguments, base=self.base))

    def run(self, function: Any, *arguments: Any) -> Any:
        """Call a Lua function; tensors in the result are torch tensors."""
        return self.as_torch(self._session.run(function, *arguments, base=self.base))

    def as_torch(self, value: Any) -> Any:
        """Return a value from Lua with torch tensors over the same memory."""
        if isinstance(value, list | tuple):
            return [self.as_torch(item) for item in value]
        if isinstance(value, dict):
            return {key: self.as_torch(item) for key, item in value.items()}
        return as_kind(value, "torch")

    # ---- pickling and printing

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in {**self.__dict__, "_target": self.net}.items()
            if name
            not in (
                "_session",
                "_lua",
                "_copies",
                "_moved",
                "_values",
                "_statistics",
            )
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(
            {  # type: ignore[no-untyped-call]
                **state,
                "_target": None,
            }
        )
        self._attach(state["_target"].lua_object)

    def extra_repr(self) -> str:
        """Return Lua's text for the object."""
        return str(self._target)
