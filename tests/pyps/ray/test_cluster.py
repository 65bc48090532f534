"""Training inside a real Ray: its actors are the nodes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from tests.pages import blocks

pytestmark = pytest.mark.long

Run = Callable[[str], subprocess.CompletedProcess[str]]

COUNT = """
import numpy as np
import pyps.ray

def count(node, batches):
    with node.worker() as kv:
        for batch in batches:
            kv.push(batch["item"], np.ones((len(batch["item"]), 1), np.float32))
"""


def works(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr


def test_actors_on_hosts_of_their_own_are_one_server(run: Run) -> None:
    works(
        run("""
        import numpy as np
        import pyps.ray

        def look(node, base, meet):
            time.sleep(0.5 * node.rank)  # a barrier of workers waits for a node's first one
            with node.worker() as kv:
                if meet:
                    node.barrier()
                kv.set([node.rank], np.full((1, 1), base + node.rank, np.float32))
                kv.barrier()
                return node.rank, node.num_nodes, kv.pull([0, 1])[:, 0].tolist()

        def host(node):
            return ray.util.get_node_ip_address()

        with pyps.ray.Cluster(2, num_keys=2) as cluster:
            assert cluster.run(look, 5, False) == [(0, 2, [5, 6]), (1, 2, [5, 6])]
            assert len(set(cluster.run(host))) == 2
            assert cluster.run(look, 7, True)[0] == (0, 2, [7, 8])  # the server stays
            assert cluster.parameters()[""].values.tolist() == [[7], [8]]
        """)
    )


def test_all_rows_of_a_dataset_train_it(run: Run) -> None:
    works(
        run(
            COUNT
            + """
rows = ray.data.from_items([{"item": number % 10} for number in range(1000)], override_num_blocks=8)
with pyps.ray.Cluster(2, num_keys=10, resources={"CPU": 0.5}) as cluster:
    cluster.run(count, dataset=rows, batch_size=50)
    assert cluster.parameters()[""].values.tolist() == [[100]] * 10
"""
        )
    )


def test_tables_and_checkpoints_of_an_actor_s_node(run: Run) -> None:
    works(
        run("""
        import tempfile
        import numpy as np
        import pyps.ray

        def fill(node):
            node.table("users", dim=2, optimizer=pyps.optim.SGD(lr=0.5))
            with node.worker() as kv:
                kv.table("users").push([7 + node.rank], np.ones((1, 2), np.float32))
                kv.table("users").localize([7, 8])  # nobody waits for it

        def save(node, place):
            pyps.checkpoint.save(place, node)

        with tempfile.TemporaryDirectory() as place:
            with pyps.ray.Cluster(2, capacity=100, value_length=4) as cluster:
                cluster.run(fill)
                found = cluster.parameters()
                cluster.run(save, place)
            assert sorted(found) == ["", "users"]
            assert found[""].keys.tolist() == []
            assert found["users"].keys.tolist() == [7, 8]
            assert found["users"].values.tolist() == [[-0.5, -0.5]] * 2
            with pyps.Server(capacity=100, value_length=4) as server:
                pyps.checkpoint.load(place, server)
                with server.table("users").worker() as kv:
                    assert kv.pull([7, 8]).tolist() == [[-0.5, -0.5]] * 2
        """)
    )


def test_what_fails_on_one_node_ends_all_and_is_told(run: Run) -> None:
    works(
        run("""
        import os, pytest, pyps.ray

        def fail(node):
            with node.worker() as kv:
                if node.rank == 1:
                    raise LookupError("the second one has failed")
                kv.barrier()  # for the other, which does not come

        def end(node):
            if node.rank == 1:
                os._exit(3)
            node.worker().barrier()

        free = ray.available_resources()["CPU"]
        for function, kind, words in ((fail, LookupError, "second one"), (end, ray.exceptions.RayError, "died")):
            cluster = pyps.ray.Cluster(2, num_keys=2)
            with pytest.raises(kind, match=words):
                cluster.run(function)
            with pytest.raises(RuntimeError, match="the cluster has ended"):
                cluster.run(function)
            cluster.close()
        deadline = time.monotonic() + 30
        while ray.available_resources().get("CPU") != free and time.monotonic() < deadline:
            time.sleep(0.05)
        assert ray.available_resources()["CPU"] == free  # the actors are gone
        """)
    )


def test_what_cannot_be_is_refused(run: Run) -> None:
    works(
        run(
            COUNT
            + """
import pytest

with pytest.raises(TypeError, match="rank: the cluster decides that"):
    pyps.ray.Cluster(2, num_keys=2, rank=0)
with pytest.raises(ValueError, match="nodes is 0; it must be at least 1"):
    pyps.ray.Cluster(0, num_keys=2)
with pytest.raises(ValueError, match="adagrid"):
    pyps.ray.Cluster(2, num_keys=2, optimizer="adagrid")
with pytest.raises(ValueError, match="num_keys is -1") as told:
    pyps.ray.Cluster(2, num_keys=-1)
assert told.value.__notes__[0] in ("on node 0 of 2", "on node 1 of 2")
with pytest.raises(TimeoutError, match="no place for 3 nodes .* there are 2 hosts"):
    pyps.ray.Cluster(3, num_keys=2, timeout=1.0)
rows = ray.data.range(10)
with pyps.ray.Cluster(4, num_keys=2, placement="SPREAD") as cluster:
    with pytest.raises(ValueError, match="no CPU is left to read the dataset: Ray has 4, all in use"):
        cluster.run(count, dataset=rows)
    assert cluster.run(lambda node: node.num_nodes) == [4] * 4
ray.shutdown()
with pytest.raises(RuntimeError, match=r"call ray.init\\(\\) before"):
    pyps.ray.Cluster(1, num_keys=2)
"""
        )
    )


def test_what_is_written_of_ray_runs(run: Run) -> None:
    (block,) = (block for block in blocks("docs/engines.md", "py") if "import ray\n" in block)
    works(run(block.replace("ray.init()\n", "")))
