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


def need(extra: str) -> None:
    """Say before any work what is missing, and how to get it.

    Raises
    ------
    CommandError
        A package of the extra is not installed.
    """
    missing = [name for name in EXTRAS[extra] if find_spec(name) is None]
    if missing:
        are = "package is" if len(missing) == 1 else "packages are"
        raise CommandError(f"the {are} missing: {', '.join(missing)}; pip install 'moontide[{extra}]'")
