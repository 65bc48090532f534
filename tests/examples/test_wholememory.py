"""The programs on shared memory learn, with processes of both languages, and leave a picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from examples.wholememory import graphsage, hogwild
from examples.wholememory.powerlaw import generate, sample
from pyps import wholememory as wm


@pytest.mark.long
def test_two_lua_and_two_python_processes_train_one_set_of_weights(capfd: pytest.CaptureFixture[str]) -> None:
    before, after = hogwild.train(steps=300)
    assert before < 0.3
    assert after > 0.9
    lines = capfd.readouterr().out
    assert sorted(re.findall(r"(?:Lua|Python) worker \d", lines)) == [
        "Lua worker 0",
        "Lua worker 1",
        "Python worker 0",
        "Python worker 1",
    ]


@pytest.mark.long
@pytest.mark.parametrize("workers", [(2, 0), (0, 2)])
def test_each_language_alone_trains_them(workers: tuple[int, int]) -> None:
    assert hogwild.train(200, *workers)[1] > 0.85


@pytest.mark.long
def test_processes_train_on_a_shared_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    threads = torch.get_num_threads()
    picture = tmp_path / "graph.png"
    small = ["--nodes", "20000", "--edges", "200000", "--steps", "300", "--processes", "1", "2"]
    graphsage.main([*small, "--out", str(picture)])
    torch.set_num_threads(threads)
    found = [float(text) for text in re.findall(r"accuracy ([\d.]+)", capsys.readouterr().out)]
    assert len(found) == 2
    assert min(found) > 0.75  # of 16 classes
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_graph_has_what_was_asked_for_and_its_neighbours_are_drawn() -> None:
    wm.init_lib()
    wm.mp_init(0, 1)
    graph = generate(1000, 20_000, length=4)
    assert (len(graph.labels), len(graph.neighbours), graph.begins[-1].item()) == (1000, 20_000, 20_000)
    degrees = graph.begins.diff()
    assert degrees.max() > 8 * degrees.double().mean()
    nodes = torch.arange(1000)
    drawn = sample(graph, nodes, 30)
    for node in nodes.tolist():
        begin, end = graph.begins[node], graph.begins[node + 1]
        there = set(graph.neighbours[begin:end].tolist()) or {node}
        assert set(drawn[node].tolist()) <= there
    del graph
    wm.finalize_lib()
