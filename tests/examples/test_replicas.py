"""What keeps the quality where nodes have replicas: fresh values, samples by the weights, bounded first steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from benchmarks.apps import spread
from examples.apps.cluster import Place, run
from examples.apps.layout import Layout
from examples.apps.management import FOR_EVER, MANAGEMENTS
from examples.apps.task import Batch, Sampled, Stage
from examples.apps.training import BEHIND, end_clock, train

TURNS = 50
KEYS = np.arange(8)
WORDS, DRAWN, SAMPLES = 500, 64, 5


def take_turns(place: Place) -> list[float]:
    """Let all add 1 in a batch, and look at the keys that live here after as many more as owners may lack, and one."""
    kv, management = place.kv, MANAGEMENTS["intent"]
    management.tell(kv, KEYS, kv.current_clock(), FOR_EVER, True)
    kv.wait_sync()
    kv.barrier()
    here = KEYS[place.node :: place.nodes]
    sums = []
    for _ in range(TURNS):
        kv.push(KEYS, np.ones(len(KEYS), np.float32), asynchronous=True)
        for _ in range(BEHIND + 1):
            end_clock(kv, management)
            kv.barrier()
        values = np.empty(len(here), np.float32)
        kv.pull(here, values)
        assert (values == values[0]).all()
        sums.append(float(values[0]))
        kv.barrier()
    return sums


def draw(place: Place, management: str) -> list[list[int]]:
    """Draw some samples of rare and frequent words, while each node uses words of its own."""
    kv, way = place.kv, MANAGEMENTS[management]
    layout = Layout(((WORDS, 1),), Sampled(0, DRAWN, 1.0 / np.arange(1, WORDS + 1)))
    layout.enable_sampling(place.server, way.sampling)
    way.tell(kv, np.arange(place.node, WORDS, place.nodes), 0, FOR_EVER, True)
    place.barrier()
    drawn = []
    for _ in range(SAMPLES):
        keys, values = np.empty(DRAWN, np.int64), np.empty((DRAWN, 2), np.float32)
        kv.pull_sample(kv.prepare_sample(DRAWN, kv.current_clock()), keys, values)
        drawn.append(keys.tolist())
    return drawn


@dataclass
class Slope:
    """A task with one parameter and a loss that falls evenly; its quality is the parameter."""

    first_sum: float
    rate: float = 0.5
    slope: float = 0.1
    metric: str = "place"
    groups: Sequence[tuple[int, int]] = ((1, 1),)
    sampled: None = None

    def initial(self) -> list[torch.Tensor]:
        return [torch.zeros(1, 1)]

    def own_keys(self, worker: int, workers: int) -> None:
        return None

    def stages(self, worker: int, workers: int, epoch: int) -> Iterator[Stage]:
        yield Stage([Batch((np.zeros(1, np.int64),), ())])

    def loss(self, parameters: Sequence[torch.Tensor], batch: Batch) -> torch.Tensor:
        return self.slope * parameters[0].sum()

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        return float(parameters[0])


@pytest.mark.slow
def test_owners_lack_no_more_than_the_last_batches() -> None:
    """Without waiting, they lack what was pushed in the milliseconds between two exchanges."""
    lengths = np.ones(len(KEYS), np.int64)
    of_workers = run(
        take_turns, value_lengths=lengths, nodes=2, techniques="replication_only"
    )  # keys stay at home
    assert of_workers == [[2.0 * (turn + 1) for turn in range(TURNS)]] * 2


@pytest.mark.long
def test_negative_samples_do_not_depend_on_where_keys_are() -> None:
    lengths = np.full(WORDS, 2)
    drawn = {management: run(draw, management, value_lengths=lengths, nodes=2) for management in MANAGEMENTS}
    assert drawn["intent"] == drawn["relocation"] == drawn["classic"]


@pytest.mark.slow
@pytest.mark.parametrize("first_sum", [0.0, 1.0])
def test_a_first_sum_bounds_the_first_step(first_sum: float) -> None:
    """Without it the step is as long as can be, however small the gradient."""
    [epoch] = train(Slope(first_sum), nodes=1, epochs=1)
    assert epoch.quality == pytest.approx(-0.5 * 0.1 / (first_sum + 0.1**2) ** 0.5, rel=1e-5)


@pytest.mark.slow
def test_the_experiment_prints_the_spread_of_each_place(capsys: pytest.CaptureFixture[str]) -> None:
    spread.main(["plain", "--nodes", "1", "--seeds", "2", "--without", "sampling"])
    _, *lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["plain, 1 x 1 intent", "plain, 1 x 4 intent"]
    for line in lines:
        mean, deviation, least, greatest = (float(number) for number in re.findall(r"\d\.\d{3}", line))
        assert least <= mean <= greatest
        assert deviation <= greatest - least + 0.001 < 0.1  # they are rounded


def test_the_experiment_takes_away_what_is_named_and_no_more() -> None:
    task, intent = spread.TASKS["plain"][0](), MANAGEMENTS["intent"]
    assert spread.without([], task, intent) == (task, intent)
    assert spread.without(["sync"], task, intent) == (task, replace(intent, replicates=False))
    assert spread.without(["sampling"], task, intent) == (task, replace(intent, sampling="local"))
    assert spread.without(["first-sum"], task, intent)[0].first_sum == 0
    assert spread.without(["sync", "sampling"], task, MANAGEMENTS["classic"]) == (
        task,
        MANAGEMENTS["classic"],
    )
