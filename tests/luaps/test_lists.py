"""Plain tables of numbers as values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyps


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_tables_are_pushed_and_filled(start: Any, contents: Any, dtype: str) -> None:
    source = """
    kv:push({1, 2}, {1, -2, 3, 4, 5, 6}) kv:set(2, {7, 8, 9})
    local empty, full = {}, {0, 0, 0, 0, 0, 0}
    kv:pull({2, 1}, empty) kv:pull({1, 1}, full)
    say(table.concat(empty, ' ')) say(table.concat(full, ' '))
    """
    with pyps.Server(2, 3, dtype=dtype) as server:
        assert start(source, server.address).finish() == ["7 8 9 1 -2 3", "1 -2 3 1 -2 3"]
        assert contents(server).tolist() == [1, -2, 3, 7, 8, 9]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_no_numbers_of_lua(start: Any, dtype: str) -> None:
    source = "say(pcall(kv.push, kv, 1, {1})) say(pcall(kv.pull, kv, 1, {}))"
    with pyps.Server(2, 1, dtype=dtype) as server:
        for line in start(source, server.address).finish():
            assert line.startswith(
                f"false luaps: the server holds {dtype}, which Lua has no numbers for; use"
            )


def test_whole_numbers_that_do_not_fit_are_refused(start: Any) -> None:
    source = """
    for _, number in ipairs{1.5, 0/0, 2^31, -2^31 - 1, 1LL} do
       say((select(2, pcall(kv.push, kv, 1, {number})):gsub('-nan', 'nan')))
    end
    """
    shown = ["1.5", "nan", "2147483648", "-2147483649", "int64_t"]
    with pyps.Server(2, 1, dtype="int32") as server:
        assert start(source, server.address).finish() == [
            f"luaps: the value {number} at position 1 is no int32" for number in shown
        ]


def test_large_int64_keep_every_digit(start: Any, contents: Any) -> None:
    source = """
    kv:set({1, 2}, {9007199254740993LL, -5})
    local v = {} kv:pull({1, 2}, v)
    say(v[1], v[2], pcall(kv.push, kv, 1, {2^53 + 2}))
    """
    with pyps.Server(2, 1, dtype="int64") as server:
        (line,) = start(source, server.address).finish()
        assert line.startswith(
            "9007199254740993LL -5 false luaps: the value 9007199254740994 at position 1 is no"
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_nan_is_a_number_in_lua(start: Any, dtype: str) -> None:
    source = """
    local v = {} kv:pull({1, 2, 3, 4, 5}, v)
    for i = 1, 5 do say(type(v[i]), v[i] ~= v[i], v[i] == math.huge) end
    """
    bits: Any = np.array([-1, -2, 0x7FC12345], np.int32 if dtype == "float32" else np.int64)
    if dtype == "float64":
        bits[2] = 0x7FF0000000000001
    values = np.concatenate([bits.view(dtype), np.array([np.inf, 1], dtype)])
    with pyps.Server(5, 1, dtype=dtype) as server:
        with server.worker() as kv:
            kv.set(np.arange(5), values)
        assert start(source, server.address).finish() == [
            *["number true false"] * 3,
            "number false true",
            "number false false",
        ]
