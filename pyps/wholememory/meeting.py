"""How the ranks of a host meet: the first one listens under a common name, and the others connect to it.

All ranks know the name because they were started together: by torchrun (or a program that sets its variables), by one
parent process, or by a process that called `init_lib` before it forked them. In the end each rank has a channel to
every other one, and a descriptor that tells when the other's process ends.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyps.errors import StartError, WaitTimeoutError
from pyps.rendezvous.environment import read_environment
from pyps.wholememory.channel import Channel, accept, connect, listen, wait_readable
from pyps.wholememory.errors import RankLost, as_message, from_message, ranks_shown


@dataclass
class Peers:
    """For each of the other ranks: its channel, its pid, and a pid descriptor."""

    channels: dict[int, Channel] = field(default_factory=dict)
    pids: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)

    def close(self, *, for_all: bool = True) -> None:
        """Close everything; `for_all` is that of `Channel.close`."""
        for channel in self.channels.values():
            channel.close(for_all=for_all)
        for descriptor in self.ends.values():
            os.close(descriptor)
        self.channels.clear()
        self.ends.clear()


def common_start() -> str:
    """Return a text that is the same in the processes that were started together with this one, and in no others."""
    torchrun = read_environment().torchrun
    if torchrun:
        return f"{torchrun.host}:{torchrun.port} restart {torchrun.restart}"
    return process_named(os.getppid())


def process_named(pid: int) -> str:
    """Return a text that identifies a process: its pid, and its start time, which no later process shares."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        return f"process {pid} started {stat.rpartition(')')[2].split()[19]}"
    except OSError:  # it has ended, so only its pid is known
        return f"process {pid}"


def meet(rank: int, size: int, group: str, timeout: float) -> Peers:
    """Wait until all ranks have come; return the others.

    Raises
    ------
    StartError
        The ranks contradict each other; raised on all that have come.
    WaitTimeoutError
        A rank did not come in time; raised on all that have come.
    RankLost
        A rank ended meanwhile.
    """
    if size == 1:
        return Peers()
    deadline = time.monotonic() + timeout
    name = f"wholememory-{os.geteuid()}-{group}"[:100]
    with listen() as own:
        me = {"rank": rank, "size": size, "pid": os.getpid(), "at": own.getsockname()[1:].decode()}
        while True:
            if (channel := connect(name)) is not None:
                return _join(channel, own, me, group, deadline)
            try:
                listening = listen(name)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                continue  # another rank listens by now, or has just ended
            with listening:
                return _host(listening, own, me, group, deadline)


def _host(
    listening: socket.socket, own: socket.socket, me: dict[str, Any], group: str, deadline: float
) -> Peers:
    """As the first rank: wait for all others, tell them about each other, and tell them when all are connected."""
    table = {me["rank"]: me}
    guests: dict[int, Channel] = {}
    strangers: list[Channel] = []
    peers = Peers()
    try:
        while len(table) < me["size"]:
            missing = [rank for rank in range(me["size"]) if rank not in table]
            waiting = [
                listening.fileno(),
                *(c.fileno() for c in strangers),
                *(c.fileno() for c in guests.values()),
            ]
            ready = wait_readable(waiting, deadline)
            if not ready:
                raise WaitTimeoutError(
                    f"{ranks_shown(missing)} of {me['size']} did not come to mp_init; they would meet under "
                    f"{group!r}: start them together, or give all the same group="
                )
            _notice_ends(guests, ready)
            if (fresh := accept(listening)) is not None:
                strangers.append(fresh)
            for channel in [c for c in strangers if c.fileno() in ready]:
                strangers.remove(channel)
                _take_in(channel, me, table, guests)
        for channel in guests.values():
            channel.send({"table": [table[rank] for rank in sorted(table)]})
        peers = _connect_all(own, me, [table[rank] for rank in sorted(table)], deadline)
        for rank, channel in guests.items():
            _await(channel, f"rank {rank}", deadline)
        for channel in guests.values():
            channel.send({"go": True})
    except BaseException as error:
        peers.close()
        for channel in guests.values():
            channel.send({"failed": as_message(error)})
        raise
    else:
        return peers
    finally:
        for channel in [*guests.values(), *strangers]:
            channel.close()


def _take_in(
    channel: Channel, me: dict[str, Any], table: dict[int, dict[str, Any]], guests: dict[int, Channel]
) -> None:
    """Read which rank has connected. Raise an error, here and on all ranks, if the ranks contradict each other."""
    try:
        received = channel.receive()
    except EOFError:
        received = None
    if received is None:
        channel.close()
        return
    hello, _ = received
    rank = hello["rank"]
    problem = None
    if hello["pid"] != channel.peer.pid:
        numbers = f"{hello['pid']} for itself and {channel.peer.pid} here"
        problem = f"rank {rank} is process {numbers}: different pid namespaces"
    elif hello["size"] != me["size"]:
        problem = f"rank {rank} gave size {hello['size']} to mp_init, rank {me['rank']} gave {me['size']}"
    if problem:
        error = StartError(problem)
        channel.send({"failed": as_message(error)})
        channel.close()
        raise error
    if rank in table:
        error = StartError(
            f"rank {rank} has come to mp_init already, as process {table[rank]['pid']}: give each process its own "
            "rank, and each of several jobs its own group="
        )
        channel.send({"failed": as_message(error)})
        channel.close()
        return
    table[rank] = hello
    guests[rank] = channel


def _notice_ends(guests: dict[int, Channel], ready: set[int]) -> None:
    for rank, channel in guests.items():
        if channel.fileno() in ready:  # they send nothing at this time, so it must be their end
            raise RankLost(f"rank {rank} (process {channel.peer.pid}) ended in mp_init", rank=rank)


def _join(channel: Channel, own: socket.socket, me: dict[str, Any], group: str, deadline: float) -> Peers:
    """As a later rank: introduce this rank to the first one, and connect to the others."""
    host = f"process {channel.peer.pid}, at which the ranks of {group!r} meet,"
    peers = Peers()
    try:
        channel.send(me)
        table = _await(channel, host, deadline)["table"]
        peers = _connect_all(own, me, table, deadline)
        channel.send({"connected": True})
        _await(channel, host, deadline)
    except BaseException:
        peers.close()
        raise
    finally:
        channel.close()
    return peers


def _await(channel: Channel, who: str, deadline: float) -> dict[str, Any]:
    """Return the next message of a channel; if it tells of a failure, raise that."""
    while True:
        try:
            received = channel.receive()
        except EOFError:
            raise RankLost(f"{who} ended in mp_init") from None
        if received is not None:
            break
        if not wait_readable([channel.fileno()], deadline):
            raise WaitTimeoutError(f"{who} did not answer in mp_init in time")
    message, _ = received
    if failed := message.get("failed"):
        raise from_message(failed)
    return message


def _connect_all(
    own: socket.socket, me: dict[str, Any], table: list[dict[str, Any]], deadline: float
) -> Peers:
    """Connect to the lower ranks, and accept the connections of the higher ones."""
    peers = Peers()
    try:
        for other in table[: me["rank"]]:
            channel = connect(other["at"])
            if channel is None:
                raise RankLost(
                    f"rank {other['rank']} (process {other['pid']}) ended in mp_init", rank=other["rank"]
                )
            peers.channels[other["rank"]] = channel
        by_pid = {other["pid"]: other["rank"] for other in table[me["rank"] + 1 :]}
        while len(peers.channels) < me["size"] - 1:
            if not wait_readable([own.fileno()], deadline):
                missing = [
                    other["rank"] for other in table if other["rank"] not in {me["rank"], *peers.channels}
                ]
                raise WaitTimeoutError(f"{ranks_shown(missing)} did not connect in mp_init in time")
            channel = accept(own)
            if channel is None:
                continue
            if channel.peer.pid not in by_pid:
                channel.close()
                continue
            peers.channels[by_pid[channel.peer.pid]] = channel
        for other in table:
            if other["rank"] != me["rank"]:
                peers.pids[other["rank"]] = other["pid"]
                peers.ends[other["rank"]] = os.pidfd_open(other["pid"])
    except ProcessLookupError:
        peers.close()
        raise RankLost("a rank ended in mp_init") from None
    except BaseException:
        peers.close()
        raise
    return peers
