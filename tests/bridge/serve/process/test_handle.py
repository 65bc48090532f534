"""A model in a process of its own costs the program one call, whatever it does there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from bridge.serve import CallTimeout, ModelProcess, ProcessLost
from tests.system import descendants

PROGRAM = """
require 'torch'
local ffi = require 'ffi'
ffi.cdef 'int raise(int); int getpid(void);'
local calls, kept = 0, {}
local M = {}
function M.run(what, x)
   calls = calls + 1
   if what == 'echo' then return x
   elseif what == 'double' then return x * 2
   elseif what == 'calls' then return calls
   elseif what == 'loop' then while true do end
   elseif what == 'crash' then ffi.C.raise(11)
   elseif what == 'write' then ffi.cast('int*', 0)[0] = 1
   elseif what == 'tables' then while true do kept[#kept + 1] = {#kept} end
   elseif what == 'tensors' then while true do kept[#kept + 1] = torch.zeros(1e6) end
   elseif what == 'error' then error('no such luck')
   elseif what == 'object' then return {1, {require('nn').Linear(2, 2)}}
   elseif what == 'print' then print('to people') return 1
   end
end
return M
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    program = tmp_path / "model.lua"
    program.write_text(PROGRAM)
    return program


@pytest.fixture
def model(file: Path) -> Iterator[ModelProcess]:
    with ModelProcess(file) as process:
        yield process


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelProcess]:
    """A process of several tests, none of which ends it."""
    program = tmp_path_factory.mktemp("shared") / "model.lua"
    program.write_text(PROGRAM)
    with ModelProcess(program) as process:
        process.call(
            "echo", np.zeros(2_000_000), timeout=60
        )  # mappings that no test needs to replace by larger ones
        yield process


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        float("inf"),
        "text, \u00e4\u0000",
        [],
        [1, [2.5, "three"]],
        {"a": 1, "b": {"c": [True]}},
        b"\xff\x00",
    ],
    ids=str,
)
def test_values_go_there_and_back(shared: ModelProcess, value: Any) -> None:
    assert shared.call("echo", value, timeout=60) == value


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (300, 1000)], ids=str)
def test_arrays_go_there_and_back(shared: ModelProcess, dtype: str, shape: tuple[int, ...]) -> None:
    array = (np.arange(np.prod(shape)).reshape(shape) % 100).astype(dtype)
    result = shared.call("echo", array, timeout=60)
    assert result.dtype == array.dtype
    assert np.array_equal(result, array)
    several = shared.call("echo", [array, array[::-1], {"x": array.T}], timeout=60)
    assert np.array_equal(several[1], array[::-1])
    assert np.array_equal(several[2]["x"], array.T)


def test_results_are_the_caller_s_own(shared: ModelProcess) -> None:
    results = [shared.call("double", np.full(4, n, "f8"), timeout=60) for n in range(5)]
    assert [r.tolist() for r in results] == [[2.0 * n] * 4 for n in range(5)]


@pytest.mark.slow
def test_a_network_of_a_file(tmp_path: Path) -> None:
    with bridge.Lua() as lua:
        lua.execute("require 'nn' torch.save(..., {m = nn.MulConstant(3)})", str(tmp_path / "m.t7"))
    with ModelProcess(tmp_path / "m.t7", key="m") as model:
        assert model.call(np.arange(3.0), timeout=60).tolist() == [0, 3, 6]
        assert model.call([1, 2], timeout=60).tolist() == [3, 6]


@pytest.mark.slow
def test_an_error_leaves_the_process_alone(model: ModelProcess) -> None:
    model.start()
    before = model.pid
    with pytest.raises(bridge.LuaError, match="no such luck") as raised:
        model.call("error", timeout=60)
    assert "traceback" in raised.value.traceback
    with pytest.raises(TypeError, match=r"a nn\.Linear cannot leave its process"):
        model.call("object", timeout=60)
    with pytest.raises(TypeError, match="a object cannot leave its process"):
        model.call("echo", object(), timeout=60)
    assert model.call("calls", timeout=60) == 3
    assert model.pid == before


@pytest.mark.slow
@pytest.mark.parametrize(("what", "reason"), [("crash", "SIGSEGV"), ("write", "SIGSEGV")])
def test_a_crash_costs_its_call(model: ModelProcess, what: str, reason: str) -> None:
    assert model.call("calls", timeout=60) == 1
    before = model.pid
    with pytest.raises(ProcessLost, match=reason):
        model.call(what, timeout=60)
    assert model.pid is None
    assert model.call("calls", timeout=60) == 1  # a new process
    assert model.pid not in (None, before)


@pytest.mark.slow
def test_a_loop_without_end_costs_its_call(model: ModelProcess) -> None:
    model.start()
    began = time.monotonic()
    with pytest.raises(CallTimeout, match=r"no answer within 0\.5 s"):
        model.call("loop", timeout=0.5)
    assert time.monotonic() - began < 5
    assert model.call("double", 4, timeout=60) == 8


@pytest.mark.long
@pytest.mark.parametrize("what", ["tables", "tensors"])
def test_a_model_that_takes_all_memory_costs_its_call(file: Path, what: str) -> None:
    with ModelProcess(file, memory=300 << 20) as model:
        with pytest.raises((MemoryError, bridge.LuaError, ProcessLost)):
            model.call(what, timeout=60)
        assert model.call("double", 4, timeout=60) == 8


LIAR = """
local ffi = require 'ffi'
ffi.cdef 'long write(int, const char*, unsigned long); int close(int);'
local words = {}
for word in io.open('/proc/self/cmdline'):read('*a'):gmatch('%Z+') do
   table.insert(words, word)
end
local connection = tonumber(words[#words - 3]) -- see bridge/serve/process/running.py
function run(text)
   if text == 'close' then
      ffi.C.close(connection)
      while true do end
   elseif text then
      local length = ffi.string(ffi.new('uint32_t[1]', #text), 4)
      assert(ffi.C.write(connection, length .. text, #text + 4) == #text + 4)
   end
   return 42
end
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{]", "what is no message"),
        ("3", "what is no answer"),
        ("{}", "what is no answer"),
        ('{"error": 3}', "what is no answer"),
        ('{"result": {"a": ["d", [1000000000], 0]}}', "what is no value: an array of 1000000000 float64"),
        ('{"result": [1]}', "what is no value"),
        ("close", "it no longer listens"),
    ],
)
def test_a_process_that_lies_costs_its_call(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "liar.lua").write_text(LIAR)
    with ModelProcess(tmp_path / "liar.lua") as model:
        with pytest.raises(ProcessLost, match=told):
            model.call(text, timeout=60)
        assert model.pid is None
        assert model.call(timeout=60) == 42


@pytest.mark.slow
def test_a_killed_process_is_replaced(model: ModelProcess) -> None:
    model.start()
    assert model.pid is not None
    os.kill(model.pid, signal.SIGKILL)
    with pytest.raises(ProcessLost, match="SIGKILL"):
        model.call("calls", timeout=60)
    assert model.call("calls", timeout=60) == 1


@pytest.mark.slow
def test_threads_take_turns(model: ModelProcess) -> None:
    model.start()
    wrong = []

    def work(k: int) -> None:
        for n in range(50):
            x = np.full(100 * k + 1, float(n))
            if not np.array_equal(model.call("double", x, timeout=60), 2 * x):
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert model.call("calls", timeout=60) == 401


@pytest.mark.slow
def test_waiting_for_a_turn_ends_in_time(model: ModelProcess) -> None:
    model.start()

    def loop() -> None:
        with pytest.raises(CallTimeout, match="no answer"):
            model.call("loop", timeout=2.0)

    busy = threading.Thread(target=loop)
    busy.start()
    time.sleep(0.3)
    with pytest.raises(CallTimeout, match=r"no turn within 0\.2 s"):
        model.call("calls", timeout=0.2)
    busy.join(60)
    assert model.call("calls", timeout=60) == 1


@pytest.mark.slow
def test_closing_ends_a_call(file: Path) -> None:
    model = ModelProcess(file)
    model.start()
    ended: list[type] = []

    def work() -> None:
        try:
            model.call("loop", timeout=60)
        except (ProcessLost, CallTimeout) as error:
            ended.append(type(error))

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    model.close()
    thread.join(10)
    assert ended == [ProcessLost]
    with pytest.raises(ValueError, match="was closed"):
        model.call("calls")


@pytest.mark.long
@pytest.mark.parametrize(
    ("content", "error", "told"),
    [
        ("syntax error here", bridge.LuaError, "'=' expected"),
        ("x = 3", ValueError, "it has none"),
        ("require('ffi').cdef 'int raise(int);' require('ffi').C.raise(9)", ProcessLost, "SIGKILL"),
        ("while true do end", CallTimeout, "not loaded within 3 s"),
    ],
)
def test_what_cannot_be_loaded_is_told(tmp_path: Path, content: str, error: type, told: str) -> None:
    (tmp_path / "m.lua").write_text(content)
    with ModelProcess(tmp_path / "m.lua", start_timeout=3) as model, pytest.raises(error, match=told):
        model.start()


@pytest.mark.slow
def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with ModelProcess(tmp_path / "none.lua") as model, pytest.raises(FileNotFoundError, match=r"none\.lua"):
        model.call(1)


@pytest.mark.slow
def test_what_a_model_prints_does_not_disturb(model: ModelProcess, capfd: pytest.CaptureFixture[str]) -> None:
    assert model.call("print", timeout=60) == 1
    model.close()
    assert capfd.readouterr() == ("", "to people\n")


@pytest.mark.slow
def test_a_process_ends_with_its_maker(file: Path) -> None:
    code = (
        "import os, sys, threading, time\n"
        "from bridge.serve import ModelProcess\n"
        "model = ModelProcess(sys.argv[1])\n"
        "model.start()\n"
        "threading.Thread(target=model.call, args=('loop',), daemon=True).start()\n"
        "print(model.pid, flush=True)\n"
        "if os.fork() == 0: time.sleep(60)\n"  # a child keeps what the maker had open
        "time.sleep(60)\n"
    )
    maker = subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE, text=True)
    assert maker.stdout is not None
    with maker, maker.stdout:
        pid = int(maker.stdout.readline())
        time.sleep(0.3)
        others = descendants(maker.pid) - {maker.pid, pid}
        maker.kill()
        until = time.monotonic() + 10
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            time.sleep(0.05)
        gone = not Path(f"/proc/{pid}").exists()
        for other in others:
            os.kill(other, signal.SIGKILL)
    assert gone
