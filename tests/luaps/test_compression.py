"""A node that Lua makes compresses what is pushed to its replicas as its cluster does."""

from __future__ import annotations

import time

import numpy as np
import pytest

import bridge
import pyps

TIMEOUT = 50.0
ENDLESS = 2**62

NODE = """
server = luaps.server{num_keys = 1, value_length = 4, num_nodes = 2, rank = 1, cluster = 5, techniques = 'all',
   compression = {'top_k', share = 0.25}}
endpoint = server:bind('memory://*')
"""
REPLICA = """
kv = server:worker()
kv:intent({1}, kv:current_clock(), kv:current_clock() + 1000)
kv:wait_sync(50)
kv:push({1}, {0, 1, 2, 3})
"""
END = """
kv:wait_sync(50)
kv:finalize()
"""


@pytest.mark.slow
def test_the_largest_elements_come_first_and_all_of_them_for_wait_sync(lua: bridge.Lua) -> None:
    options = {"num_nodes": 2, "cluster": 5, "techniques": "all", "compression": "top_k:share=0.25"}
    lua.execute(NODE)
    with pyps.Server(1, 4, rank=0, **options) as owner:
        endpoints = [owner.bind("memory://*"), lua.endpoint]
        owner.connect(endpoints)
        lua.connect = endpoints
        lua.execute("server:connect(connect)")
        with owner.worker() as kv:
            kv.intent([0], 0, ENDLESS)
            lua.execute(REPLICA)
            end = time.monotonic() + TIMEOUT
            while not kv.pull([0]).any():
                assert time.monotonic() < end
            assert kv.pull([0]).tolist() == [[0, 0, 0, 3]]
            lua.execute(END)
            assert np.array_equal(kv.pull([0]), [[0, 1, 2, 3]])
        lua.execute("server:shutdown()")
