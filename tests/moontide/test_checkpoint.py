"""moontide checkpoint: what a checkpoint has, whether it is whole, and other files of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

import pyps
from moontide.cli import main
from pyps import checkpoint


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Any]:
    with pyps.Server(6, 2, dtype="float64", optimizer="adagrad") as server, server.worker() as kv:
        kv.push(np.arange(6), np.arange(1.0, 13))
        checkpoint.save(tmp_path / "all", server)
        return tmp_path / "all", kv.pull(np.arange(6))


def test_inspect_prints_the_manifest(saved: tuple[Path, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "inspect", str(saved[0])]) == 0
    lines = [line.split(None, 1) for line in capsys.readouterr().out.splitlines()]
    assert lines[0][0].endswith("checkpoint-00000001")
    shown = dict(line for line in lines[1:])
    assert shown["keys"] == "6 (0 to 5)"
    assert shown["values"] == "float64, of length 2"
    assert shown["optimizer"].startswith("adagrad:lr=0.01,")
    assert main(["checkpoint", "inspect", "--json", str(saved[0])]) == 0
    assert json.loads(capsys.readouterr().out)["tables"][0]["keys"] == 6


def test_verify_finds_a_damaged_shard(saved: tuple[Path, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "verify", str(saved[0])]) == 0
    assert capsys.readouterr().out.endswith("is whole: 6 keys in 1 shards\n")
    shard = saved[0] / "checkpoint-00000001" / "node-0-00000.safetensors"
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    assert main(["checkpoint", "verify", str(saved[0])]) == 1
    assert "checksum" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_export_writes_arrays(ending: str, saved: tuple[Path, Any], tmp_path: Path) -> None:
    file = tmp_path / f"out.{ending}"
    assert main(["checkpoint", "export", str(saved[0]), str(file)]) == 0
    found = dict(np.load(file)) if ending == "npz" else load_file(file)
    assert found["keys.2"].tolist() == list(range(6))
    assert (found["values.2"] == saved[1]).all()
    assert (found["sums.2"] == np.arange(1.0, 13).reshape(6, 2) ** 2).all()


def test_export_writes_parquet(saved: tuple[Path, Any], tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    assert main(["checkpoint", "export", str(saved[0]), str(tmp_path / "out.parquet")]) == 0
    found = pq.read_table(tmp_path / "out.parquet").to_pydict()
    assert found["key"] == list(range(6))
    assert found["values"] == saved[1].tolist()
    assert list(found) == ["key", "values", "sums"]


def test_export_has_halves_of_several_lengths(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with pyps.Server(3, [1, 2, 1], dtype="bfloat16") as server, server.worker() as kv:
        kv.set([0, 1, 2], torch.tensor([1, 2, 3, 4]).bfloat16())
        checkpoint.save(tmp_path, server)
    found = dict(np.load(checkpoint.export(tmp_path, tmp_path / "out.npz")))
    assert {name: array.tolist() for name, array in found.items()} == {
        "keys.1": [0, 2],
        "values.1": [[1], [4]],
        "keys.2": [1],
        "values.2": [[2, 3]],
    }
    with safe_open(checkpoint.export(tmp_path, tmp_path / "out.safetensors"), "pt") as file:
        assert file.get_tensor("values.1").dtype == torch.bfloat16
    checkpoint.export(tmp_path, tmp_path / "out.parquet")


@pytest.mark.parametrize("arguments", [["inspect", "{0}"], ["verify", "{0}"], ["export", "{0}", "{0}/x.npz"]])
def test_what_is_no_checkpoint_is_one_message(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["checkpoint", *(argument.format(tmp_path) for argument in arguments)]) == 1
    assert "is no checkpoint" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_ending_is_named(saved: tuple[Path, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "export", str(saved[0]), "x.csv"]) == 1
    assert ".npz, .safetensors, .parquet" in capsys.readouterr().err
