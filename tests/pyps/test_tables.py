"""Named tables of a server: who makes them, what is theirs, who sees them, and how they end."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import checkpoint
from tests.pyps.any_keys import spread
from tests.pyps.cluster import TIMEOUT, Cluster
from tests.pyps.conftest import Program, finish

SPACES: dict[str, dict[str, Any]] = {"range": {"num_keys": 10}, "any": {}}
FAR = 1 << 50  # a key of any numbers


def ones(keys: int, dim: int) -> Any:
    return np.ones((keys, dim), np.float32)


@pytest.mark.parametrize("space", SPACES)
def test_values_and_optimizers_are_apart(space: str) -> None:
    with pyps.Server(**SPACES[space], value_length=3) as server, server.worker() as kv:
        users = server.table("users", dim=4, optimizer="sgd:lr=0.5")
        server.table("items", dim=2, dtype="float64", num_keys=5, initializer="constant:value=7")
        assert server.table_names() == ["items", "users"]
        kv.push([1], ones(1, 3))
        kv.table("users").push([1, FAR], ones(2, 4))
        kv.table("items").push([1], np.ones((1, 2)))
        assert kv.pull([1]).tolist() == [[1, 1, 1]]
        assert kv.table("users").pull([1, 2, FAR]).tolist() == [[-0.5] * 4, [0] * 4, [-0.5] * 4]
        assert kv.table("items").pull([1, 2]).tolist() == [[8, 8], [7, 7]]
        assert (users.num_keys, users.value_length, users.dtype.name, users.rank) == (None, 4, "float32", 0)
        assert users.optimizer_text().startswith("sgd:lr=0.5,")
        assert users.options.startswith("capacity=1000000 lengths=4 dtype=float32 optimizer=sgd:lr=0.5,")
        assert server.table_options("users") == users.options
        with pytest.raises(RuntimeError, match="there is no table 'words'"):
            server.table_options("words")
        assert "table 'users' of <pyps.Server" in repr(users)
        assert users.stats()["keys_held"] == 3


@pytest.mark.parametrize("transport", ["tcp", "memory"])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("maker", [0, 2])
def test_all_nodes_see_a_table_that_one_makes(maker: int, space: str, transport: str) -> None:
    keys = spread(20)
    with Cluster(3, **SPACES[space], transport=transport, num_workers=2) as cluster:
        cluster.nodes[maker].table("users", dim=4)

        def work(kv: pyps.Worker, _: int) -> Any:
            table = kv.table("users")
            kv.barrier(TIMEOUT)  # from here on the table's barrier waits for all of them
            for clock in range(5):
                table.intent(keys[:10], clock, clock + 1)
                table.localize(keys[15:])
                table.push(keys, ones(20, 4))
                assert kv.advance_clock() == table.current_clock() == clock + 1
            table.quiesce(TIMEOUT)
            table.barrier(TIMEOUT)
            table.quiesce(TIMEOUT)
            table.barrier(TIMEOUT)
            return table.pull(keys).tolist()

        for found in cluster.run(work, workers=2):
            assert found == [[30] * 4] * 20
        moved = [node.table("users").stats()["relocations_in"] for node in cluster.nodes]
        assert sum(moved) > 0


def test_over_sockets_of_the_host(tmp_path: Path) -> None:
    nodes = [pyps.Server(10, num_nodes=2, rank=rank) for rank in range(2)]
    endpoints = [node.bind(f"ipc://{tmp_path}/node{rank}") for rank, node in enumerate(nodes)]
    for node in nodes:
        node.connect(endpoints)
    nodes[0].table("users", dim=1)
    with nodes[0].worker() as a, nodes[1].worker() as b:
        a.table("users").push([1, 2], ones(2, 1))
        assert b.table("users").pull([1, 2]).tolist() == [[1], [1]]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda node: node.shutdown(TIMEOUT), nodes))
    assert list(tmp_path.iterdir()) == []


def test_messages_of_tables_are_encrypted_as_well() -> None:
    import zmq

    keys = tuple(key.decode() for key in zmq.curve_keypair())
    with Cluster(2, 10, curve=keys) as cluster:
        table = cluster.nodes[0].table("users", dim=1)
        cluster.run(lambda kv, _: kv.table("users").push([1, 2], ones(2, 1)), workers=1)
        with table.worker() as kv:
            assert kv.pull([1, 2]).tolist() == [[2], [2]]


@pytest.mark.slow
def test_many_declare_a_table_at_once() -> None:
    """All with the same options get it; of other options one is first, and the others are told."""
    with Cluster(4, 10) as cluster, ThreadPoolExecutor(16) as pool:
        for turn in range(5):
            same = [pool.submit(node.table, f"same{turn}", dim=2) for node in cluster.nodes for _ in range(4)]
            assert all(one.result(TIMEOUT).value_length == 2 for one in same)
            other = [
                pool.submit(node.table, f"other{turn}", dim=rank + 1)
                for rank, node in enumerate(cluster.nodes)
            ]
            errors = [one.exception(TIMEOUT) for one in other]
            refused = [str(error) for error in errors if isinstance(error, ValueError)]
            assert len(refused) == 3
            assert len(set(refused)) == 1
            (made,) = (one.result() for one, error in zip(other, errors, strict=True) if error is None)
            assert f"is there with other options: capacity=1000000 lengths={made.value_length} " in refused[0]
            assert [node.table(f"other{turn}").value_length for node in cluster.nodes] == [
                made.value_length
            ] * 4


def test_a_name_alone_waits_for_another_process_to_make_the_table() -> None:
    with Cluster(2, 10) as cluster, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cluster.nodes[1].table, "users", timeout=TIMEOUT)
        with pytest.raises(pyps.WaitTimeoutError, match="no node has declared table 'users' in time"):
            cluster.nodes[0].table("users", timeout=0.05)
        assert not waiting.done()
        cluster.nodes[0].table("users", dim=3)
        assert waiting.result(TIMEOUT).value_length == 3


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1, 3])
def test_a_dropped_table_is_gone_everywhere_and_can_be_made_anew(nodes: int) -> None:
    with Cluster(nodes, 10) as cluster:
        last = cluster.nodes[-1]
        for dim in (1, 2, 3):
            table = cluster.nodes[0].table("users", dim=dim)
            workers = [node.table("users").worker() for node in cluster.nodes]
            for kv in workers:
                kv.push([5], ones(1, dim))
            assert workers[0].pull([5]).tolist() == [[nodes] * dim]
            last.drop_table("users", timeout=TIMEOUT)
            assert last.table_names() == []
            end = time.monotonic() + TIMEOUT
            while any(node.table_names() for node in cluster.nodes):
                assert time.monotonic() < end
            for kv in workers:
                with pytest.raises(pyps.ClosedError, match="table 'users' was dropped"):
                    kv.pull([5])
                kv.finalize(timeout=0)
            assert not table.is_open
        with pytest.raises(RuntimeError, match="there is no table 'users'"):
            last.drop_table("users")


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3])
def test_calls_that_a_drop_ends_say_so(count: int) -> None:
    """Never that a node was lost: the other parts of a table stay until no node's workers use it."""
    said: list[str] = []

    def use(kv: pyps.Worker, number: int) -> None:
        random = np.random.default_rng(number)
        try:
            while True:
                kv.push(random.choice(50, 5), ones(5, 1))
                kv.localize(random.choice(50, 5), asynchronous=True)
        except pyps.Error as error:
            said.append(f"{type(error).__name__}: {error}")

    with Cluster(count, 10) as cluster, ThreadPoolExecutor(2 * count) as pool:
        for turn in range(5):
            workers = [node.table("users", dim=1).worker() for node in cluster.nodes for _ in range(2)]
            running = [pool.submit(use, kv, number) for number, kv in enumerate(workers)]
            time.sleep(0.05)
            cluster.nodes[turn % count].drop_table("users", timeout=TIMEOUT)
            for one in running:
                one.result(TIMEOUT)
            for kv in workers:
                kv.finalize(timeout=0)
    assert len(said) == 10 * count
    assert set(said) == {"ClosedError: table 'users' was dropped"}


def test_clocks_and_ends_of_a_worker_s_tables() -> None:
    with pyps.Server(10) as server:
        server.table("users", dim=1)
        kv = server.worker()
        kv.advance_clock()
        kv.advance_clock()
        table = kv.table("users")
        assert kv.table("users") is table
        assert table.current_clock() == 2
        assert kv.advance_clock() == table.current_clock() == 3
        kv.finalize()
        assert table.id == 0
        with pytest.raises(pyps.ClosedError):
            table.pull([1])


def test_a_worker_s_table_is_opened_again_after_it_was_dropped_or_finalized() -> None:
    with pyps.Server(10) as server, server.worker() as kv:
        for turn in range(3):
            server.table("users", dim=turn + 1)
            table = kv.table("users")
            assert table.pull([1]).shape == (1, turn + 1)
            assert kv.advance_clock() == table.current_clock() == 2 * turn + 1
            server.drop_table("users")
            assert kv.advance_clock() == 2 * turn + 2
        server.table("users", dim=1)
        table = kv.table("users")
        table.finalize()
        kv.advance_clock()
        assert kv.table("users") is not table
        assert kv.table("users").current_clock() == 7


@pytest.mark.slow
def test_processes_that_attach_make_use_and_drop_tables(program: Program) -> None:
    with pyps.Server(10) as server:
        server.table("mine", dim=2)
        process = program(
            "node = pyps.attach(sys.argv[1])\n"
            "node.table('theirs', dim=3, optimizer='sgd:lr=1')\n"
            "with node.worker() as kv:\n"
            "    kv.table('mine').push([1], np.ones(2, np.float32))\n"
            "    kv.table('theirs').push([1], np.ones(3, np.float32))\n"
            "print(node.table_names(), flush=True)\n"
            "sys.stdin.readline()\n"
            "node.drop_table('theirs')\n"
            "print(node.table_names())\n"
            "for call in (lambda: node.table('mine', dim=5), lambda: node.table('nobody', timeout=0.1),\n"
            "             lambda: node.drop_table('nobody'), lambda: node.table('mine').table('inner', dim=1)):\n"
            "    try:\n"
            "        call()\n"
            "    except (ValueError, RuntimeError, pyps.WaitTimeoutError) as error:\n"
            "        print(error)\n",
            server.address,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "['mine', 'theirs']\n"
        with server.worker() as kv:
            assert kv.table("mine").pull([1]).tolist() == [[1, 1]]
            assert kv.table("theirs").pull([1]).tolist() == [[-1, -1, -1]]
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        assert finish(process).splitlines() == [
            "['mine']",
            "table 'mine' is there with other options: capacity=1000000 lengths=2 dtype=float32",
            "no node has declared table 'nobody' in time",
            "there is no table 'nobody'",
            "a table has no tables",
        ]


@pytest.mark.threads_after_fork
def test_a_forked_child_uses_the_tables_that_its_parent_has() -> None:
    with pyps.Server(10) as server:
        table = server.table("users", dim=1)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                with table.worker() as kv:
                    kv.push([1], ones(1, 1))
                with pytest.raises(
                    ValueError, match="a forked process opens tables of a node that it has attached"
                ):
                    server.table("more", dim=1)
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0
        with table.worker() as kv:
            assert kv.pull([1]).tolist() == [[1]]


def test_a_node_that_cannot_make_its_part_is_named() -> None:
    """An address range that no host has; then the name is free again."""
    with Cluster(2, 10) as cluster:
        with pytest.raises(
            RuntimeError, match=r"table 'huge' could not be made: on node [01], no range of \d+ addr"
        ):
            cluster.nodes[1].table("huge", dim=1 << 28, num_keys=(1 << 32) - 1)
        assert cluster.nodes[0].table("huge", dim=1, num_keys=3).num_keys == 3


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
def test_after_a_loss_tables_go_on_but_none_is_made(lost: int) -> None:
    with Cluster(3, 10, on_loss="continue", heartbeat=0.1, lost_after=0.5) as cluster:
        alive = [node for node in cluster.nodes if node.rank != lost]
        alive[0].table("users", dim=1)
        with alive[0].table("users").worker() as kv:
            mine = [key for key in range(30) if key % 3 != lost]
            kv.localize(mine)
            kv.push(mine, ones(len(mine), 1))
            cluster.nodes[lost].shutdown(timeout=0)
            end = time.monotonic() + TIMEOUT
            while alive[0].stats()["nodes_lost"] == 0 and time.monotonic() < end:
                try:
                    alive[0].table("more", dim=1, timeout=0.1)
                except pyps.NodeLost as error:
                    assert f"node {lost} was lost or has left" in str(error)  # noqa: PT017
                    break
                except (pyps.WaitTimeoutError, RuntimeError):
                    continue
            assert alive[1].table("users").value_length == 1


def test_arguments_that_are_wrong() -> None:
    with pyps.Server(10) as server, server.worker() as kv:
        for name in ("", "a/b", "a b", "x" * 64, "ü"):
            with pytest.raises(ValueError, match="is no name of a table: 1 to 63 letters, digits"):
                server.table(name, dim=1)
        with pytest.raises(ValueError, match=r"it must be in \[1, "):
            server.table("users", dim=0)
        with pytest.raises(ValueError, match="give one of them"):
            server.table("users", dim=1, num_keys=3, capacity=4)
        with pytest.raises(ValueError, match="2 value lengths were given; a table has one"):
            server.table("users", dim=[1, 2], num_keys=2)
        with pytest.raises(TypeError, match="optimizer of table 'users' need dim"):
            server.table("users", optimizer="sgd")
        with pytest.raises(ValueError, match="optimizer adagrat is unknown"):
            server.table("users", dim=1, optimizer="adagrat")
        with pytest.raises(ValueError, match="timeout is -1"):
            server.table("users", dim=1, timeout=-1)
        with pytest.raises(ValueError, match="a table has no tables"):
            server.table("users", dim=1).table("inner", dim=1)
        with pytest.raises(pyps.WaitTimeoutError):
            kv.table("nobody", timeout=0.05)
        assert server.table_names() == ["users"]
    with pytest.raises(pyps.ClosedError):
        server.table("users")
    server = pyps.Server(10, num_nodes=2, rank=0)
    with pytest.raises(RuntimeError, match="a node has tables when it is connected"):
        server.table("users", dim=1)
    server.shutdown(timeout=0)


def test_classes_of_keys_have_lengths_of_their_own() -> None:
    with pyps.Server(10) as server:
        table = server.table("users", dim=[1, 3])
        with table.worker() as kv:
            keys = pyps.classed_keys(1, [5])
            assert kv.pull(keys).shape == (3,)
            assert table.get_key_size(5) == 1


def test_a_table_samples_and_is_saved_like_a_server(tmp_path: Path) -> None:
    with pyps.Server(10) as server, server.worker() as kv:
        table = server.table("items", dim=2, num_keys=8, optimizer="adagrad:lr=0.1")
        table.enable_sampling("naive", "uniform", 0, 8, with_replacement=True, seed=1)
        items = kv.table("items")
        keys = np.empty(5, np.int64)
        items.pull_sample(items.prepare_sample(5, 0), keys, np.empty((5, 2), np.float32))
        assert set(keys) <= set(range(8))
        items.push(np.arange(8), ones(8, 2))
        before = items.pull(np.arange(8))
        checkpoint.save(tmp_path / "items", table)
    with Cluster(2, 10) as cluster, ThreadPoolExecutor(2) as pool:
        cluster.nodes[0].table("items", dim=2, num_keys=8, optimizer="adagrad:lr=0.1")
        list(pool.map(lambda node: checkpoint.load(tmp_path / "items", node.table("items")), cluster.nodes))
        with cluster.nodes[1].table("items").worker() as kv:
            assert (kv.pull(np.arange(8)) == before).all()


def test_a_server_that_shuts_down_ends_waits_for_tables() -> None:
    server = pyps.Server(10)
    failures: list[BaseException | None] = []

    def wait() -> None:
        try:
            server.table("nobody", timeout=TIMEOUT)
        except Exception as error:
            failures.append(error)

    server.table("users", dim=1)
    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    server.shutdown()
    thread.join(TIMEOUT)
    (failure,) = failures
    assert isinstance(failure, pyps.ClosedError)
