"""Bad input: an error that names the value, the limit and the way out; nothing has changed."""

from __future__ import annotations

import re
from typing import Any

import pytest

import bridge
import pyps

V = "torch.FloatTensor(3):fill(5)"
HUGE = "9223372036854775807LL"

# What is called in a Lua state with torch, and what the error says.
CALLS = {
    # keys
    f"kv:push(nil, {V})": "keys must be a number, a table of numbers, a torch tensor of whole numbers or a "
    "luaps.buffer; got nil",
    f"kv:push('1', {V})": "keys must be .*; got '1'",
    f"kv:push(true, {V})": "keys must be .*; got true",
    f"kv:push(print, {V})": "keys must be .*; got function",
    f"kv:push(kv, {V})": "keys must be .*; got table",
    f"kv:push(torch.FloatTensor, {V})": "keys must be .*; got ",
    f"kv:push(io.stdout, {V})": "keys must be .*; got userdata",
    f"kv:push({{key = 1}}, {V})": "keys must be .*; got a table with named fields",
    f"kv:push(1.5, {V})": "keys: 1.5 is not a whole number",
    f"kv:push(0/0, {V})": "keys: -?nan is not a whole number",
    f"kv:push(1/0, {V})": r"keys: inf is beyond 2\^53",
    f"kv:push(2^53 + 2, {V})": r"keys: 9007199254740994 is beyond 2\^53.*use a torch.LongTensor",
    f"kv:push({{1, 'two'}}, {V})": "keys must be whole numbers; got 'two' at position 2",
    f"kv:push({{1, {{2}}}}, {V})": "keys must be whole numbers; got table at position 2",
    f"kv:push({{1, nil, 3}}, {V})": "keys must be whole numbers; got nil at position 2",
    f"kv:push({{1, 2.5}}, {V})": "keys: 2.5 at position 2 is not a whole number",
    f"kv:push({{1, 0/0}}, {V})": "keys: -?nan at position 2 is not a whole number",
    f"kv:push(torch.FloatTensor{{1, 2.5}}, {V})": "keys: 2.5 at position 2 is not a whole number",
    f"kv:push(torch.DoubleTensor{{1, 2, 1/0}}, {V})": r"keys: inf at position 3 is beyond 2\^53",
    f"kv:push(torch.HalfTensor(1), {V})": r"keys cannot be read from a torch.HalfTensor; convert it, keys:long\(\)",
    f"kv:push(ffi.new('void*'), {V})": r"elements of 'void \*' are unknown; cast the memory",
    f"kv:push(ffi.new('int64_t*'), {V})": "a pointer does not tell how many elements it has",
    f"kv:push(ffi.new('uint64_t[1]', 1), {V})": "keys cannot be read from luaps.buffer of 1 uint64_t; use int64_t",
    f"kv:push(ffi.new('int64_t[1][1]'), {V})": "elements of '.*' are unknown",
    f"kv:push(ffi.new('struct {{ int x; }}'), {V})": "elements of 'struct .*' are unknown",
    # keys that the server does not have
    f"kv:push(0, {V})": r"key 0 at position 1 is out of range: the server has keys 1 to 10 \(PS_EKEY\)",
    f"kv:push(11, {V})": "key 11 at position 1 is out of range: the server has keys 1 to 10",
    f"kv:push(-3, {V})": "key -3 at position 1 is out of range",
    f"kv:push({{1, 2, 11}}, {V})": "key 11 at position 3 is out of range: the server has keys 1 to 10",
    f"kv:push({{1, 2^53}}, {V})": "key 9007199254740992 at position 2 is out of range",
    f"kv:push({HUGE}, {V})": "key 9223372036854775807 at position 1 is out of range",
    f"kv:push(-{HUGE} - 1, {V})": "key -9223372036854775808 at position 1 is out of range",
    f"kv:push(torch.LongTensor{{1, 0}}, {V})": "key 0 at position 2 is out of range",
    f"zero:push(10, {V})": "key 10 at position 1 is out of range: the server has keys 0 to 9",
    f"zero:push(-1, {V})": "key -1 at position 1 is out of range: the server has keys 0 to 9",
    f"zero:push({{0, -1}}, {V})": "key -1 at position 2 is out of range",
    # values
    "kv:push(1, nil)": "expected a contiguous FloatTensor or a luaps.buffer of float, as the server holds float32; "
    "got nil",
    "kv:push(1, 5)": "expected a contiguous FloatTensor .*; got 5",
    "kv:push(1, '555')": "expected a contiguous FloatTensor .*; got '555'",
    "kv:push(1, {5, 5, '5'})": "values must be numbers; got '5' at position 3",
    "kv:push(1, {5, nil, 5})": "values must be numbers; got nil at position 2",
    "kv:push(1, {5, {5}, 5})": "values must be numbers; got table at position 2",
    "kv:push(1, {5, 5, value = 5})": r"the buffer has 2 elements, the values of these 1 keys have 3",
    "kv:push(1, {value = 5})": "a table of numbers was expected, got one with named fields",
    "kv:push(1, {5, 5})": "the buffer has 2 elements, the values of these 1 keys have 3",
    "kv:pull(1, {5, 5})": "the buffer has 2 elements, the values of these 1 keys have 3",
    "kv:pull(11, {})": r"key 11 at position 1 is out of range: the server has keys 1 to 10 \(PS_EKEY\)",
    "kv:push(1, setmetatable({5, 5, 5}, {}))": "expected a contiguous FloatTensor .*; got table",
    "kv:push(1, torch.FloatStorage(3))": "expected a contiguous FloatTensor .*; got torch.FloatStorage",
    "kv:push(1, torch.FloatTensor)": "expected a contiguous FloatTensor .*; got ",
    "kv:push(1, torch.DoubleTensor(3))": "expected a contiguous FloatTensor .*; got torch.DoubleTensor; convert it, "
    r"values:float\(\), or create the server with dtype = 'float64'",
    "kv:push(1, torch.IntTensor(3))": "got torch.IntTensor; .*dtype = 'int32'",
    "kv:push(1, torch.ByteTensor(3))": r"got torch.ByteTensor; convert it, values:float\(\)$",
    "kv:pull(1, torch.DoubleTensor(3))": "got torch.DoubleTensor; create the server with dtype = 'float64'$",
    "kv:pull(1, torch.ByteTensor(3))": "got torch.ByteTensor$",
    "kv:push(1, ffi.new('double[3]'))": "got luaps.buffer of 3 double; create the server with dtype = 'float64'$",
    "kv:push(1, luaps.buffer(ffi.new('int[3]')))": "got luaps.buffer of 3 int; create the server with dtype = 'int32'",
    "kv:push(1, ffi.new('float*'))": "a pointer does not tell how many elements it has; say it",
    "kv:pull(1, ffi.new('const float[3]'))": "the buffer is const; pull into one that can be written to",
    "kv:pull({1, 2}, torch.FloatTensor(1, 3):expand(2, 3))": "the tensor overlaps itself",
    "kv:push(1, torch.FloatTensor(2))": r"the buffer has 2 elements, .* have 3 \(PS_ESIZE\)",
    "kv:push(1, torch.FloatTensor(4))": "the buffer has 4 elements, .* have 3",
    "kv:push({1, 2}, torch.FloatTensor(3))": "the buffer has 3 elements, .* have 6",
    "kv:push(1, torch.FloatTensor())": "the buffer has 0 elements, .* have 3",
    "kv:push({}, torch.FloatTensor(3))": "the buffer has 3 elements, .* have 0",
    "kv:pull(1, torch.FloatTensor(4, 2):select(2, 1))": "the buffer has 4 elements",
    "kv:pull_if_local(1, torch.FloatTensor(4))": "the buffer has 4 elements",
    # other arguments
    f"kv:push(1, {V}, 1)": "async must be true or false, got 1",
    f"kv:push(1, {V}, 'async')": "async must be true or false, got 'async'",
    "kv:localize(1, 1)": "async must be true or false, got 1",
    "kv:localize({1, 11})": "key 11 at position 2 is out of range",
    "kv:intent({1})": "start must be a number, got nil",
    "kv:intent({1}, -1)": "clock -1",
    "kv:intent({1}, 2.5)": "start is 2.5; it must be a whole number",
    "kv:intent({1}, 3, 2)": "clock 2",
    "kv:intent({1}, 3, {})": "stop must be a number, got table",
    "kv:intent({11}, 1)": "key 11 at position 1 is out of range",
    "kv:wait('1')": "timestamp must be a number, got '1'",
    "kv:wait(0.5)": "timestamp is 0.5; it must be a whole number",
    "kv:wait(0/0)": "timestamp is -?nan; it must be a whole number",
    "kv:wait{-1, timeout = 'long'}": "timeout is 'long'; it must be a number of seconds",
    "kv:waitall(-1)": "timeout is -1; it must be a number of seconds, or nil for the default",
    "kv:waitall(1/0)": "timeout is inf",
    "kv:finalize(-1)": "timeout is -1; it must be a number of seconds",
    "kv:finalize('x')": "timeout is 'x'; it must be a number of seconds",
    "kv:barrier(0/0)": "timeout is -?nan",
    "kv:get_key_size(11)": "key 11 at position 1 is out of range: the server has keys 1 to 10",
    "kv:get_key_size({1, 2})": "get_key_size expects one key, got 2",
    "kv:get_key_size('a')": "key must be a number",
    # buffers
    "luaps.buffer()": "buffer expects an FFI array or pointer, like .*; got nil",
    "luaps.buffer({1, 2})": "buffer expects an FFI array or pointer, like .*; got table",
    "luaps.buffer(torch.FloatTensor(3))": "buffer expects an FFI array or pointer, like .*; got torch.FloatTensor",
    "luaps.buffer(ffi.new('float*'))": "a pointer does not tell how many elements it has; say it",
    "luaps.buffer(ffi.new('float*'), 3)": "buffer: 3 elements at a null pointer",
    "luaps.buffer(ffi.new('float[3]'), 4)": r"buffer: n is 4; it must be in \[0, 3\]",
    "luaps.buffer(ffi.new('float[3]'), -1)": r"buffer: n is -1; it must be in \[0, 3\]",
    "luaps.buffer(ffi.new('float[3]'), 1.5)": "buffer: n is 1.5; it must be a whole number",
    "luaps.buffer(ffi.new('float[3]'), '3')": "buffer: n must be a number, got '3'",
    "luaps.buffer(ffi.new('void*'), 3)": r"elements of 'void \*' are unknown; cast the memory",
    # attaching
    "luaps.worker()": r"worker expects a table of named arguments, like luaps.worker\{address = .*; got nil",
    "luaps.worker('unix:@x')": "worker expects a table of named arguments, .*; got 'unix:@x'",
    "luaps.worker{}": "worker needs address, as in luaps.worker",
    "luaps.worker{adress = 'unix:@x'}": "worker has no argument 'adress'; there are: address, base, timeout",
    "luaps.worker{'unix:@x'}": "worker has no argument 1; there are: address, base, timeout",
    "luaps.worker{address = 3}": "address must be a string, got 3",
    "luaps.worker{address = ''}": "'' is not an address",
    "luaps.worker{address = 'tcp://127.0.0.1:80'}": "'tcp://127.0.0.1:80' is not an address",
    "luaps.worker{address = 'unix:@pyps\\0evil'}": "holds a NUL",
    "luaps.worker{address = 'unix:@pyps-nobody'}": r"no server at unix:@pyps-nobody: .*\(PS_EADDRESS\)",
    "luaps.worker{address = address, base = 2}": "base is 2; it is 1 to count keys from 1 as Lua does, or 0",
    "luaps.worker{address = address, base = '0'}": "base is '0'",
    "luaps.worker{address = address, timeout = -1}": "timeout is -1; it must be a number of seconds",
    # servers
    "luaps.server()": "server expects a table of named arguments",
    "luaps.server{capacity = 0}": r"capacity is 0; it must be in \[1,",
    "luaps.server{num_keys = 10, lengths = 3}": "server has no argument 'lengths'; there are: admission, capacity",
    "luaps.server{num_keys = '10'}": "num_keys must be a number, got '10'",
    "luaps.server{num_keys = 1.5}": "num_keys is 1.5; it must be a whole number",
    "luaps.server{num_keys = 0}": r"num_keys is 0; it must be in \[1",
    "luaps.server{num_keys = -1}": r"num_keys is -1; it must be in \[1",
    "luaps.server{num_keys = 3, value_length = 0}": r"value_length|length.* 0",
    "luaps.server{num_keys = 3, value_length = {1, 2}}": "2 .*3",
    "luaps.server{num_keys = 3, value_length = 1.5}": "value_length: 1.5 is not a whole number",
    "luaps.server{num_keys = 3, value_length = {1, 2, 'x'}}": "must be whole numbers; got 'x' at position 3",
    "luaps.server{num_keys = 3, dtype = 'float8'}": "dtype 'float8' is not possible; choose one of float32, float64,",
    "luaps.server{num_keys = 3, dtype = 1}": "dtype 1 is not possible",
    "luaps.server{num_keys = 3, max_workers = 0}": r"max_workers is 0; it must be in \[1,",
    "luaps.server{num_keys = 3, max_workers = 5000}": "max_workers is 5000",
    "luaps.server{num_keys = 3, num_workers = -1}": "num_workers is -1",
    "luaps.server{num_keys = 3, memory_limit = -1}": "memory_limit is -1",
    "luaps.server{eviction = 'fifo'}": "eviction is 'fifo'; it must be 'lru', 'lfu' or 'age', or left out",
    "luaps.server{max_age = 'old'}": "max_age is 'old'; it must be a number of seconds",
    "luaps.server{max_age = 0.01}": r"max_age is 0\.01; it must be at least 0\.1 seconds",
    "luaps.server{num_keys = 3, compression = 8}": "compression must be a text like 'bfloat16' or a table like",
    "luaps.server{num_keys = 3, compression = {'top_k', share = 1}}": r"share is 1; it must be in \[0, 0.5\)",
    "luaps.server{num_keys = 3, dtype = 'int32', compression = 'bfloat16'}": "for float32 and float64, not for int32",
    "luaps.server{admission = 256}": r"admission is 256; it must be in \[1, 255\]",
    "luaps.server{num_keys = 3, admission = 2}": "any numbers, and num_keys is 3: give a capacity instead",
    "luaps.server{num_keys = 3, max_age = 9}": "any numbers, and num_keys is 3: give a capacity instead",
    "luaps.server{num_keys = 3, eviction = 'lru'}": "any numbers, and num_keys is 3: give a capacity instead",
    "luaps.server{num_keys = 2^30, value_length = 1000, memory_limit = 2^20}": r"PS_ENOMEM",
    "luaps.server{num_keys = 3, latch_timeout = 'x'}": "latch_timeout is 'x'",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_bad_call_is_refused_with_the_way_out(
    server: pyps.Server, lua: bridge.Lua, contents: Any, call: str
) -> None:
    before = contents(server).tolist()
    lua.address = server.address
    lua.execute("zero = luaps.worker{address = address, base = 0}")
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute(f"local _ = {call}", name="=program")
    message = str(caught.value).splitlines()[0]
    assert re.search("^program:1: luaps: .*" + CALLS[call], message), message
    assert contents(server).tolist() == before
    assert lua.execute(f"return kv:push(1, {V})") == -1


@pytest.mark.parametrize("call", ["push", "set", "pull"])
def test_a_call_with_one_bad_key_among_many_changes_no_value(
    server: pyps.Server, lua: bridge.Lua, contents: Any, call: str
) -> None:
    source = f"""
    local v = torch.FloatTensor(10, 3):fill(5)
    local ok = pcall(kv.{call}, kv, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 11}}, v)
    return ok, v:sum()
    """
    assert lua.execute(source) == (False, 150)
    assert not contents(server).any()


@pytest.mark.parametrize("state", ["finalized", "closed", "server shut down"])
@pytest.mark.parametrize(
    "call",
    [
        f"push(1, {V})",
        f"pull(1, {V})",
        f"set(1, {V})",
        f"pull_if_local(1, {V})",
        "localize(1)",
        "intent(1, 1)",
        "advance_clock()",
        "current_clock()",
        "wait(-1)",
        "waitall()",
        "is_finished(-1)",
        "barrier()",
    ],
)
def test_a_closed_worker_says_so(server: pyps.Server, lua: bridge.Lua, call: str, state: str) -> None:
    if state == "server shut down":
        server.shutdown()
    else:
        lua.execute("kv:finalize()" if state == "finalized" else "kv:close()")
    if state == "server shut down" and call in ("advance_clock()", "current_clock()"):
        return  # a clock is the worker's own
    with pytest.raises(bridge.LuaError, match=r"luaps: .*(finalized|shut down).*\(PS_ECLOSED\)"):
        lua.execute(f"local _ = kv:{call}")


def test_an_uncaught_error_of_a_plain_luajit_names_the_line(server: pyps.Server, luajit: Any) -> None:
    program = luajit("\nkv:pull(11, ffi.new('float[3]'))", server.address)
    _, errors = program.process.communicate(timeout=30)
    assert program.process.returncode == 1
    assert re.match(r"luajit: stdin:\d+: luaps: key 11 at position 1 is out of range", errors)
