"""Hosts of a test's own: network namespaces, joined by a bridge in one more, whose links can be cut."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Sequence
from types import TracebackType
from typing import Self

_numbers = itertools.count()


def ip(*words: str) -> None:
    """Run ip of iproute2."""
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)


def may_make_hosts() -> bool:
    """Whether this process may make network namespaces and links between them."""
    if shutil.which("ip") is None:
        return False
    try:
        with Network(1):
            return True
    except (OSError, subprocess.SubprocessError):
        return False


class Host:
    """One host: a namespace with an address on the bridge."""

    def __init__(self, network: str, number: int) -> None:
        self.name = f"{network}-{number}"
        self.port = f"p{number}"  # its link's end at the bridge
        self.address = f"10.77.0.{number + 1}"
        self.command: Sequence[str] = ["ip", "netns", "exec", self.name]
        self.endpoint = f"tcp://{self.address}:*"


class Network:
    """Hosts on one network; a context manager that removes all of it.

    Parameters
    ----------
    count : int
        Hosts.
    """

    def __init__(self, count: int) -> None:
        self.hub = f"pyps-{os.getpid()}-{next(_numbers)}"
        self.hosts = [Host(self.hub, number) for number in range(count)]

    def __enter__(self) -> Self:
        try:
            ip("netns", "add", self.hub)
            ip("-n", self.hub, "link", "add", "bridge", "type", "bridge")
            ip("-n", self.hub, "link", "set", "bridge", "up")
            for host in self.hosts:
                self._add(host)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _add(self, host: Host) -> None:
        ip("netns", "add", host.name)
        link = [
            "link",
            "add",
            host.port,
            "netns",
            self.hub,
            "type",
            "veth",
            "peer",
            "eth0",
            "netns",
            host.name,
        ]
        ip(*link)
        ip("-n", self.hub, "link", "set", host.port, "master", "bridge", "up")
        ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            ip("-n", host.name, "link", "set", device, "up")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in (*(host.name for host in self.hosts), self.hub):
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True, timeout=30)

    def cut(self, number: int) -> None:
        """Take a host off the network."""
        ip("-n", self.hub, "link", "set", self.hosts[number].port, "down")

    def heal(self, number: int) -> None:
        """Put it on again."""
        ip("-n", self.hub, "link", "set", self.hosts[number].port, "up")
