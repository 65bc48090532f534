"""What a Lua program's node tells of chosen keys."""

from __future__ import annotations

import time
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def of_this_library(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua's nodes speak with the library of ZeroMQ that is here."""
    monkeypatch.setenv("PYPS_ZMQ", library)


TWO = """
local nodes = {}
for rank = 0, 1 do
   nodes[rank + 1] = luaps.server{num_keys = 10, num_nodes = 2, rank = rank, trace_keys = TRACED}
end
local endpoints = {nodes[1]:bind('tcp://127.0.0.1:*'), nodes[2]:bind('tcp://127.0.0.1:*')}
for _, node in ipairs(nodes) do node:connect(endpoints) end
local kv = nodes[1]:worker()
kv:localize({2, 4})
kv:quiesce()
kv:finalize()
local function told(node, options)
   local texts = {}
   for _, event in ipairs((node:trace(options))) do
      texts[#texts + 1] = event.key .. ' ' .. event.event .. (event.to and ' ' .. event.to or '')
   end
   return table.concat(texts, ', ')
end
"""


def test_a_key_that_moves_is_told_by_both_nodes(start: Any) -> None:
    source = (
        TWO.replace("TRACED", "{1, 2}")
        + """
    say(told(nodes[1])) say(told(nodes[2], {base = 0})) say(told(nodes[1]))
    nodes[1]:shutdown(0) nodes[2]:shutdown(0)
    """
    )
    assert start(source, "").finish() == [
        "1 here, 2 localize, 2 relocated in",
        "1 here, 1 relocated out 0",
        "",
    ]


def test_all_keys_are_traced_by_name_also_after_the_end(start: Any) -> None:
    source = (
        TWO.replace("TRACED", "'all'")
        + """
    nodes[1]:shutdown(0) nodes[2]:shutdown(0)
    local events, forgotten = nodes[2]:trace() say(#events, forgotten, events[7].key, events[7].to, events[7].time)
    """
    )
    count, forgotten, key, to, when = start(source, "").finish()[0].split()
    assert (count, forgotten, key, to) == ("7", "0", "4", "0")
    assert abs(float(when) - time.time()) < 100


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("{1, 11}", "key 11 at position 2"),
        ("'some'", "trace_keys is 'some'; it must be keys or 'all'"),
    ],
)
def test_keys_that_are_none_are_refused(start: Any, keys: str, message: str) -> None:
    source = f"say(pcall(luaps.server, {{num_keys = 10, trace_keys = {keys}}}))"
    assert message in start(source, "").finish()[0]


def test_nothing_is_kept_that_nobody_asked_for(start: Any) -> None:
    source = "say(pcall(function() luaps.server{num_keys = 10}:trace() end))"
    assert "this node has no trace" in start(source, "").finish()[0]
