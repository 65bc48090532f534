"""Addresses of this host: which one a name stands for, and sockets that listen at one address, never at all of them."""

from __future__ import annotations

import array
import contextlib
import fcntl
import ipaddress
import socket
import struct
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
ADDRESS_OF_INTERFACE = 0x8915  # SIOCGIFADDR
ADDRESSES = Path("/proc/net/if_inet6")  # the IPv6 addresses of this host
MOST_WAITING = 4096  # connections


def find_address(interface: str | None) -> str:
    """Return the address of an interface or a host, or the address itself; for None that of the loopback.

    If an interface or host has addresses of both kinds, return the IPv4 address.

    Parameters
    ----------
    interface : str or None
        Like "eth0", "node-1.example", "10.0.0.1", "fd00::1".

    Raises
    ------
    ValueError
        It means all interfaces, or has no address, or only a link-local one.
    """
    if interface is None:
        return LOOPBACK
    address = ipaddress.ip_address(_of_interface(interface) or _of_host(interface))
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_link_local:
            raise ValueError(
                f"{interface!r} is a link-local address, which other hosts cannot name; name another"
            )
        address = address.ipv4_mapped or address
    if address.is_unspecified:
        raise ValueError(f"{interface!r} means all interfaces; name one, or an address of this host")
    return str(address)


def at_port(host: str, port: int | str) -> str:
    """Return ``host:port``, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(endpoint: str) -> bool:
    """Return whether an endpoint can only be reached from this host."""
    return ipaddress.ip_address(urlsplit(endpoint).hostname or "").is_loopback


def listen(address: str, port: int) -> socket.socket:
    """Return a socket that listens at an address of this host; for port 0, a free port is chosen.

    Raises
    ------
    OSError
        The port is taken, or the address is not one of this host.
    """
    listening = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(MOST_WAITING)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, f"cannot listen at {at_port(address, port)}: {error.strerror}") from None
    return listening


def split_endpoint(endpoint: str, what: str) -> tuple[str, int]:
    """Return host and port of ``tcp://host:port``, where a port of ``*`` is 0.

    Raises
    ------
    ValueError
        It does not look like that.
    """
    try:
        parts = urlsplit(endpoint.replace(":*", ":0") if endpoint.endswith(":*") else endpoint)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port is None or parts.scheme != "tcp" or parts.path or parts.username:
        raise ValueError(f"{what} is {endpoint!r}; it must be like 'tcp://host:port'")
    return host, port


def _of_interface(name: str) -> str | None:
    if name not in (known for _, known in socket.if_nameindex()):
        return None
    request = array.array("B", struct.pack("256s", name.encode()))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, ADDRESS_OF_INTERFACE, request, True)
        except OSError:
            return _ipv6_of_interface(name)
    return socket.inet_ntoa(request[20:24].tobytes())


def _ipv6_of_interface(name: str) -> str:
    with contextlib.suppress(FileNotFoundError):  # this system has no IPv6
        for line in ADDRESSES.read_text().splitlines():
            digits, _, _, _, _, owner = line.split()
            address = ipaddress.IPv6Address(int(digits, 16))
            if owner == name and not address.is_link_local:
                return str(address)
    raise ValueError(f"the interface {name!r} has no address that other hosts can name")


def _of_host(name: str) -> str:
    try:
        found = socket.getaddrinfo(name, None, socket.AF_UNSPEC, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        known = ", ".join(known for _, known in socket.if_nameindex())
        raise ValueError(
            f"{name!r} is neither an interface of this host ({known}) nor an address or a host's name: {error}"
        ) from None
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    return str(found[0][4][0])
