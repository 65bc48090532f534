"""What is read from the environment, and which place in a cluster follows from it."""

from __future__ import annotations

import pytest

from pyps.rendezvous.environment import Torchrun, read_environment
from pyps.rendezvous.places import place_of_node, place_under_torchrun

TORCHRUN = {"RANK": "3", "WORLD_SIZE": "8", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500"}
LOCAL = {"LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "1", "GROUP_WORLD_SIZE": "4"}
DMLC = {
    "DMLC_ROLE": "server",
    "DMLC_NUM_SERVER": "4",
    "DMLC_PS_ROOT_URI": "10.0.0.1",
    "DMLC_PS_ROOT_PORT": "9091",
}


def under_torchrun(**changes: str) -> Torchrun:
    found = read_environment({**TORCHRUN, **LOCAL, **changes}).torchrun
    assert found is not None
    return found


def test_an_empty_environment_says_nothing() -> None:
    found = read_environment({})
    assert (found.torchrun, found.dmlc, found.interface, found.curve) == (None, None, None, None)


def test_the_address_of_a_store_alone_is_no_cluster() -> None:
    assert read_environment({"MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500"}).torchrun is None


def test_torchrun_is_read() -> None:
    run = under_torchrun(TORCHELASTIC_USE_AGENT_STORE="True", TORCHELASTIC_RESTART_COUNT="2")
    assert (run.rank, run.world_size, run.local_rank, run.local_world_size) == (3, 8, 1, 2)
    assert (run.group_rank, run.group_world_size) == (1, 4)
    assert (run.host, run.port, run.has_store, run.restart) == ("10.0.0.1", 29500, True, "2")


def test_without_a_host_for_each_process_it_is_one_by_itself() -> None:
    run = read_environment(TORCHRUN).torchrun
    assert run is not None
    assert (run.local_rank, run.local_world_size, run.group_rank, run.group_world_size) == (0, 1, 3, 8)


def test_dmlc_is_read() -> None:
    dmlc = read_environment(DMLC).dmlc
    assert dmlc is not None
    assert (dmlc.is_scheduler, dmlc.num_servers, dmlc.host, dmlc.port) == (False, 4, "10.0.0.1", 9091)


def test_the_address_of_a_node_goes_before_its_interface() -> None:
    assert read_environment({"DMLC_INTERFACE": "eth0"}).interface == "eth0"
    assert read_environment({"DMLC_INTERFACE": "eth0", "DMLC_NODE_HOST": "10.0.0.2"}).interface == "10.0.0.2"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({**TORCHRUN, "RANK": "one"}, "RANK is 'one' in the environment; it must be a whole number"),
        ({**TORCHRUN, "RANK": "8"}, "RANK is 8 in the environment; it must be below 8"),
        ({**TORCHRUN, "RANK": "-1"}, "RANK is -1 in the environment; it must be at least 0"),
        ({**TORCHRUN, **LOCAL, "LOCAL_RANK": "2"}, "LOCAL_RANK is 2 .* below 2"),
        ({**TORCHRUN, **LOCAL, "GROUP_RANK": "4"}, "GROUP_RANK is 4 .* below 4"),
        ({**TORCHRUN, "PYPS_NODES_PER_HOST": "0"}, "PYPS_NODES_PER_HOST is 0 .* at least 1"),
        ({"RANK": "0", "WORLD_SIZE": "2"}, "the environment has no MASTER_ADDR"),
        ({**DMLC, "DMLC_ROLE": "worker"}, "DMLC_ROLE is 'worker' .* 'scheduler' or 'server'"),
        ({**DMLC, "DMLC_PS_ROOT_PORT": ""}, "the environment has no DMLC_PS_ROOT_PORT"),
        ({**DMLC, "DMLC_NUM_SERVER": "0"}, "DMLC_NUM_SERVER is 0 .* at least 1"),
        ({"PYPS_CURVE_PUBLIC": "x"}, "the environment has no PYPS_CURVE_SECRET"),
    ],
)
def test_a_variable_that_is_wrong_is_named(variables: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_environment(variables)


def test_a_host_is_a_node_that_its_first_process_creates() -> None:
    places = [
        place_under_torchrun(under_torchrun(RANK=str(4 + local), LOCAL_RANK=str(local), LOCAL_WORLD_SIZE="4"))
        for local in range(4)
    ]
    assert [(place.node, place.num_nodes, place.creates) for place in places] == [
        (1, 4, local == 0) for local in range(4)
    ]


@pytest.mark.parametrize(("per_host", "processes"), [(1, 1), (2, 2), (2, 4), (2, 5), (3, 7), (4, 8)])
def test_nodes_of_a_host_share_its_processes_evenly(per_host: int, processes: int) -> None:
    places = [
        place_under_torchrun(
            under_torchrun(
                LOCAL_RANK=str(local),
                LOCAL_WORLD_SIZE=str(processes),
                PYPS_NODES_PER_HOST=str(per_host),
            )
        )
        for local in range(processes)
    ]
    members = [[place for place in places if place.node == per_host + index] for index in range(per_host)]
    assert sum(map(len, members)) == processes
    assert max(map(len, members)) - min(map(len, members)) <= 1
    assert all([place.creates for place in node] == [True] + [False] * (len(node) - 1) for node in members)
    assert all(place.num_nodes == 4 * per_host for place in places)


def test_more_nodes_than_processes_are_refused() -> None:
    with pytest.raises(ValueError, match="PYPS_NODES_PER_HOST is 3, but this host has 2 processes"):
        place_under_torchrun(under_torchrun(PYPS_NODES_PER_HOST="3"))


@pytest.mark.parametrize(("node", "num_nodes"), [(2, 2), (-1, 2), (0, 0)])
def test_a_node_outside_the_cluster_is_refused(node: int, num_nodes: int) -> None:
    with pytest.raises(ValueError, match="it must be"):
        place_of_node(node, num_nodes)
