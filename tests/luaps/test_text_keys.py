"""Strings as keys: the same numbers as in Python, and tables that take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.test_text_keys import random_texts


@pytest.fixture(autouse=True)
def of_the_environment(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua processes open the ZeroMQ library that is here."""
    monkeypatch.setenv("PYPS_ZMQ", library)


def quoted(text: str) -> str:
    """Return a text as a literal of Lua."""
    return "'" + "".join(f"\\{byte:03}" for byte in text.encode()) + "'"


def test_strings_stand_for_the_same_numbers_as_in_python(start: Any) -> None:
    texts = random_texts(500)
    source = f"for _, text in ipairs{{{', '.join(map(quoted, texts))}}} do say(luaps.hashed_key(text)) end"
    found = start(source, "").finish()
    assert [int(line.removesuffix("LL")) for line in found] == pyps.hashed_keys(texts).tolist()


def test_lua_and_python_use_the_same_texts(start: Any) -> None:
    source = """
    local users, v = kv:table('users'), ffi.new('int64_t[2]')
    users:pull({'anna', 'Zoë'}, v) say(shown(v, 2))
    users:push({'otto', 'anna'}, {30, 40}) users:push('otto', {1})
    users:localize{'otto'} users:intent('otto', 1, 2)
    users:pull({luaps.hashed_key('otto'), 'anna'}, v) say(shown(v, 2))
    local there = users:contains{'anna', 'nobody'}
    say(there[1], there[2], users:delete('Zoë'), users:get_key_size('anna'))
    kv.node:table('theirs', {dim = 1, hash = 'xxh64', dtype = 'int64'})
    kv:table('theirs'):push({'eva'}, {9})
    """
    with pyps.Server(10) as server, server.worker() as kv:
        server.table("users", dim=1, dtype="int64", hash="xxh64")
        users = kv.table("users")
        users.push(["anna", "Zoë"], np.array([[1], [2]]))
        assert start(source, server.address).finish() == ["1 2", "31 41", "true false 1 1"]
        assert users.pull(["otto", "anna"]).tolist() == [[31], [41]]
        assert kv.table("theirs").pull(["eva"]) == 9


def test_strings_elsewhere_are_refused(start: Any) -> None:
    source = """
    say(select(2, pcall(kv.push, kv, {'anna'}, {1})))
    say(select(2, pcall(kv.push, kv, 'anna', {1})))
    say(select(2, pcall(kv.push, kv:table('users'), {'anna', true}, {1, 1})))
    say(select(2, pcall(luaps.hashed_key, 7)))
    say(select(2, pcall(kv.node.table, kv.node, 'more', {dim = 1, hash = 'md5'})))
    say(select(2, pcall(kv.node.table, kv.node, 'more', {hash = 'xxh64'})))
    """
    with pyps.Server(10) as server:
        server.table("users", dim=1, hash="xxh64")
        found = start(source, server.address).finish()
        assert found[0].startswith("luaps: keys must be whole numbers; got ")
        assert found[1].startswith("luaps: keys must be a number, a table of numbers")
        assert found[2] == "luaps: keys must be whole numbers; got true at position 2"
        assert found[3] == "luaps: text must be a string, got 7"
        assert "hash md5 is unknown; texts are hashed by xxh64" in found[4]
        assert found[5].startswith("luaps: hash of table 'more' need dim")
