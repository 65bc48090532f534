"""Hosts on this machine, network namespaces, whose links have a delay, a rate and a loss: `relay.cpp` makes them."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.network.programs import TIMEOUT, run, running

NAMESPACES = Path("/run/netns")
SOURCE = Path(__file__).with_name("relay.cpp")
MTU = 16384  # bytes of a packet: fewer, larger ones than on a wire, as the relay touches each
CONGESTION = "reno"  # sends at once what it may, everywhere; others send bursts at a rate that they estimate
OF_CONGESTION = "/proc/sys/net/ipv4/tcp_congestion_control"
CLONE_NEWNET = 0x40000000
PREFIX = "pt"  # of the names of hosts; a process's number follows
_numbers = itertools.count()


@dataclass(frozen=True)
class Link:
    """What each host's link to the others is like.

    Attributes
    ----------
    delay : float
        Seconds that a packet takes from host to host, besides the time in which it is sent.
    rate : float
        Bits per second in each direction; infinity: any number at once.
    loss : float
        The part of the packets that do not arrive.
    slowness : float
        By what factor time is slowed down: of the nodes that share processors each gets so much less, and the link is
        as much slower, so that seconds divided by this are those of hosts with processors of their own.
    """

    delay: float
    rate: float = float("inf")
    loss: float = 0.0
    slowness: float = 1.0

    def __str__(self) -> str:
        rate = "" if self.rate == float("inf") else f", {self.rate / 1e9:g} Gbit/s"
        return f"{1e3 * self.delay:g} ms{rate}{f', {self.loss:.1%} lost' if self.loss else ''}"


@dataclass(frozen=True)
class Host:
    """A host: a network namespace."""

    name: str
    address: str

    def enter(self) -> str:
        """Let this thread, and those that it starts from now on, be on the host; return its address."""
        library = ctypes.CDLL(None, use_errno=True)
        file = os.open(NAMESPACES / self.name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if library.setns(file, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), self.name)
        finally:
            os.close(file)
        return self.address


@dataclass
class Passed:
    """What the relay did.

    Attributes
    ----------
    passed, lost, dropped : int
        Packets: that arrived; that were lost as the link says; that no buffer had room for.
    late, latest : float
        Seconds by which packets came later than they should: on average, and the most.
    core_seconds : float
        Of the relay.
    """

    passed: int = 0
    lost: int = 0
    dropped: int = 0
    late: float = 0.0
    latest: float = 0.0
    core_seconds: float = 0.0


@dataclass
class Network:
    """Hosts and the links between them; `passed` is known when it has ended."""

    hosts: list[Host]
    passed: Passed = field(default_factory=Passed)


@contextmanager
def network(count: int, link: Link, seed: int = 1) -> Iterator[Network]:
    """Make hosts, and remove them in the end. It needs the rights of root.

    Parameters
    ----------
    count : int
        Hosts, at most 250.
    link : Link
    seed : int
        By which the packets are drawn that are lost.

    Raises
    ------
    CalledProcessError
        This machine does not let namespaces or TUN interfaces be made; its `stderr` says why.
    """
    remove_left()
    base = f"{PREFIX}{os.getpid()}x{next(_numbers)}"
    hosts = [Host(f"{base}-{number}", f"10.78.0.{number + 1}") for number in range(count)]
    per_byte = 8e9 * link.slowness / link.rate
    given = [f"{1e9 * link.delay * link.slowness:.0f}", f"{per_byte:.6f}", f"{link.loss}", f"{seed}"]
    with ExitStack() as stack:
        for host in hosts:
            run("ip", "netns", "add", host.name)
            stack.callback(run, "ip", "netns", "delete", host.name)
        process = stack.enter_context(running(SOURCE, *given, *(host.name for host in hosts)))
        for host in hosts:
            run("ip", "link", "set", host.name, "netns", host.name)
            run("ip", "-n", host.name, "address", "add", f"{host.address}/24", "dev", host.name)
            run("ip", "-n", host.name, "link", "set", host.name, "mtu", str(MTU), "txqueuelen", "10000", "up")
            run("ip", "-n", host.name, "link", "set", "lo", "up")
            run("ip", "netns", "exec", host.name, "sh", "-c", f"echo {CONGESTION} > {OF_CONGESTION}")
        made = Network(hosts)
        yield made
        said, _ = process.communicate(timeout=TIMEOUT)
        made.passed = Passed(**json.loads(said))


def remove_left() -> None:
    """Remove hosts of processes that were killed; several processes may do so at once."""
    for file in NAMESPACES.glob(f"{PREFIX}*x*-*"):
        owner = re.fullmatch(rf"{PREFIX}(\d+)x\d+-\d+", file.name)
        if owner and not Path("/proc", owner[1]).exists():
            try:
                run("ip", "netns", "delete", file.name)
            except subprocess.CalledProcessError:
                if file.exists():  # another process has not removed it
                    raise
