"""The demo's parts, and the whole of it in a short run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

from moontide.demo import torch_worker
from moontide.demo.crew import Crew
from moontide.demo.data import Digits, load_digits
from moontide.demo.layout import LAYERS, first_parameters, value_lengths
from moontide.demo.messages import Done, Epoch, Message, Ready, decode, encode
from moontide.demo.report import Outcome, Record, draw_curves, print_outcome
from moontide.demo.worker import Share
from moontide.errors import CommandError


@pytest.fixture(scope="module")
def digits() -> Digits:
    return load_digits()


def test_the_split_is_fixed_and_covers_all_samples(digits: Digits) -> None:
    assert digits.train_inputs.shape == (1347, 64)
    assert digits.test_inputs.shape == (450, 64)
    assert digits.train_inputs.dtype == np.float32
    assert (digits.train_inputs.min(), digits.train_inputs.max()) == (0, 1)
    assert set(digits.test_targets) == set(range(10))
    assert np.array_equal(digits.test_targets, load_digits().test_targets)


def test_samples_survive_the_file_for_other_processes(digits: Digits, tmp_path: Path) -> None:
    digits.save(tmp_path / "digits.npz")
    assert np.array_equal(Digits.load(tmp_path / "digits.npz").train_inputs, digits.train_inputs)


def test_the_keys_cover_the_parameters_of_the_network() -> None:
    parameters, _ = torch_worker.flatten(torch_worker.network())
    assert value_lengths().sum() == len(parameters) == len(first_parameters(1))


def test_every_row_of_a_weight_and_every_bias_is_one_value() -> None:
    lengths = [part for inputs, outputs in LAYERS for part in [inputs] * outputs + [outputs]]
    assert value_lengths().tolist() == lengths


def test_the_first_parameters_depend_on_the_seed_alone() -> None:
    assert np.array_equal(first_parameters(3), first_parameters(3))
    assert not np.array_equal(first_parameters(3), first_parameters(4))


def test_a_flattened_network_computes_with_the_flat_vector() -> None:
    model = torch_worker.network()
    before = [parameter.detach().clone() for parameter in model.parameters()]
    parameters, gradients = torch_worker.flatten(model)
    assert torch.equal(parameters, torch.cat([parameter.flatten() for parameter in before]))
    parameters.zero_()
    assert float(model(torch.ones(1, 64))[0, 0].detach()) == pytest.approx(-np.log(10))
    model(torch.ones(1, 64))[0, 0].backward()
    assert float(gradients.abs().sum()) > 0


def test_the_workers_share_every_sample_of_an_epoch_once() -> None:
    shares = [Share(index=i, of=3, epochs=1, seed=7, batch=16, learning_rate=0.1) for i in range(3)]
    batches = [batch for share in shares for batch in share.batches(100, 1)]
    assert sorted(np.concatenate(batches)) == list(range(100))
    assert max(map(len, batches)) == 16


@pytest.mark.parametrize("message", [Ready(), Epoch(3, 0.25, 0.9), Done(1, 2, 3, 4.5, 0.001)])
def test_a_message_survives_its_line(message: Message) -> None:
    assert encode(message).count("\n") == 1
    assert decode(encode(message)) == message


def outcome(**changes: object) -> Outcome:
    records = {
        side: Record(side, [Epoch(1, 1.0, 0.5), Epoch(2, 0.1, 0.97)], Done(10, 11, 10, 2.0, 0.001))
        for side in ("Lua", "PyTorch")
    }
    values: dict[str, object] = {"records": records, "accuracies": {"Lua": 0.97, "PyTorch": 0.97}}
    return Outcome(**({"difference": 1e-7} | values | changes))  # type: ignore[arg-type]


def test_the_outcome_is_good_when_both_are_accurate_and_agree() -> None:
    assert outcome().good
    assert not outcome(accuracies={"Lua": 0.94, "PyTorch": 0.97}).good
    assert not outcome(difference=1e-4).good


def test_the_table_shows_what_was_reached() -> None:
    console = Console(record=True, width=100, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    print_outcome(outcome(difference=1e-4), console)
    console.file.close()
    text = console.export_text()
    assert all(part in text for part in ("97.0%", "1.0e-04", "1.00 ms", "missed", "met"))


@pytest.mark.slow
def test_the_picture_is_written_where_it_was_asked_for(tmp_path: Path) -> None:
    picture = tmp_path / "new" / "curves.png"
    draw_curves(outcome().records, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_worker_that_ends_early_is_named_with_its_errors(tmp_path: Path) -> None:
    arguments = ["torch", "no-address", str(tmp_path / "no-file")]
    options = ["--index=0", "--of=1", "--epochs=1", "--seed=1", "--batch=1", "--learning-rate=1"]
    with (
        Crew({"PyTorch worker 1": [*arguments, *options]}, tmp_path) as crew,
        pytest.raises(CommandError, match=r"PyTorch worker 1 ended with status 1(?s:.)*no-file"),
    ):
        list(crew.messages())


StartDemo = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start_demo(tmp_path: Path) -> Iterator[StartDemo]:
    """Start a demo that writes to the test's directory; it is ended with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*options: str) -> subprocess.Popen[str]:
        demo = subprocess.Popen(
            [sys.executable, "-m", "moontide", "demo", f"--out={tmp_path}", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "120"},
        )
        running.append(demo)
        return demo

    yield start
    for demo in running:
        demo.kill()
        demo.communicate(timeout=60)


def worker_processes(demo: int, kind: str = "") -> list[int]:
    children = Path(f"/proc/{demo}/task/{demo}/children").read_text().split()
    commands = {int(pid): Path(f"/proc/{pid}/cmdline").read_text() for pid in children}
    return [pid for pid, command in commands.items() if f"moontide.demo.worker\0{kind}" in command]


def wait_for_workers(demo: subprocess.Popen[str], count: int, kind: str = "") -> list[int]:
    deadline = time.monotonic() + 60
    while len(found := worker_processes(demo.pid, kind)) < count:
        assert time.monotonic() < deadline
        assert demo.poll() is None
        time.sleep(0.02)
    return found


@pytest.mark.long
@pytest.mark.timeout(300)
def test_lua_and_torch_workers_train_one_accurate_model(start_demo: StartDemo, tmp_path: Path) -> None:
    demo = start_demo("--epochs=20", "--seed=2")
    text, errors = demo.communicate(timeout=120)
    assert (demo.returncode, errors) == (0, "")
    accuracies = re.search(r"test accuracy\s+│\s+([\d.]+)%\s+│\s+([\d.]+)%", text)
    assert accuracies is not None
    assert min(map(float, accuracies.groups())) >= 95
    assert re.search(r"largest difference of outputs.*met", text)
    assert f"curves: {tmp_path / 'digits.png'}" in text
    assert (tmp_path / "digits.png").is_file()


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["lua", "torch"])
def test_a_killed_worker_ends_the_demo_with_its_name(start_demo: StartDemo, kind: str) -> None:
    demo = start_demo("--epochs=100000", "--workers=1")
    victims = wait_for_workers(demo, 1, kind)
    everybody = wait_for_workers(demo, 2)
    os.kill(victims[0], signal.SIGKILL)
    _, errors = demo.communicate(timeout=120)
    side = {"lua": "Lua", "torch": "PyTorch"}[kind]
    assert (demo.returncode, errors) == (1, f"moontide demo: {side} worker 1 was killed by SIGKILL\n")
    assert [pid for pid in everybody if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_demo_that_is_stopped_takes_its_workers_along(
    start_demo: StartDemo, number: signal.Signals, status: int
) -> None:
    demo = start_demo("--epochs=100000", "--workers=1")
    workers = wait_for_workers(demo, 2)
    demo.send_signal(number)
    _, errors = demo.communicate(timeout=120)
    assert (demo.returncode, errors) == (status, "")
    assert [pid for pid in workers if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.long
@pytest.mark.timeout(300)
def test_workers_end_by_themselves_when_the_demo_is_killed(start_demo: StartDemo) -> None:
    demo = start_demo("--epochs=100000", "--workers=1")
    workers = wait_for_workers(demo, 2)
    demo.kill()
    demo.communicate(timeout=120)
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)
