"""torch is imported when it is first needed: by several threads at once, and whatever Ctrl-C does meanwhile."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

RACE = """
import sys, threading
sys.setswitchinterval(1e-6)
import numpy as np
import bridge
states = [bridge.Lua() for _ in range(8)]
start = threading.Barrier(8)
failed = []

def work(lua):
    try:
        start.wait()
        import torch
        x = torch.ones(4)
        assert lua.eval("(...):sum()", x) == 4
    except BaseException as error:
        failed.append(repr(error))

threads = [threading.Thread(target=work, args=(lua,)) for lua in states]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed
"""
# Ctrl-C comes while what the program does imports torch; the import ends, then Ctrl-C has its effect.
INTERRUPTED = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import bridge
{before}
assert "torch" not in sys.modules
stop = threading.Event()

def press():
    while "torch._torch_docs" not in sys.modules:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
    stop.set()

thread = threading.Thread(target=press)
thread.start()
try:
    {use}
    time.sleep(10)
except KeyboardInterrupt:
    print("interrupted")
thread.join()
import torch
assert torch.ones(3).add(1).sum() == 6
assert bridge.Lua().eval("(...):sum()", torch.ones(4)) == 4
"""
USES = {
    "a state that gives torch tensors": ("", "bridge.Lua(tensors='torch')"),
    "an operator of Lua": (
        "lua = bridge.Lua(); lua.require('torch')",
        "lua.eval('torch.inverse(torch.eye(3))')",
    ),
    "a file of tensors": (
        "import numpy, tempfile; f = tempfile.mktemp(); bridge.t7.save(numpy.ones(3), f)",
        "bridge.t7.load(f, tensors='torch')",
    ),
    "a conversion": ("", "bridge.to_torch"),
    "modules of Lua": ("", "bridge.nn"),
}


@pytest.mark.long
def test_threads_that_use_torch_first_at_the_same_time() -> None:
    for _ in range(3):
        subprocess.run([sys.executable, "-c", RACE], check=True, timeout=60)


@pytest.mark.parametrize("name", USES)
def test_ctrl_c_does_not_break_an_import_of_torch(name: str) -> None:
    before, use = USES[name]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(before=before, use=use)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr
