"""Programs of the kinds that people wrote: data sets of pictures, loading threads, command lines, servers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

import bridge

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua(path=[PROGRAMS]) as state:
        yield state


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with two classes: three red pictures, five green ones."""
    root = tmp_path_factory.mktemp("pictures")
    with bridge.Lua() as lua:
        lua.execute("require 'image'")
        for number in range(8):
            folder = root / ("green" if number >= 3 else "red")
            folder.mkdir(exist_ok=True)
            pixels = numpy.zeros((3, 9, 10), numpy.float32)
            pixels[int(number >= 3)] = 1
            name = folder / f"{number}.{'PNG' if number % 2 else 'jpg'}"
            lua.execute("image.save(...)", str(name), pixels)
    return str(root)


def folders(lua: bridge.Lua, data: str, options: str = "") -> None:
    lua.execute("require 'torch'; require 'folders'; torch.manualSeed(1)")
    lua.execute(f"set = Folders{{paths = {{...}}, shape = {{3, 4, 5}}, {options}}}", data)


# ---- a data set in folders


def test_folders_are_classes(lua: bridge.Lua, pictures: str) -> None:
    folders(lua, pictures)
    assert lua.execute("return set:size(), set:size('green'), set:size(2), #set.classes") == (8, 5, 3, 2)
    assert lua.execute("return set.owners").tolist() == [1] * 5 + [2] * 3


def test_paths_come_back_out_of_the_tensor(lua: bridge.Lua, pictures: str) -> None:
    folders(lua, pictures)
    found = [lua.execute("return set:path(...)", number) for number in range(1, 9)]
    assert sorted(found) == sorted(str(path) for path in Path(pictures).glob("*/*"))


def test_samples_have_the_colour_of_their_class(lua: bridge.Lua, pictures: str) -> None:
    folders(lua, pictures)
    data, labels = lua.execute("return set:sample(20)")
    assert data.shape == (20, 3, 4, 5)
    assert data.dtype == numpy.float32
    assert (data.mean((2, 3)).argmax(1) == 2 - labels).all()


def test_a_part_is_kept_for_tests(lua: bridge.Lua, pictures: str) -> None:
    folders(lua, pictures, "split = 60")
    training = lua.execute("return torch.cat(set.training, 1)").tolist()
    assert sorted(training + lua.execute("return set.testing").tolist()) == list(range(1, 9))
    assert len(training) == 5


def test_arguments_are_checked(lua: bridge.Lua) -> None:
    lua.execute("require 'torch'; require 'folders'")
    with pytest.raises(bridge.LuaError, match="invalid arguments"):
        lua.execute("Folders{paths = {3}, shape = {3, 4, 5}}")


# ---- threads that load


@pytest.mark.parametrize("count", [0, 2])
def test_threads_load_batches(lua: bridge.Lua, pictures: str, count: int) -> None:
    lua.execute(
        "require 'torch'; pool = require('donkeys').new(..., {data = select(2, ...), batch = 3, seed = 5})",
        count,
        pictures,
    )
    assert lua.execute("return pool.count") == 8
    for _ in range(4):
        data, labels = lua.execute("return pool:batch()")
        assert data.shape == (3, 3, 6, 6)
        assert set(numpy.unique(labels)) <= {1, 2}
        assert abs(data).max() <= 1
    lua.execute("pool:stop()")


# ---- a command line


def test_options_of_a_class_of_ones_own(lua: bridge.Lua, tmp_path: Path) -> None:
    config = tmp_path / "run.txt"
    config.write_text("# a run\nlayers = 3\n")
    code = """
        require 'torch'; onmt = require 'options'
        cmd = onmt.Options('train.lua')
        cmd:option('-layers', 2, 'Number of layers.', {valid = onmt.Options.from(1)})
        cmd:option('-layers', 7, 'again')
        cmd:option('-gpus', {}, 'Numbers of GPUs.')
        cmd:option('-quiet', false, 'Say nothing.')
        cmd:argument('data', 'string', 'The data.')
        function parsed(...)
           local opt = cmd:parse({...})
           return opt.data, opt.layers, table.concat(opt.gpus, '+'), opt.quiet
        end
    """
    lua.execute(code)
    assert lua.execute("return parsed('x.t7')") == ("x.t7", 2, "", False)
    assert lua.execute("return parsed('-gpus', '1', '2', '-quiet', 'x.t7')") == ("x.t7", 2, "1+2", True)
    assert lua.execute("return parsed('x', '-config', ...)", str(config)) == ("x", 3, "", False)
    with pytest.raises(
        bridge.LuaError, match="invalid argument for option -layers: the number must be at least 1"
    ):
        lua.execute("parsed('x', '-layers', '0')")
    with pytest.raises(bridge.LuaError, match=r"train\.lua: not enough arguments"):
        lua.execute("parsed()")


def test_a_logger_writes_to_its_file(
    lua: bridge.Lua, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "log"
    lua.execute("require 'torch'; require 'options'; log = onmt.Logger(...)", str(file))
    lua.execute("log:info('%s is %d%% done', nil, 50); log:shutDown()")
    assert file.read_text().endswith("INFO] nil is 50% done\n")
    assert capsys.readouterr().out == file.read_text()


# ---- an optimiser with a state for each module


@pytest.mark.parametrize("method", ["adam", "sgd", "adagrad"])
def test_states_of_modules_are_their_own(lua: bridge.Lua, method: str) -> None:
    code = f"""
        require 'nn'; require 'optim'; require 'modulewise'
        torch.manualSeed(2)
        local net = nn.Sequential():add(nn.Linear(3, 4)):add(nn.Tanh()):add(nn.Linear(4, 1))
        local kept = torch.Tensor{{7}}
        local state = {{learningRate = 0.05, kept = kept}}
        local optimiser = Modulewise(net, state)
        local x, y = torch.randn(10, 3), torch.randn(10, 1)
        local first = optimiser:step(optim.{method}, x, y, nn.MSECriterion())
        local last
        for _ = 1, 30 do
           last = optimiser:step(optim.{method}, x, y, nn.MSECriterion())
        end
        local one = optimiser.states[net:get(1)][1]
        local restored = Modulewise(net, nil, optimiser.states)
        return first, last, one.kept[1], torch.pointer(one.kept) == torch.pointer(kept), restored.states[net] ~= nil
    """
    first, last, kept, same, restored = lua.execute(code)
    assert last < 0.9 * first
    assert (kept, same, restored) == (7, False, True)


# ---- a server


@pytest.mark.slow
def test_a_server_answers_line_by_line(lua: bridge.Lua, pictures: str, tmp_path: Path) -> None:
    model = tmp_path / "model.t7"
    lua.execute(
        "require 'nn'; torch.save(..., nn.Sequential():add(nn.View(3, -1)):add(nn.Mean(2)):float())",
        str(model),
    )
    command = [sys.executable, "-m", "bridge.th", str(PROGRAMS / "server.lua"), "-model", str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        for name, expected in (
            ("green/3.PNG", [0, 1, 0]),
            ("green/5.PNG", [0, 1, 0]),
            ("red/1.PNG", [1, 0, 0]),
        ):
            server.stdin.write(f"\n{pictures}/{name}\n")
            server.stdin.flush()
            answer = [float(number) for number in server.stdout.readline().split(",")]
            assert answer == pytest.approx(expected)
        server.stdin.close()
        assert server.wait(timeout=60) == 0
