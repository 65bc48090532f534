"""What is trained: small, to see that it runs and learns, or large enough to time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from examples.apps.corpus import king_james
from examples.apps.entries import made
from examples.apps.knowledge_graph import KnowledgeGraph
from examples.apps.matrix_factorization import MatrixFactorization
from examples.apps.task import Task
from examples.apps.triples import wordnet_verbs
from examples.apps.word2vec import Word2Vec


@dataclass(frozen=True)
class App:
    """A task in two sizes.

    Attributes
    ----------
    title : str
    small, large : callable
        They make the task.
    epochs, large_epochs : int
        Of the small one, and of the large one.
    reached, tolerance : float
        The quality that the small one reaches after its epochs, and how far it differs from run to run.
    chance : float
        The quality of someone who knows nothing.
    """

    title: str
    small: Callable[[], Task]
    large: Callable[[], Task]
    epochs: int
    large_epochs: int
    reached: float
    tolerance: float
    chance: float


def _factorization(order: str) -> App:
    return App(
        f"matrix factorization, {order}",
        lambda: MatrixFactorization(made(400, 200, 20_000, 4), order, rank=8, batch_size=1024),
        lambda: MatrixFactorization(made(), order),
        epochs=8,
        large_epochs=6,
        reached=0.62,
        tolerance=0.03,
        chance=1.12,
    )


def _graph(model: str, title: str) -> App:
    return App(
        title,
        lambda: KnowledgeGraph(wordnet_verbs(500), model, width=16, batch_size=128, negatives=64),
        lambda: KnowledgeGraph(wordnet_verbs(), model),
        epochs=15,
        large_epochs=8,
        reached=0.6,
        tolerance=0.15,
        chance=0.014,
    )


APPS = {
    "dsgd": _factorization("dsgd"),
    "columns": _factorization("columns"),
    "plain": _factorization("plain"),
    "complex": _graph("complex", "knowledge graph, ComplEx"),
    "rescal": _graph("rescal", "knowledge graph, RESCAL"),
    "word2vec": App(
        "word2vec",
        lambda: Word2Vec(king_james(verses=6000), width=16, window=3),
        lambda: Word2Vec(king_james(), window=3),
        epochs=4,
        large_epochs=3,
        reached=0.06,
        tolerance=0.15,
        chance=0.005,
    ),
}
