"""Hosts of the benchmarks: what their links do to packets, by real sockets."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.network.calibration import calibrate, connected, round_trip, stream
from benchmarks.network.hosts import NAMESPACES, Host, Link, network, remove_left
from tests.system import PID_OF_NONE

ROOT = Path(__file__).parents[2]
SANITIZED = "-g -fsanitize=address,undefined -fno-sanitize-recover=all"


@pytest.mark.slow
@pytest.mark.parametrize(("delay", "slowness"), [(0.005, 1.0), (0.02, 1.0), (0.001, 10.0)])
def test_a_packet_takes_its_delay(delay: float, slowness: float) -> None:
    with network(2, Link(delay, slowness=slowness)) as made:
        one, other = made.hosts
        with connected(one.address, one, other) as (near, far):
            seconds = round_trip(near, far, 20)
    assert 2 * delay * slowness <= seconds < 2 * delay * slowness + 0.01
    assert made.passed.passed >= 40
    assert made.passed.dropped == made.passed.lost == 0


@pytest.mark.slow
def test_hosts_send_by_the_same_rules_on_every_machine() -> None:
    with network(2, Link(0.0)) as made, connected(made.hosts[0].address, *made.hosts) as ends:
        rules = {end.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0") for end in ends}
    assert rules == {b"reno"}


@pytest.mark.slow
def test_a_stream_is_as_fast_as_the_link() -> None:
    rate = 50e6
    with network(3, Link(0.001, rate)) as made:
        one, other, third = made.hosts
        with connected(one.address, one, other) as (near, far), connected(one.address, one, third) as pair:
            alone = stream(near, far, 2 << 20)
            with ThreadPoolExecutor() as pool:  # two hosts send to one, whose link has to carry both
                both = list(pool.map(lambda ends: stream(*ends, 2 << 20), [(near, far), pair]))
    assert 0.6 * rate < alone <= rate
    assert 0.6 * rate < sum(both) < 1.6 * rate  # 1.5 if one waits for the other; 2 without a shared link


@pytest.mark.slow
def test_so_many_packets_are_lost() -> None:
    count, loss = 2000, 0.1
    with (
        network(2, Link(0.0, loss=loss)) as made,
        ThreadPoolExecutor(1) as here,
        ThreadPoolExecutor(1) as there,
    ):
        one, other = made.hosts
        to = here.submit(datagrams, one).result()
        from_ = there.submit(datagrams, other).result()
        with to, from_:
            came = set()
            for number in range(count):
                from_.sendto(number.to_bytes(4, "big"), to.getsockname())
                if number % 100 == 99:
                    came |= received(to)
    assert count - len(came) == made.passed.lost
    assert abs(made.passed.lost - loss * count) < 6 * (count * loss * (1 - loss)) ** 0.5


def datagrams(host: Host) -> socket.socket:
    """A socket for datagrams on a host."""
    host.enter()
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((host.address, 0))
    return made


def received(to: socket.socket) -> set[bytes]:
    """What has come until nothing comes for a while."""
    to.settimeout(0.1)
    came = set()
    while True:
        try:
            came.add(to.recv(4))
        except TimeoutError:
            return came


@pytest.mark.slow
def test_the_relay_is_clean_under_sanitizers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXXFLAGS", SANITIZED)
    seen = calibrate(Link(0.001, 1e9, loss=0.01), quick=True)
    assert seen.added > 0
    assert seen.passed.passed > 100


@pytest.mark.slow
def test_hosts_are_gone_afterwards_also_after_a_kill() -> None:
    source = (
        "from benchmarks.network.hosts import Link, network\n"
        "with network(2, Link(0.001)) as made:\n"
        "    print(made.hosts[0].name, flush=True); input()\n"
    )
    command = [sys.executable, "-c", source]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        name = process.stdout.readline().strip()
        assert (NAMESPACES / name).exists()
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
    assert (NAMESPACES / name).exists()
    with network(1, Link(0.0)) as made:
        assert not (NAMESPACES / name).exists()
        kept = made.hosts[0].name
        assert (NAMESPACES / kept).exists()
    assert not (NAMESPACES / kept).exists()


def test_several_processes_at_once_remove_what_was_left() -> None:
    """As the processes of a run of tests do, each of which asks what this machine allows."""
    names = [f"pt{PID_OF_NONE}x0-{number}" for number in range(8)]
    for name in names:
        subprocess.run(["ip", "netns", "add", name], check=True)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(remove_left) for _ in range(4)]:
            done.result()
    assert not any((NAMESPACES / name).exists() for name in names)


def test_a_relay_that_cannot_begin_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OSError, match="ended with 1"), network(0, Link(0.0)):
        pass
    assert "relay DELAY_NS NS_PER_BYTE LOSS SEED INTERFACE" in capfd.readouterr().err


def test_links_say_what_they_are() -> None:
    assert str(Link(0.0005, 1e10)) == "0.5 ms, 10 Gbit/s"
    assert str(Link(0.002, loss=0.01)) == "2 ms, 1.0% lost"
