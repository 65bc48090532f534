"""Names of interfaces and addresses, and sockets at one of them alone."""

from __future__ import annotations

import socket

import pytest

from pyps.rendezvous.interfaces import _ipv6_of_interface, find_address, is_loopback, listen, split_endpoint


@pytest.mark.parametrize("interface", [None, "lo", "127.0.0.1", "localhost"])
def test_the_loopback_has_several_names(interface: str | None) -> None:
    assert find_address(interface) == "127.0.0.1"


@pytest.mark.parametrize("address", ["::1", "fd00::1", "2001:db8::5", "10.0.0.1"])
def test_an_address_means_itself(address: str) -> None:
    assert find_address(address) == address


def test_an_interface_without_ipv4_gives_its_ipv6_address() -> None:
    assert _ipv6_of_interface("lo") == "::1"
    with pytest.raises(ValueError, match="'nothing' has no address that other hosts can name"):
        _ipv6_of_interface("nothing")


@pytest.mark.parametrize("interface", ["fe80::1", "fe80::1%lo"])
def test_what_means_something_on_one_link_only_is_refused(interface: str) -> None:
    with pytest.raises(ValueError, match="link-local"):
        find_address(interface)


@pytest.mark.parametrize("interface", ["0.0.0.0", "0", "::", "::ffff:0.0.0.0"])
def test_all_interfaces_are_never_meant(interface: str) -> None:
    with pytest.raises(ValueError, match="means all interfaces; name one"):
        find_address(interface)


@pytest.mark.parametrize("interface", ["no such thing", "ff::1::", "x" * 300, "\N{SNOWMAN}\0"])
def test_an_unknown_name_is_refused_with_the_known_ones(interface: str) -> None:
    with pytest.raises(ValueError, match=r"neither an interface of this host \(.*lo"):
        find_address(interface)


def test_a_socket_listens_at_its_address_alone() -> None:
    with listen("127.0.0.2", 0) as listening:
        port = listening.getsockname()[1]
        socket.create_connection(("127.0.0.2", port), 5).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 5)


def test_a_port_that_is_taken_is_named() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen at 127.0.0.1:{port}"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        ("tcp://10.0.0.1:5000", True),
        ("tcp://127.0.0.1:5000", False),
        ("tcp://127.3.2.1:*", False),
        ("tcp://[::1]:*", False),
        ("tcp://[fd00::1]:5000", True),
    ],
)
def test_an_endpoint_beyond_this_host_is_known(endpoint: str, expected: bool) -> None:
    assert is_loopback(endpoint) is not expected


def test_an_endpoint_is_taken_apart() -> None:
    assert split_endpoint("tcp://node-1:5000", "it") == ("node-1", 5000)
    assert split_endpoint("tcp://10.0.0.1:*", "it") == ("10.0.0.1", 0)
    assert split_endpoint("tcp://[::1]:5000", "it") == ("::1", 5000)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "host:5000",
        "tcp://host",
        "tcp://:5000",
        "udp://host:5000",
        "tcp://host:70000",
        "tcp://host:5000/x",
        "tcp://[",
    ],
)
def test_what_is_no_endpoint_is_named(endpoint: str) -> None:
    with pytest.raises(ValueError, match=r"nodes\[1\] is .*; it must be like 'tcp://host:port'"):
        split_endpoint(endpoint, "nodes[1]")
