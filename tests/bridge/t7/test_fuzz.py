"""Damaged files are refused or read, never a crash and never a hang.

The slow test reads 100,000 mutated files, or MOONTIDE_TIMES as many; a seed that fails is printed and
MOONTIDE_FUZZ_SEED starts from it. The quick tests read a few thousand.
"""

from __future__ import annotations

import os
import random
import struct
import time
import tracemalloc
from pathlib import Path

import pytest
import torch

from bridge import t7
from tests.soak import TIMES, times

FILES = Path(__file__).parents[2] / "data" / "torch7" / "files"
SEED = int(os.environ.get("MOONTIDE_FUZZ_SEED", "0"))
SECONDS = 2.0  # that no file of a few kilobytes may take, on however busy a machine
NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    64,
    65,
    255,
    2**15,
    2**16,
    2**31 - 1,
    2**32 - 1,
    2**53,
    2**62,
    2**63 - 1,
)


def originals() -> list[bytes]:
    return [
        content
        for path in sorted(FILES.glob("*.t7"))
        if len(content := path.read_bytes()) < 3000 or path.name.startswith("generator")
    ]


def mutated(original: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Change some places: bits, numbers of both sizes and signs, digits, pieces moved, repeated or left out."""
    data = bytearray(original)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        place = chance.randrange(len(data) + 1)
        kind = chance.randrange(9)
        if kind == 0 and place < len(data):
            data[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            number = chance.choice((1, -1)) * chance.choice(NUMBERS)
            place -= place % 4
            data[place : place + 4] = struct.pack("<I", number & 0xFFFFFFFF)
        elif kind == 2:
            number = chance.choice((1, -1)) * chance.choice(NUMBERS)
            data[place : place + 8] = struct.pack("<Q", number & 0xFFFFFFFFFFFFFFFF)
        elif kind == 3:
            del data[place:]
        elif kind == 4:
            del data[place : place + chance.choice((1, 2, 4, 8, 30))]
        elif kind == 5:
            other = chance.choice(others)
            begin = chance.randrange(len(other))
            data[place:place] = other[begin : begin + chance.choice((4, 8, 16, 100))]
        elif kind == 6:
            data[place:place] = data[place : place + 50] * chance.choice((1, 2, 20))
        elif kind == 7:
            data[place : place + 1] = b"%d" % (chance.choice((1, -1)) * chance.choice(NUMBERS))
        else:
            lines = bytes(data).split(b"\n")
            lines[chance.randrange(len(lines))] = chance.choice(
                (b"0", b"-1", b"3", b"4", b"", b"1e999", b"nan", b"2147483647")
            )
            data = bytearray(b"\n".join(lines))
    return bytes(data)


def check(data: bytes) -> str:
    """Read and, where that works, write and describe one file; say how it went."""
    try:
        value = t7.loads(data)
    except t7.T7Error:
        return "refused"
    try:
        again = t7.dumps(value)
    except t7.T7Error as error:  # bytes that mean something only in the form in which they were read
        assert "layout of its own" in str(error) or "torch.Generator" in str(error)  # noqa: PT017
        return "read"
    t7.loads(again, long_size=8)
    return "read"


def read_all(count: int, tmp_path: Path) -> dict[str, int]:
    """Read so many mutated files, one in fifty from a disk; return how often each outcome came."""
    others = originals()
    outcomes = {"read": 0, "refused": 0}
    for seed in range(SEED, SEED + count):
        chance = random.Random(seed)
        data = mutated(chance.choice(others), others, chance)
        begin = time.perf_counter()
        try:
            outcome = check(data)
            if seed % 50 == 0:
                assert check_file(data, tmp_path / "mutated.t7", seed) == outcome
        except Exception as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}")
        assert time.perf_counter() - begin < SECONDS, f"seed {seed}"
        outcomes[outcome] += 1
    return outcomes


def check_file(data: bytes, file: Path, seed: int) -> str:
    """Read a file in the other ways that there are."""
    file.write_bytes(data)
    assert torch.get_num_threads()  # it is there already: loading it is no file's time
    try:
        t7.load(file, tensors="torch" if seed % 100 else "numpy", mmap=seed % 200 == 0, tables="dict")
        str(t7.inspect(file))
    except t7.T7Error:
        return "refused"
    return "read"


@pytest.mark.slow
def test_a_few_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    outcomes = read_all(3000, tmp_path)
    assert outcomes["refused"] > 300
    assert outcomes["read"] > 60


@pytest.mark.long
@pytest.mark.timeout(900 * TIMES)
def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    print(read_all(times(100_000), tmp_path))


def test_a_mutated_file_takes_memory_in_proportion_to_its_size() -> None:
    others = originals()
    for seed in range(300):
        chance = random.Random(seed)
        data = mutated(chance.choice(others), others, chance)
        tracemalloc.start()
        try:
            check(data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 200_000 + 100 * len(data), f"seed {seed}"
