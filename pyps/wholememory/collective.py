"""Collective calls: all ranks of a group agree on the parameters and succeed together, or all raise.

The lowest rank of a group leads. It collects the proposals of all members, does the work, sends them the result, and
collects their confirmations; then it tells all members the same outcome. The calls of a group are numbered. So a member
that comes late to a call that was given up is told so, and messages of that call cannot be mistaken for the next one's.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from pyps.errors import WaitTimeoutError
from pyps.wholememory.channel import wait_readable
from pyps.wholememory.errors import DisagreementError, RankLost, as_message, from_message, ranks_shown
from pyps.wholememory.meeting import Peers

# Seconds that the leader has to report that a rank ended, before other members do so by themselves.
GRACE = 2.0

Lead = Callable[[list[dict[str, Any]]], tuple[dict[str, Any], list[int]]]
Take = Callable[[dict[str, Any], list[int]], Any]


class Call(NamedTuple):
    """One collective call: its name, the group's members, its number among their calls, and when it is given up."""

    name: str
    members: tuple[int, ...]
    number: int
    timeout: float
    deadline: float


class Collective:
    """The collective calls of one rank, one at a time."""

    def __init__(self, rank: int, peers: Peers) -> None:
        self._rank = rank
        self._peers = peers
        self._numbers: dict[tuple[int, ...], int] = {}
        self._lock = threading.Lock()

    def __call__(
        self,
        name: str,
        members: tuple[int, ...],
        timeout: float,
        propose: Callable[[], dict[str, Any]],
        *,
        lead: Lead = lambda _: ({}, []),
        take: Take = lambda *_: None,
    ) -> Any:
        """Make a collective call. `lead` runs on the leader, `take` on every member with what `lead` returned.

        Parameters
        ----------
        propose : callable
            Checks this rank's arguments and returns them. They must be the same on all ranks, except for "own".
        lead : callable
            Gets all proposals in the order of ranks; returns a message and descriptors, which are closed afterwards.
        take : callable
            Gets the message and copies of the descriptors, which it must close; returns the result of the call.

        Raises
        ------
        DisagreementError, RankLost, WaitTimeoutError, or what a rank's part raised
            The same type on every member.
        """
        with self._lock:
            number = self._numbers[members] = self._numbers.get(members, 0) + 1
            call = Call(name, members, number, timeout, time.monotonic() + timeout)
            part = self._lead if self._rank == members[0] else self._follow
            return part(call, propose, lead, take)

    def _lead(self, call: Call, propose: Callable[[], dict[str, Any]], lead: Lead, take: Take) -> Any:
        others = call.members[1:]
        descriptors: list[int] = []
        try:
            for rank in others:
                self._send(rank, call, {"here": True})
            own = propose()
            proposals = self._collect(call, others)
            _compare(call, {self._rank: own, **proposals})
            message, descriptors = lead([own, *(proposals[rank] for rank in others)])
            for rank in others:
                self._send(rank, call, {"take": message}, descriptors)
            result = take(message, [os.dup(descriptor) for descriptor in descriptors])
            self._collect(call, others)
            for rank in others:
                self._send(rank, call, {"done": True})
        except _Verdict as verdict:
            self._give_up(call, others, verdict.error)
            raise verdict.error from None
        except BaseException as error:
            self._give_up(call, others, error)
            raise
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return result

    def _give_up(self, call: Call, others: Sequence[int], error: BaseException) -> None:
        number = self._numbers[call.members]  # the largest number that a member is known to have come to
        for rank in others:
            with suppress(ConnectionError):
                self._send(rank, call, {"failed": as_message(error), "by": self._rank, "number": number})

    def _follow(self, call: Call, propose: Callable[[], dict[str, Any]], _: Lead, take: Take) -> Any:
        leader = call.members[0]
        try:
            self._send(leader, call, {"proposal": propose()})
            message, descriptors = self._hear(call, leader)
            result = take(message["take"], descriptors)
            self._send(leader, call, {"proposal": {}})
        except _Verdict as verdict:
            raise verdict.error from None
        except BaseException as error:
            self._give_up(call, [leader], error)
            raise
        try:
            self._hear(call, leader)
        except _Verdict as verdict:
            raise verdict.error from None
        return result

    def _send(self, rank: int, call: Call, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        place = {"call": call.name, "number": call.number, "members": call.members}
        if rank not in self._peers.channels:
            raise self._lost(call, rank, "has left")
        self._peers.channels[rank].send({**place, **message}, descriptors)

    def _named(self, rank: int) -> str:
        return f"rank {rank} (process {self._peers.pids.get(rank, os.getpid())})"

    def _collect(self, call: Call, others: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return the next message of this call from each of the others."""
        found: dict[int, dict[str, Any]] = {}
        while missing := [rank for rank in others if rank not in found]:
            progress = False
            for rank in missing:
                message = self._next(call, rank)
                if message is not None:
                    found[rank], progress = message[0]["proposal"], True
            if progress:
                continue
            ready = self._wait(call, missing, call.deadline)
            if not ready:
                names = ", ".join(map(self._named, missing))
                raise WaitTimeoutError(f"{names} did not come to {call.name} within {call.timeout:g} s")
            ended = [rank for rank in missing if self._peers.ends[rank] in ready]
            self._raise_if_ended(call, [rank for rank in ended if self._is_quiet(rank)])
        return found

    def _hear(self, call: Call, leader: int) -> tuple[dict[str, Any], list[int]]:
        """Return the leader's next message of this call, except the one that it is there."""
        ended: list[int] = []
        deadline = call.deadline
        while True:
            message = self._next(call, leader)
            if message is not None and "here" in message[0]:
                # The leader is there, and will tell which rank is missing.
                deadline = max(deadline, call.deadline + GRACE)
                continue
            if message is not None:
                return message
            others = [rank for rank in call.members if rank not in (self._rank, *ended)]
            ready = self._wait(call, others, deadline, only=leader)
            fresh = [rank for rank in others if self._peers.ends[rank] in ready]
            if fresh and not ended:
                deadline = min(deadline, time.monotonic() + GRACE)
            ended += fresh
            if leader in fresh and self._is_quiet(leader):
                self._raise_if_ended(call, [leader])
            if not ready:
                self._raise_if_ended(call, ended)
                raise WaitTimeoutError(
                    f"{self._named(leader)} did not come to {call.name} within {call.timeout:g} s"
                )

    def _is_quiet(self, rank: int) -> bool:
        """Return whether a rank that has ended has left no unread message."""
        channel = self._peers.channels.get(rank)
        return channel is None or not wait_readable([channel.fileno()], 0)

    def _wait(
        self, call: Call, ranks: Sequence[int], deadline: float, *, only: int | None = None
    ) -> set[int]:
        """Wait for a message from these ranks (from `only` one of them, if given), or for the end of any of them."""
        speakers = ranks if only is None else [only]
        for rank in speakers:
            if rank not in self._peers.channels:
                raise self._lost(call, rank, "has left")
        watched = [self._peers.channels[rank].fileno() for rank in speakers]
        return wait_readable([*watched, *(self._peers.ends[rank] for rank in ranks)], deadline)

    def _raise_if_ended(self, call: Call, ranks: Sequence[int]) -> None:
        if ranks:
            text = " and ".join(map(self._named, ranks))
            raise RankLost(f"{text} ended; {call.name} needs {ranks_shown(ranks)}", rank=ranks[0])

    def _next(self, call: Call, rank: int) -> tuple[dict[str, Any], list[int]] | None:
        """Return a rank's next message of this call, or None. Messages of former calls are dropped."""
        elsewhere = None
        while rank in self._peers.channels:
            try:
                received = self._peers.channels[rank].receive()
            except EOFError:
                self._peers.channels.pop(rank).close()
                raise self._lost(call, rank, "ended") from None
            if received is None and elsewhere:
                raise self._disagreement(call, rank, elsewhere)
            if received is None:
                return None
            message, descriptors = received
            if message.get("left"):
                self._peers.channels.pop(rank).close()
                raise self._lost(call, rank, "has called finalize_lib")
            if tuple(message["members"]) != call.members:
                elsewhere = self._other_group(message)
            elif self._is_of(call, rank, message):
                if failed := message.get("failed"):
                    by = message["by"]
                    raise _Verdict(from_message(failed, "" if _names_rank(failed) else f"rank {by}: "))
                return message, descriptors
            for descriptor in descriptors:
                os.close(descriptor)
        raise self._lost(call, rank, "has left")

    def _lost(self, call: Call, rank: int, how: str) -> RankLost:
        return RankLost(f"{self._named(rank)} {how}; {call.name} needs it", rank=rank)

    def _is_of(self, call: Call, rank: int, message: dict[str, Any]) -> bool:
        """Return whether a message of this group belongs to this call; False for one of a former call."""
        if message["number"] > call.number:
            self._numbers[call.members] = message["number"]
            if "failed" in message:  # the call that is given up includes this one
                return True
            raise DisagreementError(
                f"{self._named(rank)} has gone on to another {message['call']} than rank {self._rank}, which it did "
                "not wait for"
            )
        if message["number"] < call.number:
            return False
        if message["call"] != call.name:
            raise DisagreementError(
                f"{self._named(rank)} calls {message['call']}, rank {self._rank} calls {call.name}"
            )
        return True

    def _other_group(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the message if its sender is in a call of another group that was not given up; else None."""
        members = tuple(message["members"])
        if message["number"] <= self._numbers.get(members, 0):
            return None  # a call that was given up here
        if "failed" in message:
            self._numbers[members] = message["number"]
            return None
        return message

    def _disagreement(self, call: Call, rank: int, message: dict[str, Any]) -> DisagreementError:
        """Tell a rank that its call of another group fails; return the error for this rank's call."""
        members = tuple(message["members"])
        self._numbers[members] = message["number"]
        error = DisagreementError(
            f"{self._named(rank)} calls {message['call']} of {ranks_shown(members)}, rank {self._rank} calls "
            f"{call.name} of {ranks_shown(call.members)}"
        )
        place = {name: message[name] for name in ("call", "number", "members")}
        self._peers.channels[rank].send({**place, "failed": as_message(error), "by": self._rank})
        return error


class _Verdict(Exception):
    """The error of another rank (the leader, or a member that told the leader) because of which a call fails."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def _names_rank(failed: dict[str, Any]) -> bool:
    """Return whether the text of an error names the rank already."""
    return failed["kind"] in {"RankLost", "WaitTimeoutError", "DisagreementError"} or failed[
        "text"
    ].startswith("rank ")


def _compare(call: Call, proposals: dict[int, dict[str, Any]]) -> None:
    """Raise DisagreementError for the first parameter in which a rank differs from the leader."""
    leader = call.members[0]
    for rank, proposal in proposals.items():
        for name, value in proposals[leader].items():
            if name != "own" and proposal.get(name) != value:
                raise DisagreementError(
                    f"{call.name}: rank {rank} gives {name}={proposal.get(name)!r}, rank {leader} gives {value!r}"
                )
