"""ipc.server and ipc.client: values and tensors over TCP, and who hears them."""

from __future__ import annotations

import socket

import pytest

import bridge
from tests.torch7.ipc.errors import error
from tests.torch7.ipc.strangers import DTYPES

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize(
    "value",
    ["1", "-0.5", "'text with \\0 in it'", "true", "{1, 2, {3}}", "{a = {b = 'c'}, 7}", "('x'):rep(1e6)"],
)
def test_a_value_arrives_as_it_was_sent(pair: bridge.Lua, value: str) -> None:
    pair.execute(f"sent = {value} client:send(sent) got = peer:recv()")
    assert pair.eval("torch.serialize(got, 'ascii') == torch.serialize(sent, 'ascii')")


def test_nil_is_a_value(pair: bridge.Lua) -> None:
    pair.execute("client:send(nil) client:send(1)")
    assert pair.eval("select('#', peer:recv()), peer:recv()") == (1, 1)


def test_a_table_keeps_its_tensors_and_what_it_shares(pair: bridge.Lua) -> None:
    pair.execute("t = {1} peer:send{t, t, torch.range(1, 3)} got = client:recv()")
    assert pair.eval("got[1] == got[2], got[3]:sum()") == (True, 6)


def test_an_object_of_a_known_class_arrives(pair: bridge.Lua) -> None:
    pair.execute("nn = require 'nn' m = nn.Linear(3, 2) client:send(m) got = peer:recv()")
    assert pair.eval("torch.type(got), got.weight:equal(m.weight)") == ("nn.Linear", True)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("view", ["t", "t:t()", "t:narrow(2, 2, 2)", "t[2]"])
def test_a_tensor_arrives_with_its_type_and_size(pair: bridge.Lua, name: str, view: str) -> None:
    pair.execute(f"t = torch.DoubleTensor(3, 4):random(100):type('torch.{name}Tensor') v = {view}")
    pair.execute(
        "client:send(v) got = peer:recv() client:send(v) into = v:clone():zero() back = peer:recv(into)"
    )
    assert pair.eval("torch.type(got) == torch.type(v) and back == into")
    assert pair.eval("got:double():equal(v:double()) and into:double():equal(v:double())")


def test_a_tensor_is_received_into_a_view(pair: bridge.Lua) -> None:
    pair.execute("""
        m = torch.zeros(4, 3)
        client:send(torch.range(1, 4))
        peer:recv(m:select(2, 2))
    """)
    assert pair.eval("m:totable()") == [[0, k, 0] for k in (1, 2, 3, 4)]


def test_a_tensor_on_a_device_travels_as_one_of_the_cpu(cuda: bridge.Lua) -> None:
    cuda.execute("""
        local ipc = require 'ipc'
        local server, port = ipc.server()
        local client = ipc.client(port)
        local t = torch.range(1, 6):cuda():view(2, 3)
        client:send(t:t())
        client:send(t:t())
        server:clients(1, function(c) got, into = c:recv(), c:recv(torch.CudaTensor(3, 2)) end)
        client:close()
        server:close()
        same = got:equal(t:float():t()) and into:float():equal(got)
    """)
    assert cuda.eval("torch.type(got), torch.type(into), same") == (
        "torch.FloatTensor",
        "torch.CudaTensor",
        True,
    )


@pytest.mark.parametrize("name", DTYPES)
def test_a_storage_arrives(pair: bridge.Lua, name: str) -> None:
    pair.execute(f"s = torch.{name}Storage{{1, 2, 3}} client:send(s) got = peer:recv()")
    pair.execute(f"client:send(s) into = torch.{name}Storage(3) peer:recv(into)")
    assert pair.eval("got:totable()") == pair.eval("into:totable()") == [1, 2, 3]


def test_a_tensor_without_elements_arrives(pair: bridge.Lua) -> None:
    pair.execute("client:send(torch.FloatTensor()) got = peer:recv()")
    assert pair.eval("torch.type(got), got:dim()") == ("torch.FloatTensor", 0)


@pytest.mark.parametrize(
    ("sent", "into"),
    [
        ("torch.ones(3)", "torch.FloatTensor(3)"),
        ("torch.ones(3)", "torch.DoubleTensor(4)"),
        ("torch.ones(3)", "torch.DoubleTensor(3, 1)"),
        ("torch.ones(3)", "torch.DoubleStorage(3)"),
        ("'text'", "torch.DoubleTensor(4)"),
    ],
)
def test_what_does_not_fit_a_tensor_stays_to_be_received(pair: bridge.Lua, sent: str, into: str) -> None:
    pair.execute(f"client:send({sent})")
    assert "is to receive what 127.0.0.1:" in error(pair, f"peer:recv({into})")
    pair.execute(f"got = peer:recv() same = torch.type(got) == torch.type({sent})")
    assert pair.eval("same")


@pytest.mark.slow
def test_100_megabytes_go_there_and_back(ipc: bridge.Lua) -> None:
    ipc.execute("""
        local server, port = ipc.server()
        local m = ipc.map(1, function(port)
           local client = require('ipc').client(port)
           client:send(client:recv():add(1))
           client:close()
        end, port)
        local t = torch.FloatTensor(25e6):fill(1)
        t[25e6] = 5
        server:clients(1, function(c) c:send(t) c:recv(t:zero()) end)
        m:join()
        server:close()
        first, last = t[1], t[25e6]
    """)
    assert ipc.eval("first, last") == (2, 6)


# ---- servers and clients


def test_clients_come_by_id_and_tag(ipc: bridge.Lua) -> None:
    ipc.execute("""
        server, port = ipc.server('127.0.0.1', 0)
        cs = {}
        for i = 1, 3 do
           cs[i] = ipc.client('127.0.0.1', port)
           cs[i]:send(i)
        end
        n = server:clients(3, function(c)
           local i = c:recv()
           c:id(-i)
           c:tag(i == 2 and 'two' or 'odd')
        end)
        up, down, odd = {}, {}, {}
        server:clients(function(c) table.insert(up, c:id()) end)
        server:clients(function(c) table.insert(down, c:id()) end, 1)
        server:clients(function(c) table.insert(odd, c:id()) end, 'odd')
        server:broadcast('all')
        server:broadcast('few', 'two')
        heard = {cs[1]:recv(), cs[2]:recv(), cs[2]:recv(), cs[3]:recv(), cs[1]:recvAsync()}
        server:close()
    """)
    assert ipc.eval("n, up, down, odd") == (3, [-3, -2, -1], [-1, -2, -3], [-3, -1])
    assert ipc.eval("heard") == ["all", "all", "few", "all"]


def test_recvAny_hears_everybody_in_turn(ipc: bridge.Lua) -> None:
    ipc.execute("""
        server, port = ipc.server()
        a, b = ipc.client(port), ipc.client(port)
        for i = 1, 3 do a:send('a') b:send('b') end
        server:clients(2, function() end)
        order = ''
        for i = 1, 6 do
           local value, client = server:recvAny()
           order = order .. value
           client:send(value)
        end
        back = a:recv() .. b:recv()
        server:close()
    """)
    assert ipc.eval("order") in {"ababab", "bababa"}
    assert ipc.eval("back") == "ab"


def test_recvAsync_takes_only_what_is_there(pair: bridge.Lua) -> None:
    assert pair.eval("select('#', client:recvAsync())") == 0
    pair.execute("peer:send{1, 2}")
    assert pair.eval("client:recvAsync()") == [1, 2]


def test_netStats_count_both_ways(pair: bridge.Lua) -> None:
    pair.execute(
        "client:send(torch.FloatTensor(1000)) peer:recv() stats, mine = server:netStats(), client:netStats()"
    )
    assert pair.eval("stats.rx.num_bytes") == pair.eval("mine.tx.num_bytes") == 4000 + 16 + 8
    assert pair.eval("stats.rx.num_calls, stats.tx.num_bytes") == (1, 0)


def test_a_server_is_reached_from_this_host_only_unless_told(ipc: bridge.Lua) -> None:
    ipc.execute("server, port = ipc.server()")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", ipc.eval("port")), timeout=5)
    ipc.execute("server:close()")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("ipc.client('127.0.0.1', 1, 0.05)", "no connection to 127.0.0.1:1 within 0.05 seconds: Connection refused"),
        ("ipc.client('no.such.host.invalid', 1, 0.05)", "no connection to no.such.host.invalid:1"),
        ("ipc.client('127.0.0.1', 70000)", "ipc.client: a port from 0 to 65535 expected, got 70000"),
        ("ipc.client('127.0.0.1')", "a port from 0 to 65535 expected, got nil"),
        ("ipc.server({})", "ipc.server: name or address of a host expected, got table"),
        ("ipc.server('192.0.2.1')", "ipc.server: cannot listen at 192.0.2.1:0: "),
        ("ipc.server(nil, 0, -1)", "ipc.server: a number of seconds expected, got -1"),
        ("ipc.server(nil, nil, 0.05):clients(2, print)", "ipc: 0 of 2 clients within 0.05 seconds"),
        ("ipc.server():recvAny()", "recvAny: this server has no clients"),
        ("ipc.server():clients(1)", "clients: a number of clients and a function expected, got number and nil"),
        ("local s = ipc.server() s:close() s:broadcast(1)", "ipc: this server is closed"),
        ("ipc.limit('much')", "limit: a number of bytes expected, got much"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_told(ipc: bridge.Lua, call: str, words: str) -> None:
    assert words in error(ipc, call)


def test_a_taken_port_is_told(pair: bridge.Lua) -> None:
    assert "Address already in use" in error(pair, "ipc.server('127.0.0.1', port)")


def test_a_connection_is_sent_nowhere(pair: bridge.Lua) -> None:
    assert "ipc.client cannot be sent or saved" in error(pair, "client:send{client}")
    pair.execute("client:send('still in step')")
    assert pair.eval("peer:recv()") == "still in step"
