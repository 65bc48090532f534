"""Texts as keys: which numbers they stand for, tables that take them, and different texts that have one number."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import checkpoint
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import Program, finish

# Of XXH64 with seed 0, as the package xxhash computes them.
KNOWN = {
    "": 0xEF46DB3751D8E999,
    "a": 0xD24EC4F1A98C6E5B,
    "abc": 0x44BC2CF5AD770999,
    "user:1": 0xD9C7C4609E6080F3,
    "x" * 31: 0x60DD0D01083B99F0,
    "x" * 32: 0xE2DF261FC2EC30EB,
    "x" * 33: 0xB3FA465F554208A6,
    "Grüße aus Köln " * 5: 0xFCA09211EA28DD6E,
}
PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
BITS = 2**64 - 1


def rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & BITS


def mixed(total: int, lane: int) -> int:
    return rotated((total + lane * PRIMES[1]) & BITS, 31) * PRIMES[0] & BITS


def xxh64(data: bytes) -> int:
    """The definition, with seed 0."""
    p1, p2, p3, p4, p5 = PRIMES
    whole = len(data) // 32 * 32
    if whole:
        sums = [p1 + p2 & BITS, p2, 0, -p1 & BITS]
        for lanes in struct.iter_unpack("<4Q", data[:whole]):
            sums = [mixed(one, lane) for one, lane in zip(sums, lanes, strict=True)]
        total = sum(rotated(one, bits) for one, bits in zip(sums, (1, 7, 12, 18), strict=True)) & BITS
        for one in sums:
            total = (total ^ mixed(0, one)) * p1 + p4 & BITS
    else:
        total = p5
    total, rest = total + len(data) & BITS, data[whole:]
    while len(rest) >= 8:
        total = rotated(total ^ mixed(0, int.from_bytes(rest[:8], "little")), 27) * p1 + p4 & BITS
        rest = rest[8:]
    if len(rest) >= 4:
        total = rotated(total ^ int.from_bytes(rest[:4], "little") * p1 & BITS, 23) * p2 + p3 & BITS
        rest = rest[4:]
    for byte in rest:
        total = rotated(total ^ byte * p5 & BITS, 11) * p1 & BITS
    total = (total ^ total >> 33) * p2 & BITS
    total = (total ^ total >> 29) * p3 & BITS
    return total ^ total >> 32


def signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def random_texts(count: int) -> list[str]:
    """Of all lengths up to 100, from several alphabets."""
    random = np.random.default_rng(3)
    alphabets = [range(32, 127), range(0x20, 0x2000), range(0x1F300, 0x1F600), range(3)]
    return [
        "".join(chr(code) for code in random.choice(alphabets[number % 4], number % 101))
        for number in range(count)
    ]


def test_keys_are_the_known_ones() -> None:
    for text, number in KNOWN.items():
        assert pyps.hashed_keys(text) == pyps.hashed_keys(text.encode()) == signed(number)
        assert xxh64(text.encode()) == number


@pytest.mark.slow
def test_keys_follow_the_definition() -> None:
    texts = random_texts(2000)
    expected = [signed(xxh64(text.encode())) for text in texts]
    assert pyps.hashed_keys(texts).tolist() == expected
    assert pyps.hashed_keys(np.array([text.encode() for text in texts], object)).tolist() == expected


def test_texts_of_all_kinds_and_shapes() -> None:
    expected = pyps.hashed_keys(["a", "b", "c", "dd"])
    assert expected.dtype == np.int64
    assert (pyps.hashed_keys(("a", b"b", "c", b"dd")) == expected).all()
    for dtype in ("U2", "S2", object):
        keys = pyps.hashed_keys(np.array([["a", "b"], ["c", "dd"]], dtype))
        assert (keys == expected.reshape(2, 2)).all()
    assert pyps.hashed_keys([]).shape == (0,)


def test_what_is_no_text_is_named() -> None:
    with pytest.raises(TypeError, match=r"must be texts, str or bytes, not int at position 1"):
        pyps.hashed_keys(["a", 5])
    with pytest.raises(TypeError, match="not int"):
        pyps.hashed_keys(np.arange(3))
    with pytest.raises(ValueError, match="surrogates not allowed"):
        pyps.hashed_keys(["\ud800"])


@pytest.mark.parametrize("count", [1, 2])
def test_a_table_takes_texts_in_every_call(count: int) -> None:
    names = np.array(["anna", "otto", "Zoë"])
    with Cluster(count, 10) as cluster, cluster.nodes[-1].worker() as kv:
        cluster.nodes[0].table("users", dim=2, hash="xxh64")
        users = kv.table("users")
        users.push(names, np.ones((3, 2), np.float32))
        users.push(["anna"], np.ones((1, 2), np.float32))
        users.staggered_push(names[:1], np.ones((1, 2), np.float32))
        users.set("otto", np.full(2, 7, np.float32))
        users.localize(list(names))
        assert users.pull(["anna", b"otto", "Zo\u00eb"]).tolist() == [[3, 3], [7, 7], [1, 1]]
        out = np.empty((1, 2), np.float32)
        assert users.pull_if_local(["anna"], out)
        assert out.tolist() == [[3, 3]]
        assert users.contains(["anna", "nobody"]).tolist() == [True, False]
        keys = pyps.hashed_keys(names)
        assert (users.pull(keys) == users.pull(names)).all()  # the numbers are keys as well
        assert users.delete(names[:2]) == 2
        assert users.contains(keys).tolist() == [False, False, True]
        users.intent(("anna", "otto"), 1, 2)
        with pytest.raises(TypeError):
            kv.pull(["anna"])  # the server's own keys are numbers


@pytest.mark.slow
def test_every_process_knows_that_keys_are_texts(program: Program, tmp_path: Path) -> None:
    with pyps.Server(10) as server, server.worker() as kv:
        process = program(
            "node = pyps.attach(sys.argv[1])\n"
            "assert node.table('users', dim=1, hash='xxh64').hash == 'xxh64'\n"
            "with node.worker() as kv:\n"
            "    kv.table('users').push(['anna'], np.ones((1, 1), np.float32))\n",
            server.address,
        )
        finish(process)
        assert kv.table("users").pull(["anna"]) == 1
        with pytest.raises(ValueError, match=r"is there with other options: .* hash=xxh64"):
            server.table("users", dim=1)
        checkpoint.save(tmp_path, server)
    with pyps.Server(10) as server, server.worker() as kv:
        checkpoint.load(tmp_path, server)
        assert kv.table("users").pull(["anna"]) == 1
        assert server.table("users", dim=1, hash="xxh64").hash == "xxh64"


def test_options_that_are_not_possible_with_texts() -> None:
    with pyps.Server(10) as server:
        for options, named in (
            ({"hash": "md5"}, "hash md5 is unknown; texts are hashed by xxh64"),
            ({"hash": "xxh64", "num_keys": 5}, "num_keys is 5, but the hash of a text may be any number"),
            ({"hash": "xxh64", "dim": [1, 2]}, "2 value lengths were given; with a hash a table has one"),
        ):
            wanted: dict[str, Any] = {"dim": 1, **options}
            with pytest.raises(ValueError, match=named):
                server.table("users", **wanted)
        with pytest.raises(TypeError, match="hash of table 'users' need dim"):
            server.table("users", hash="xxh64")
        assert server.table_names() == []


def test_collisions_are_counted() -> None:
    """Of texts whose keys are given, as nobody has two of XXH64 at hand."""
    collisions = pyps.Collisions()
    collisions.add(["anna", "otto"], np.array([1, 2]))
    collisions.add([b"anna", "otto"], np.array([1, 2]))
    assert (collisions.count, collisions.last) == (0, None)
    collisions.add(["eva", "eva", "uta"], np.array([1, 1, 1]))
    assert (collisions.count, collisions.last) == (2, ("uta", 1))
    with pyps.Server(10) as server, server.worker() as kv:
        server.table("users", dim=1, hash="xxh64")
        users = kv.table("users")
        assert isinstance(users, pyps.TextWorker)
        users.collisions = collisions
        collisions.add(["another"], np.array([pyps.hashed_keys("anna")]))
        users.pull(np.array([["anna"]]))
        users.pull("otto")
        assert (collisions.count, collisions.last) == (3, ("anna", pyps.hashed_keys("anna")))
