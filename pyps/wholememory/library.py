"""The state of the library in this process: whether it is initialized, this process's rank, and how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyps.errors import ClosedError
from pyps.wholememory.collective import Collective
from pyps.wholememory.meeting import Peers, common_start, meet

TIMEOUT = 60.0  # seconds that ranks wait for each other


@dataclass
class Library:
    """The state between `init_lib` and `finalize_lib`; `size` is 0 before `mp_init`."""

    pid: int
    parent: str
    rank: int = 0
    size: int = 0
    timeout: float = TIMEOUT
    peers: Peers = field(default_factory=Peers)
    collective: Collective | None = None
    endings: list[Callable[[], object]] = field(default_factory=list)


_state: list[Library] = []  # one or none; the public functions have no argument for it


def init_lib() -> None:
    """Initialize the library. Call it before `mp_init`, and before forking processes that will be ranks.

    Raises
    ------
    RuntimeError
        It was called before, and `finalize_lib` was not called since.
    """
    if _state and _state[0].pid != os.getpid() and _state[0].size:
        _drop_the_parents()
    if _state and _state[0].pid == os.getpid():
        raise RuntimeError("init_lib was called before; finalize_lib comes first")
    if not _state:
        _state.append(Library(os.getpid(), common_start()))
    else:
        _state[0].pid = os.getpid()


def mp_init(rank: int, size: int, *, group: str = "", timeout: float = TIMEOUT) -> None:
    """Become one of the ranks of this host; return when all ranks have called it.

    Parameters
    ----------
    rank, size : int
        This process's number among the processes of this host, from 0, and how many there are.
    group : str
        A name that all ranks have, and no other job. It is only needed if the ranks were not started together: by
        torchrun, by `moontide launch`, or by one parent process. That may be a rank itself if it called `init_lib`
        before it forked the others.
    timeout : float
        Seconds to wait for the other ranks; also the default of all later calls.

    Raises
    ------
    ValueError
        The rank is not in [0, size).
    pyps.StartError, pyps.WaitTimeoutError, RankLost
        The ranks contradict each other, or one did not come, or ended. Raised on all ranks that have come.
    RuntimeError
        This process is a rank already.
    """
    library = begun()
    if library.size:
        raise RuntimeError(
            f"mp_init was called before: this process is rank {library.rank} of {library.size}"
        )
    for name, value, least in (("rank", rank, 0), ("size", size, 1)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} is {value!r}; it must be a whole number")
        if value < least:
            raise ValueError(f"{name} is {value}; it must be at least {least}")
    if rank >= size:
        raise ValueError(f"rank is {rank}; with size {size} it must be in [0, {size})")
    if not timeout > 0:
        raise ValueError(f"timeout is {timeout}; give a number of seconds above 0")
    peers = meet(rank, size, group or library.parent, timeout)
    library.rank, library.size, library.timeout = rank, size, timeout
    library.peers, library.collective = peers, Collective(rank, peers)


def finalize_lib() -> None:
    """End the library in this process. Tensors and views of them stay valid.

    It does not wait for other ranks: a later collective call there raises that this rank has left.

    Raises
    ------
    pyps.ClosedError
        `init_lib` was not called, or `finalize_lib` was called already.
    """
    library = begun()
    for ending in reversed(library.endings):
        ending()
    for channel in library.peers.channels.values():
        channel.send({"left": True})
    library.peers.close()
    _state.clear()


def get_rank() -> int:
    """Return this process's rank."""
    return ready().rank


def get_size() -> int:
    """Return how many ranks there are."""
    return ready().size


def barrier(ranks: Sequence[int] = (), *, timeout: float | None = None) -> None:
    """Wait until all ranks, or those in `ranks`, have called it.

    Raises
    ------
    pyps.WaitTimeoutError, RankLost, DisagreementError
        Raised on all of these ranks.
    """
    together("barrier", ranks, timeout, dict)


def together(
    name: str,
    ranks: Sequence[int],
    timeout: float | None,
    propose: Callable[[], dict[str, Any]],
    **parts: Any,
) -> Any:
    """Make a collective call of these ranks (empty: of all); see `Collective`."""
    library = ready()
    assert library.collective is not None
    return library.collective(
        name, _members(library, ranks), library.timeout if timeout is None else timeout, propose, **parts
    )


def members_of(ranks: Sequence[int]) -> tuple[int, ...]:
    """Return the ranks of a call in ascending order: those given, or all."""
    return _members(ready(), ranks)


def call_leading(
    name: str, members: tuple[int, ...], timeout: float, propose: Callable[[], Any] = dict, **parts: Any
) -> Any:
    """Make a collective call that the first member leads; see `Collective`."""
    library = ready()
    assert library.collective is not None
    return library.collective(name, members, timeout, lambda: propose() or {}, **parts)


def begun() -> Library:
    """Return the state between `init_lib` and `finalize_lib`.

    Raises
    ------
    pyps.ClosedError
        `init_lib` was not called, or `finalize_lib` was.
    """
    if not _state:
        raise ClosedError("call wm.init_lib() first; after wm.finalize_lib() it begins anew")
    library = _state[0]
    if library.pid != os.getpid():
        if library.size:
            raise ClosedError(
                f"this process was forked from rank {library.rank} after mp_init and is no rank: its tensors stay, "
                "for calls of its own it needs init_lib and mp_init"
            )
        library.pid = os.getpid()
    return library


def ready() -> Library:
    """Return the state of a rank.

    Raises
    ------
    pyps.ClosedError
        `mp_init` was not called.
    """
    library = begun()
    if not library.size:
        raise ClosedError("call wm.mp_init(rank, size) first")
    return library


def _members(library: Library, ranks: Sequence[int]) -> tuple[int, ...]:
    chosen = sorted(ranks) if len(ranks) else list(range(library.size))
    if len(set(chosen)) != len(chosen) or chosen[0] < 0 or chosen[-1] >= library.size:
        raise ValueError(
            f"ranks is {list(ranks)}; give different numbers in [0, {library.size}), or none for all"
        )
    if library.rank not in chosen:
        raise ValueError(f"ranks is {list(ranks)}, without rank {library.rank}, which calls")
    return tuple(chosen)


def _drop_the_parents() -> None:
    """In a forked process: close the copies of the parent's channels, which stay open in the parent."""
    parents = _state.pop()
    parents.peers.close(for_all=False)
