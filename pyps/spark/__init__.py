"""A parameter server inside Spark: the tasks of a barrier stage are its nodes, and train on the rows of a DataFrame.

`training` starts them, `node` is what happens in a task, `trained` is what comes back.
"""

from __future__ import annotations

from importlib.util import find_spec

missing = [name for name in ("pyspark", "pandas", "pyarrow") if find_spec(name) is None]
if missing:
    raise ImportError(f"pyps.spark needs {', '.join(missing)}: pip install 'moontide[spark]'")

from pyps.parameters import Parameters  # noqa: E402
from pyps.spark.trained import Trained  # noqa: E402
from pyps.spark.training import train  # noqa: E402

__all__ = ["Parameters", "Trained", "train"]
