"""The packages that some commands need beside Moontide's own, by the extra that installs them."""

from __future__ import annotations

from importlib.util import find_spec

from moontide.errors import CommandError

# What is imported, for each extra that a command can ask for.
EXTRAS = {
    "completion": ("shtab",),
    "demo": ("matplotlib", "rich", "sklearn"),
    "onnx": ("onnx", "onnxscript"),
    "safetensors": ("safetensors",),
    "serve": (
        "google.protobuf",
        "grpc",
        "httptools",
        "orjson",
        "prometheus_client",
        "starlette",
        "uvicorn",
        "uvloop",
    ),
    "spark": ("pandas", "pyarrow", "pyspark"),
}


def missing(extra: str) -> list[str]:
    """Return the names of an extra's packages that are not installed."""
    return [name for name in EXTRAS[extra] if not _is_here(name)]


def _is_here(name: str) -> bool:
    """Tell whether a package can be found, also one inside another that is not here either."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what `name` lies in
        return False


def need(extra: str) -> None:
    """Say before any work what is missing, and how to get it.

    Raises
    ------
    CommandError
        A package of the extra is not installed.
    """
    if names := missing(extra):
        are = "package is" if len(names) == 1 else "packages are"
        raise CommandError(f"the {are} missing: {', '.join(names)}; pip install 'moontide[{extra}]'")
