"""Devices that a test is for: torch's CPU, a GPU where there is any, and one that every machine has (far.cpp)."""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import sysconfig
from pathlib import Path

import pytest
import torch
from torch.utils.backend_registration import _DummyBackendModule

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("far.cpp")
WANTS_FAR = "MOONTIDE_TEST_DEVICE_FAR"


def _load_far() -> str:
    """Build the device that no CPU can read, and make it known to this process.

    That has to be before the first backward, when torch makes a thread for each device.
    """
    root = Path(torch.__file__).parent
    built = ROOT / f"build/far/{torch.__version__}.so"
    built.parent.mkdir(parents=True, exist_ok=True)
    compiler = shlex.split(str(sysconfig.get_config_var("CXX")))[0]
    flags = ["-std=c++20", "-O1", "-shared", "-fPIC", f"-I{root / 'include'}", f"-L{root / 'lib'}"]
    flags += [f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}"]
    with built.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists() or built.stat().st_mtime < SOURCE.stat().st_mtime:
            command = [compiler, *flags, str(SOURCE), "-o", str(built), "-lc10", "-ltorch_cpu"]
            subprocess.run(command, check=True, timeout=300)
    torch.ops.load_library(str(built))
    torch.utils.rename_privateuse1_backend("far")
    torch._register_device_module("far", _DummyBackendModule())  # type: ignore[no-untyped-call]
    torch.utils.generate_methods_for_privateuse1_backend()
    return "far"


# With these ids, so that a run may choose: `make gpu` takes gpu, test_far.py far.
DEVICES = {"cpu": "cpu"}
if torch.cuda.is_available():
    DEVICES["gpu"] = "cuda"
if os.environ.get(WANTS_FAR):
    DEVICES["far"] = _load_far()

on_each = pytest.mark.parametrize(
    "device", [torch.device(name) for name in DEVICES.values()], ids=list(DEVICES)
)
