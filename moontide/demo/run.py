"""The demo from start to end: server, workers, progress bars, and the comparison of the two models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import pyps
from moontide.demo.crew import Crew
from moontide.demo.data import Digits, load_digits
from moontide.demo.layout import first_parameters, value_lengths
from moontide.demo.messages import Done, Epoch, Ready
from moontide.demo.report import Outcome, Record, draw_curves, print_outcome
from moontide.demo.worker import accuracy, make_trainer

SIDES = {"lua": "Lua", "torch": "PyTorch"}
BATCH = 16
LEARNING_RATE = 0.1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The demo's options; `workers` is the number of each side, `out` the directory of the picture."""

    seed: int
    workers: int
    epochs: int
    out: Path


def run_demo(settings: Settings) -> int:
    """Run the demo and return its exit status: 0 if both models are accurate and agree."""
    console = Console()
    digits = load_digits()
    console.print(
        f"{settings.workers} Lua and {settings.workers} PyTorch workers, {settings.epochs} epochs; "
        f"{len(digits.train_targets):,} digits to train on, {len(digits.test_targets)} to test"
    )
    lengths = value_lengths()
    with pyps.Server(len(lengths), lengths) as server:
        with server.worker() as kv:
            kv.set(np.arange(len(lengths)), first_parameters(settings.seed))
        records = train(settings, digits, server.address, console)
        accuracies, difference = compare(digits, server.address)

    outcome = Outcome(records=records, accuracies=accuracies, difference=difference)
    print_outcome(outcome, console)
    picture = settings.out / "digits.png"
    draw_curves(records, picture)
    console.print(f"curves: {picture.resolve()}", soft_wrap=True)
    return 0 if outcome.good else 1


def train(settings: Settings, digits: Digits, address: str, console: Console) -> dict[str, Record]:
    """Run all workers to their end with a progress bar each, and return what they reported."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with TemporaryDirectory(prefix="moontide-") as name:
        data = Path(name) / "digits.npz"
        digits.save(data)
        commands, records = plan(settings, address, data)
        bars = Progress(*columns, TimeElapsedColumn(), console=console)
        with Crew(commands, Path(name)) as crew, bars:
            tasks = {
                worker: bars.add_task(worker, total=settings.epochs, note="starting") for worker in records
            }
            waiting = set(records)
            for worker, message in crew.messages():
                record = records[worker]
                match message:
                    case Ready():
                        waiting.discard(worker)
                        if not waiting:
                            crew.begin()
                    case Epoch(number, loss, right):
                        record.epochs.append(message)
                        bars.update(tasks[worker], completed=number, note=f"loss {loss:.3f}  {right:.1%}")
                    case Done():
                        record.done = message
    return records


def plan(settings: Settings, address: str, data: Path) -> tuple[dict[str, list[str]], dict[str, Record]]:
    """Return each worker's arguments and an empty record for it, by its name."""
    commands: dict[str, list[str]] = {}
    records: dict[str, Record] = {}
    total = len(SIDES) * settings.workers
    for number in range(settings.workers):
        for kind, side in SIDES.items():
            name = f"{side} worker {number + 1}"
            options = {
                "index": len(commands),
                "of": total,
                "epochs": settings.epochs,
                "seed": settings.seed,
                "batch": BATCH,
                "learning-rate": LEARNING_RATE,
            }
            commands[name] = [
                kind,
                address,
                str(data),
                *(f"--{key}={value}" for key, value in options.items()),
            ]
            records[name] = Record(side)
    return commands, records


def compare(digits: Digits, address: str) -> tuple[dict[str, float], float]:
    """Evaluate both models on the final parameters; return accuracies and how far their outputs differ."""
    accuracies, outputs = {}, []
    torch.set_num_threads(1)
    for kind, side in SIDES.items():
        trainer = make_trainer(kind, address)
        trainer.pull()
        accuracies[side] = accuracy(trainer, digits)
        outputs.append(trainer.predict(digits.test_inputs))
        trainer.close()
    lua, pytorch = outputs
    return accuracies, float(np.abs(lua - pytorch).max())
