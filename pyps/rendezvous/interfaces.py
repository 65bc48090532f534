"""Addresses of this host: which one a name means, and sockets that listen at one of them, never at all."""

from __future__ import annotations

import array
import fcntl
import ipaddress
import socket
import struct
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
ADDRESS_OF_INTERFACE = 0x8915  # SIOCGIFADDR
MOST_WAITING = 4096  # connections


def find_address(interface: str | None) -> str:
    """Return the IPv4 address that an interface, a host or an address names; of nothing, the loopback's.

    Parameters
    ----------
    interface : str or None
        Like "eth0", "node-1.example", "10.0.0.1".

    Raises
    ------
    ValueError
        It means all interfaces, or nothing.
    """
    if interface is None:
        return LOOPBACK
    address = _of_interface(interface) or _of_host(interface)
    if ipaddress.ip_address(address).is_unspecified:
        raise ValueError(f"{interface!r} means all interfaces; name one, or an address of this host")
    return address


def is_loopback(endpoint: str) -> bool:
    """Whether only this host reaches an endpoint."""
    return ipaddress.ip_address(urlsplit(endpoint).hostname or "").is_loopback


def listen(address: str, port: int) -> socket.socket:
    """Return a socket that listens at an address of this host; port 0 takes a free one.

    Raises
    ------
    OSError
        The port is taken, or the address is not one of this host.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address, port))
        listening.listen(MOST_WAITING)
    except OSError as error:
        listening.close()
        raise OSError(error.errno, f"cannot listen at {address}:{port}: {error.strerror}") from None
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
        except OSError as error:
            raise ValueError(f"the interface {name!r} has no IPv4 address: {error.strerror}") from None
    return socket.inet_ntoa(request[20:24].tobytes())


def _of_host(name: str) -> str:
    try:
        found = socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        known = ", ".join(known for _, known in socket.if_nameindex())
        raise ValueError(
            f"{name!r} is neither an interface of this host ({known}) nor an IPv4 address or a host's name: {error}"
        ) from None
    return str(found[0][4][0])
