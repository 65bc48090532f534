"""Copies of a Lua module, one for each forward whose backward is still to come.

A module of nn keeps in its buffers what its backward needs. So each forward that waits for its backward has a copy of
the module to itself; all copies share the parameters. A copy becomes free when its backward is done, or when autograd
has dropped the forward.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from bridge._boundary import LuaObject


class Lease:
    """The right of one forward to a copy. After `release` it still holds until another forward takes the copy."""

    __slots__ = ("__weakref__", "claimed", "copy")

    def __init__(self, copy: Copy) -> None:
        self.copy = copy
        self.claimed = True

    @property
    def holds(self) -> bool:
        """Whether the copy's buffers still belong to this forward."""
        return self.copy.lease is not None and self.copy.lease() is self

    def release(self) -> None:
        """Let other forwards take the copy."""
        self.claimed = False


class Copy:
    """A Lua module and the lease of the last forward that ran in it."""

    __slots__ = ("lease", "mode", "target")

    def __init__(self, target: LuaObject, mode: bool | None = None) -> None:
        self.target = target
        self.mode = mode  # whether it is training; None: not set
        self.lease: weakref.ref[Lease] | None = None

    @property
    def free(self) -> bool:
        """Whether no forward waits for this copy."""
        lease = None if self.lease is None else self.lease()
        return lease is None or not lease.claimed


class Copies:
    """A Lua module and its copies. Only a thread that holds the Lua state may use it.

    Parameters
    ----------
    target : LuaObject
        The module itself, which is used whenever it is free.
    twin : callable
        Makes a copy of a module that shares its parameters and statistics.
    """

    def __init__(self, target: LuaObject, twin: Any) -> None:
        self._twin = twin
        self._copies = [Copy(target)]

    def __len__(self) -> int:
        return len(self._copies)

    def take(self) -> Lease:
        """Lease a free copy, or a new one if none is free."""
        copy = next((copy for copy in self._copies if copy.free), None)
        if copy is None:
            first = self._copies[0]
            copy = Copy(self._twin(first.target), first.mode)
            self._copies.append(copy)
        lease = Lease(copy)
        copy.lease = weakref.ref(lease)
        return lease

    def set_mode(self, mode: bool, setter: Callable[[LuaObject, bool], None]) -> None:
        """Set the mode of all free copies, where it differs."""
        for copy in self._copies:
            if copy.free and copy.mode is not mode:
                setter(copy.target, mode)
                copy.mode = mode

    def overrun(self) -> None:
        """Void the lease on the module itself, because other code has run it."""
        self._copies[0].lease = None

    def drop(self) -> None:
        """Forget the copies; leases on them remain valid."""
        del self._copies[1:]
