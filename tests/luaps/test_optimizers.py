"""Optimizers of servers, from Lua."""

from __future__ import annotations

from typing import Any

import pytest

import pyps


@pytest.mark.parametrize("written", ["'adagrad:lr=0.5,eps=0'", "{'adagrad', lr = 0.5, eps = 0}"])
def test_a_server_applies_gradients(start: Any, written: str) -> None:
    source = f"""
    local server = luaps.server{{num_keys = 3, value_length = 2, optimizer = {written}}}
    local kv, v = server:worker(), ffi.new('float[2]')
    kv:push({{2, 2}}, ffi.new('float[4]', 1, 2, 2, -5)) kv:pull(2, v) say(shown(v, 2))
    say(server:optimizer())
    server:tune{{lr = 0.25, maximize = true}} server:tune('weight_decay=1')
    say(server:optimizer())
    kv:set(2, ffi.new('float[2]')) kv:push(2, ffi.new('float[2]', 7, 9)) kv:pull(2, v) say(shown(v, 2))
    server:shutdown()
    """
    rest = "lr_decay=0,initial_accumulator_value=0,eps=0"
    assert start(source, "").finish() == [
        "-0.5 0.5",
        f"adagrad:lr=0.5,weight_decay=0,maximize=0,refuse_nan=0,{rest}",
        f"adagrad:lr=0.25,weight_decay=1,maximize=1,refuse_nan=0,{rest}",
        "0.25 0.25",
    ]


def test_what_is_wrong_is_named(start: Any) -> None:
    source = """
    say(pcall(luaps.server, {num_keys = 1, optimizer = 3}))
    say(pcall(luaps.server, {num_keys = 1, optimizer = {'adam', lr = '1'}}))
    say(pcall(luaps.server, {num_keys = 1, optimizer = {'adam', lr = -1}}))
    local plain = luaps.server{num_keys = 1}
    say(plain:optimizer(), pcall(plain.tune, plain, {lr = 1}))
    say(pcall(plain.tune, plain, 5))
    plain:shutdown()
    """
    number, text, limit, none, tune = start(source, "").finish()
    assert (
        "optimizer must be a text like 'adagrad:lr=0.1' or a table like {'adagrad', lr = 0.1}, got" in number
    )
    assert "lr must be a number, got" in text
    assert "lr is -1; it must be in [0, inf)" in limit
    assert none.startswith("nil false luaps: ")
    assert "the server has no optimizer: what is pushed is added" in none
    assert "settings must be a text like 'lr=0.05' or a table like {lr = 0.05}, got" in tune


def test_lua_and_python_push_to_one_optimizer(start: Any) -> None:
    with (
        pyps.Server(2, 1, optimizer=pyps.optim.SGD(lr=0.5, momentum=0.5)) as server,
        server.worker() as kv,
    ):
        program = start(
            """
            kv:push(1, ffi.new('float[1]', 4))
            kv:finalize()
            """,
            server.address,
        )
        program.finish()
        kv.push([0], [2.0])
        assert kv.pull([0]) == -2 - 0.5 * (0.5 * 4 + 2)
