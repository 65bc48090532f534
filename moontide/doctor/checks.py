"""The checks, by the name of what they look at: each uses the part as a program would.

What a check raises becomes its finding, so none catches what it does not expect. To add one, write a function and enter
it into `CHECKS`.
"""

from __future__ import annotations

import platform
import re
import resource
import shutil
import subprocess
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from moontide.doctor.finding import Finding
from moontide.extras import EXTRAS, missing

OLDEST_JAVA = 17  # of Spark 4
FEW_DESCRIPTORS = 4096  # a worker of a cluster needs some for each node
LITTLE_MEMORY = 2 << 30
PATIENCE = 20.0  # seconds that other programs get to tell their version


def python() -> Finding:
    """Look at this interpreter and its platform."""
    return Finding(state="ok", detail=f"{platform.python_version()}, {platform.platform()}")


def luajit() -> Finding:
    """Run a loop in a Lua state, and see whether it compiles."""
    import bridge

    with bridge.Lua() as lua:
        lua.execute("local s = 0 for i = 1, 1000 do s = s + i end assert(s == 500500)")
        name, compiles = lua.eval("jit.version, (jit.status())")
    if not compiles:
        return Finding(
            state="limited", detail=f"{name}, interpreted only: programs are 10 to 100 times slower"
        )
    return Finding(state="ok", detail=f"{name}, lupa {version('lupa')}")


def torch() -> Finding:
    """Run a Torch7 network on the kernels of PyTorch."""
    import torch

    import bridge

    with bridge.Lua() as lua:
        lua.require("nn")
        code = "local m = nn.Linear(3, 2) m.weight:fill(1) m.bias:fill(1) return m:forward(...):sum()"
        total = lua.execute(code, torch.ones(3, dtype=torch.float64))
    if total != 8:
        return Finding(
            state="broken", detail=f"torch {torch.__version__}: a linear layer gave {total}, not 8"
        )
    threads = torch.get_num_threads()
    return Finding(state="ok", detail=f"torch {torch.__version__}, {threads} thread{'s' * (threads != 1)}")


def gpu() -> Finding:
    """Sum on a GPU of torch."""
    import torch

    if not torch.cuda.is_available():
        built = torch.version.cuda
        why = f"torch is built for CUDA {built} and finds none" if built else "torch is built without CUDA"
        remedy = "MOONTIDE_CUDA=cpu runs programs that were written for a GPU on the CPU"
        return Finding(state="absent", detail=why, remedy=remedy)
    total = torch.ones(8, device="cuda").sum().item()
    assert total == 8, f"the sum of eight ones is {total}"
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return Finding(state="ok", detail=f"{', '.join(names)}; CUDA {torch.version.cuda}")


def server() -> Finding:
    """Pull what was pushed to a parameter server in shared memory."""
    import numpy

    import pyps

    with pyps.Server(num_keys=4, value_length=2) as node, node.worker() as kv:
        pulled = numpy.zeros((2, 2), numpy.float32)
        kv.push([1, 2], numpy.ones((2, 2), numpy.float32))
        kv.pull([1, 2], pulled)
    assert (pulled == 1).all(), f"pushed ones, pulled {pulled.tolist()}"
    return Finding(state="ok", detail="pull and push in shared memory")


def zeromq() -> Finding:
    """Look at the library between nodes, and its encryption."""
    import zmq

    detail = f"libzmq {zmq.zmq_version()}, pyzmq {zmq.pyzmq_version()}"
    if not zmq.has("curve"):
        remedy = "pip install pyzmq brings a libzmq with CURVE"
        return Finding(
            state="limited", detail=f"{detail}, without CURVE: nodes cannot encrypt", remedy=remedy
        )
    return Finding(state="ok", detail=f"{detail}, with CURVE")


def memory() -> Finding:
    """Look at the memory that is available, and what torch's own workers get in /dev/shm."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    kibibytes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    available = kibibytes["MemAvailable"] << 10
    shared = shutil.disk_usage("/dev/shm").free if Path("/dev/shm").is_dir() else 0
    detail = f"{available / 2**30:.1f} GiB available, {shared / 2**30:.1f} GiB free in /dev/shm"
    if min(available, shared) < LITTLE_MEMORY:
        remedy = "stores larger than that are refused; in a container: --memory, --shm-size"
        return Finding(state="limited", detail=detail, remedy=remedy)
    return Finding(state="ok", detail=detail)


def whole_memory() -> Finding:
    """Share a tensor with ourselves, and look at what may be promised and whether its pages can be large."""
    import torch

    from pyps.wholememory import layout, memory, room

    mapping, layouts = memory.adopt(memory.create([layout.check_layout([1000], [], torch.float32)]))
    total = memory.as_tensor(mapping, layouts[0]).fill_(1).sum()
    if total != 1000:
        return Finding(state="broken", detail=f"a tensor of ones gave {total}, not 1000")
    switch = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
    pages = re.search(r"\[(\w+)\]", switch.read_text(encoding="ascii")) if switch.exists() else None
    large = pages[1] if pages else "not known"
    return Finding(
        state="ok",
        detail=f"{room.room() / 2**30:.1f} GiB may be promised; large pages of shared memory: {large}",
    )


def limits() -> Finding:
    """Look at how many descriptors, threads and bytes this user may have."""
    descriptors, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    processes, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    detail = f"{_limit(descriptors)} descriptors of {_limit(most)}, {_limit(processes)} threads, {_limit(space)} bytes"
    if descriptors != resource.RLIM_INFINITY and descriptors < FEW_DESCRIPTORS:
        remedy = f"for clusters of many nodes or workers: ulimit -n {FEW_DESCRIPTORS} or more"
        return Finding(state="limited", detail=detail, remedy=remedy)
    return Finding(state="ok", detail=detail)


def _limit(value: int) -> str:
    return "unlimited" if value == resource.RLIM_INFINITY else f"{value:,}"


def plain_luajit() -> Finding:
    """Look for a LuaJIT without Python, which luaps works in too."""
    program = shutil.which("luajit")
    if program is None:
        remedy = "only plain Lua workers need it (Debian: apt-get install luajit)"
        return Finding(state="absent", detail="there is no luajit on PATH", remedy=remedy)
    return Finding(state="ok", detail=_first_line(program, "-v"))


def spark() -> Finding:
    """Look for Java and PySpark, for models inside of Spark's tasks."""
    program = shutil.which("java")
    wanted, found = [], []
    if program is None:
        wanted.append("Java (Debian: apt-get install default-jre-headless)")
    else:
        line = _first_line(program, "-version")
        number = re.search(r'version "(?:1\.)?(\d+)', line)
        found.append(line)
        if number and int(number[1]) < OLDEST_JAVA:
            wanted.append(f"Java {OLDEST_JAVA} or newer")
    try:
        found.append(f"pyspark {version('pyspark')}")
    except PackageNotFoundError:
        wanted.append("PySpark (pip install 'moontide[spark]')")
    detail = ", ".join(found) or "neither Java nor PySpark is here"
    if wanted:
        return Finding(state="absent", detail=detail, remedy=f"Spark needs {' and '.join(wanted)}")
    return Finding(state="ok", detail=detail)


def _first_line(*command: str) -> str:
    """Return the first line that a program prints; java and luajit have two places for it."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return (done.stdout + done.stderr).splitlines()[0]


def extras() -> Finding:
    """Look for the packages that some commands need beside Moontide's own."""
    lacking = [extra for extra in EXTRAS if missing(extra)]
    here = [extra for extra in EXTRAS if extra not in lacking]
    detail = f"here: {', '.join(here) or 'none'}"
    if lacking:
        remedy = f"pip install 'moontide[{','.join(lacking)}]'"
        return Finding(state="absent", detail=f"{detail}; not here: {', '.join(lacking)}", remedy=remedy)
    return Finding(state="ok", detail=detail)


CHECKS: Mapping[str, Callable[[], Finding]] = {
    "python": python,
    "luajit": luajit,
    "torch": torch,
    "gpu": gpu,
    "server": server,
    "zeromq": zeromq,
    "memory": memory,
    "whole memory": whole_memory,
    "limits": limits,
    "luajit program": plain_luajit,
    "spark": spark,
    "extras": extras,
}
