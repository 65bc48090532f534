"""Nodes with their sockets and threads in native programs: exact sums, hostile messages, failed operations."""

from __future__ import annotations

from pathlib import Path

import zmq

from tests.pyps.native import Programs, native, times


def zmq_library() -> str:
    """The ZeroMQ library that came with pyzmq, else the system's."""
    bundled = sorted(Path(zmq.__file__).parents[1].glob("pyzmq.libs/libzmq*.so*"))
    return str(bundled[0]) if bundled else "libzmq.so.5"


@native
def test_sums_of_a_cluster_are_exact(threaded_programs: Programs) -> None:
    assert threaded_programs.run("cluster", zmq_library(), times(10)) == "ok\n"


@native
def test_nodes_join_while_others_work(threaded_programs: Programs) -> None:
    assert threaded_programs.run("joining", zmq_library()) == "ok\n"


@native
def test_other_rules_of_pushes_hold_while_keys_move_and_workers_are_killed(programs: Programs) -> None:
    assert programs.run("rules", zmq_library(), times(20), times(20)) == "ok\n"


@native
def test_nodes_live_through_hostile_messages(threaded_programs: Programs) -> None:
    output = threaded_programs.run("hostile", zmq_library(), times(8000))
    assert output.startswith("ok: ")


@native
def test_no_failed_operation_is_forgotten_and_few_are_kept(programs: Programs) -> None:
    assert programs.run("failures") == "ok\n"


@native
def test_only_those_with_the_keys_are_admitted(threaded_programs: Programs) -> None:
    assert threaded_programs.run("curve", zmq_library(), times(100)) == "ok\n"


@native
def test_transports_keep_their_promises(threaded_programs: Programs) -> None:
    assert threaded_programs.run("transports", zmq_library(), times(200)) == "ok\n"


@native
def test_threads_of_all_nodes_declare_use_and_drop_tables(threaded_programs: Programs) -> None:
    assert threaded_programs.run("tables", zmq_library(), times(10)) == "ok\n"
