"""Every program learns on one node and on two, and as well whatever way its parameters are managed."""

from __future__ import annotations

from functools import cache

import pytest

from benchmarks.apps.tasks import APPS
from examples.apps.management import MANAGEMENTS
from examples.apps.training import Epoch, train

pytestmark = pytest.mark.slow

RUNS = [(1, "classic"), *((2, management) for management in MANAGEMENTS)]


@cache
def trained(name: str, nodes: int, management: str) -> list[Epoch]:
    app = APPS[name]
    return train(app.small(), nodes=nodes, management=management, epochs=app.epochs)


@pytest.mark.long
@pytest.mark.parametrize(("nodes", "management"), RUNS)
@pytest.mark.parametrize("name", APPS)
def test_a_program_learns(name: str, nodes: int, management: str) -> None:
    app, epochs = APPS[name], trained(name, nodes, management)
    better = app.reached > app.chance
    assert (epochs[-1].quality >= app.reached) if better else (epochs[-1].quality <= app.reached)
    assert epochs[-1].loss < 0.8 * epochs[0].loss


@pytest.mark.long
@pytest.mark.parametrize("management", sorted(set(MANAGEMENTS) - {"classic"}))
@pytest.mark.parametrize("name", APPS)
def test_management_does_not_change_what_is_learnt(name: str, management: str) -> None:
    """Up to the order in which the workers' changes arrive."""
    classic, other = (trained(name, 2, how)[-1].quality for how in ("classic", management))
    assert other == pytest.approx(classic, abs=APPS[name].tolerance)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "dsgd" else pytest.mark.long) for name in APPS]
)
def test_told_ahead_keys_are_local(name: str) -> None:
    """On one node all are, by home half of them."""
    assert trained(name, 1, "classic")[-1].share_local == 1
    assert trained(name, 2, "classic")[-1].share_local == pytest.approx(0.5, abs=0.05)
    assert trained(name, 2, "intent")[-1].share_local > 0.7


def test_four_nodes_with_two_workers_each_learn() -> None:
    app = APPS["dsgd"]
    epochs = train(app.small(), nodes=4, workers=2, management="relocation", epochs=app.epochs)
    assert epochs[-1].quality <= app.reached
    assert epochs[-1].share_local > 0.9


def test_an_unknown_management_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'magic'.*classic, relocation, intent"):
        train(APPS["dsgd"].small(), management="magic")
