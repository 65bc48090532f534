"""Hostile traffic for a live node: recorded messages that are damaged, and what is no message at all.

    python -m tests.pyps.hostile [--messages 1000000] [--seed 0]

sends so many to a node of a cluster while its workers go on, and prints what came of them.
"""

from __future__ import annotations

import argparse
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import zmq

import pyps
from tests.pyps.cluster import Cluster

TIMEOUT = 50.0
CLUSTER = 11  # of tests.pyps.cluster
HTTP = b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)  # of ZMTP 3.0
READY = b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"  # what ends the handshake
BURST = 500


def node_name(node: int, cluster: int = CLUSTER) -> bytes:
    """The name that a node's connections have at the others' routers."""
    return struct.pack("<cHQ", b"N", node, cluster)


def worker_name(node: int, worker: int, cluster: int = CLUSTER) -> bytes:
    """The same of a worker."""
    return struct.pack("<cHIQ", b"W", node, worker, cluster)


@contextmanager
def dealer(endpoint: str, name: bytes = b"") -> Iterator[zmq.Socket[bytes]]:
    """A socket that speaks to a node's router under a name."""
    context = zmq.Context()
    peer = context.socket(zmq.DEALER)
    peer.linger = 5000
    if name:
        peer.routing_id = name
    peer.connect(endpoint)
    try:
        yield peer
    finally:
        peer.close()
        context.term()


def recorded() -> list[bytes]:
    """Messages that a real node and its workers send to another node, in whose place this listens."""
    context = zmq.Context()
    messages = []
    draw = random.Random(1)
    with ExitStack() as stack:
        stack.callback(context.term)
        router = stack.enter_context(context.socket(zmq.ROUTER))
        port = router.bind_to_random_port("tcp://127.0.0.1")
        node = stack.enter_context(
            pyps.Server(20, np.arange(20) % 3 + 1, dtype="int64", num_nodes=2, cluster=CLUSTER)
        )
        node.connect([node.bind("tcp://127.0.0.1:*"), f"tcp://127.0.0.1:{port}"])
        pusher, puller = (stack.enter_context(node.worker()) for _ in range(2))  # nobody will answer them
        for _ in range(40):
            keys = [draw.randrange(20) for _ in range(draw.randrange(1, 5))]
            values = np.arange(sum(key % 3 + 1 for key in keys))
            pusher.push(keys, values, asynchronous=True)
            puller.pull(keys, np.zeros_like(values), asynchronous=True)
        pusher.localize([1, 3, 5], asynchronous=True)
        puller.intent([7, 9], 0, 5)
        while router.poll(100):
            messages.append(router.recv_multipart()[1])
        node.shutdown(timeout=0)  # nobody takes leave of it
    assert {4, 6, 9} <= {message[5] for message in messages}
    return messages


def damaged(draw: random.Random, message: bytes) -> bytes:
    """The message cut, stretched, with other bits, or something else altogether."""
    kind = draw.randrange(7)
    if kind == 0:
        return draw.randbytes(draw.randrange(200))
    if kind == 1:
        return message  # only its sender is wrong
    changed = bytearray(message)
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(changed) + 1)
        if kind == 2:
            del changed[at:]
        elif kind == 3:
            changed[at:at] = draw.randbytes(draw.randrange(1, 9))
        elif kind == 4:
            changed[at : at + 4] = b"\xff" * min(4, len(changed) - at)
        elif at < len(changed):
            changed[at] ^= 1 << draw.randrange(8)
    return bytes(changed)


def attack(node: pyps.Server, endpoint: str, messages: int, seed: int) -> None:
    """Send damaged messages under names of nobody in the cluster, until the node has refused every one."""
    draw = random.Random(seed)
    known = recorded()
    names = [b"", b"N\0\0", b"somebody", worker_name(1, 1, CLUSTER + 1), node_name(1, CLUSTER + 1)]
    before = node.stats()["refused"]
    with ExitStack() as stack:
        peers = [stack.enter_context(dealer(endpoint, name)) for name in names]
        sent = 0
        while sent < messages:
            for _ in range(min(BURST, messages - sent)):
                parts = [damaged(draw, draw.choice(known)) for _ in range(1 + (draw.random() < 0.02))]
                draw.choice(peers).send_multipart(parts)
                sent += 1
            end = time.monotonic() + TIMEOUT
            while node.stats()["refused"] < before + sent:
                assert time.monotonic() < end, f"{node.stats()['refused'] - before} of {sent} were refused"
                time.sleep(0.001)
    assert node.stats()["refused"] == before + messages


def connected(endpoint: str) -> socket.socket:
    host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
    return socket.create_connection((host, int(port)), timeout=TIMEOUT)


def use(node: pyps.Server, stop: threading.Event) -> int:
    """Push and pull all keys until told to stop: nobody else changes a value. Return the rounds."""
    keys, rounds = np.arange(node.num_keys), 0
    ones = np.ones(node.total_values, np.int64)
    out = np.zeros_like(ones)
    with node.worker() as kv:
        while not stop.is_set():
            kv.push(keys, ones)
            rounds += 1
            kv.pull(keys, out)
            assert (out == rounds).all(), "a value has changed"
            kv.localize(keys[rounds % len(keys) :][:2])
            time.sleep(0.002)
    return rounds


@contextmanager
def in_use(cluster: Cluster) -> Iterator[None]:
    """Meanwhile a worker of the last node uses all keys; its values must be its own."""
    stop, failures = threading.Event(), []

    def work() -> None:
        try:
            use(cluster.nodes[-1], stop)
        except Exception as error:  # it is raised in the test's thread
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(TIMEOUT)
    if failures:
        raise failures[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    with Cluster(2, 20, np.arange(20) % 3 + 1, dtype="int64") as cluster, in_use(cluster):
        node = cluster.nodes[0]
        attack(node, cluster.endpoints[0], options.messages, options.seed)
        print(f"{options.messages} messages, {node.stats()['refused']} refused, values unchanged, ", end="")
        print(f"{time.monotonic() - began:.0f} s; the first: {node.first_refusal()}")


if __name__ == "__main__":
    main()
