"""Millions of keys: `python -m examples.apps.large matrix`, or `graph`, or `text`, or `clicks`.

The first three are the other programs' models with generated data, which follow from a seed and are never held; the
last is `click_rate.py`. Zipf's law says which keys are used.
"""

from __future__ import annotations

from collections.abc import Callable

from examples.apps import command
from examples.apps.click_rate import ClickRate
from examples.apps.made_graph import MadeGraph
from examples.apps.made_matrix import MadeMatrix
from examples.apps.made_text import MadeText
from examples.apps.rows import LargeTask

TASKS: dict[str, Callable[..., LargeTask]] = {
    "matrix": MadeMatrix,
    "graph": MadeGraph,
    "text": MadeText,
    "clicks": ClickRate,
}


def main() -> None:
    """Train as the command line says."""
    parser = command.parser(__doc__)
    parser.add_argument("task", choices=TASKS)
    command.add_sizes(parser)
    options = parser.parse_args()
    command.run_large(TASKS[options.task], options)


if __name__ == "__main__":
    main()
