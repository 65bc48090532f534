"""`moontide doctor` uses each part for real and outlives what ends a part's process."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from moontide import extras
from moontide.cli import main
from moontide.doctor import checks
from moontide.doctor.finding import Finding
from moontide.doctor.runner import findings

STATES = {"ok", "limited", "absent", "broken"}


def found(name: str, *, timeout: float = 60.0) -> Finding:
    ((told, finding),) = findings([name], timeout=timeout)
    assert told == name
    return finding


@pytest.fixture
def instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory whose modules new processes find before the installed ones."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    return tmp_path


@pytest.mark.long
def test_every_part_is_told_in_its_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["part"] for row in report] == list(checks.CHECKS)
    assert {row["state"] for row in report} <= STATES
    states = {row["part"]: row["state"] for row in report}
    assert {states[part] for part in ("python", "luajit", "torch", "server", "zeromq")} == {"ok"}


@pytest.mark.long
def test_a_line_for_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [line.split("  ")[0] for line in heads] == list(checks.CHECKS)
    assert all(line.lstrip().startswith("-> ") for line in lines if line not in heads)


@pytest.mark.long
def test_a_part_that_ends_its_process_is_broken(instead: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (instead / "lupa.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert found("luajit") == Finding(
        state="broken",
        detail="the check's process was ended by SIGSEGV",
        remedy="tell us, with the output of `moontide doctor --json`",
    )
    assert main(["doctor"]) == 1
    assert "luajit          broken   the check's process was ended by SIGSEGV" in capsys.readouterr().out


@pytest.mark.slow
def test_a_part_that_hangs_is_broken(instead: Path) -> None:
    (instead / "zmq.py").write_text("import time\ntime.sleep(100)\n")
    finding = found("zeromq", timeout=1.5)
    assert (finding.state, finding.detail) == ("broken", "no answer within 1.5 s")


@pytest.mark.parametrize("part", ["luajit", "zeromq"])
def test_what_a_part_raises_is_told_in_a_line(instead: Path, part: str) -> None:
    for name in ("lupa", "zmq"):
        (instead / f"{name}.py").write_text("raise ImportError('libthis.so.5: cannot open\\nmore')\n")
    assert found(part) == Finding(state="broken", detail="ImportError: libthis.so.5: cannot open")


@pytest.mark.slow
def test_programs_that_are_not_there_are_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found("luajit program").state == "absent"
    spark = found("spark")
    assert spark.state == "absent"
    assert "apt-get install default-jre-headless" in spark.remedy


@pytest.mark.parametrize(("version", "enough"), [("1.8.0_402", False), ("11.0.2", False), ("21.0.1", True)])
def test_an_old_java_is_not_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, enough: bool
) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert ("Java 17 or newer" not in found("spark").remedy) == enough


def test_few_descriptors_are_a_limit() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "moontide.doctor", "limits"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 1024)),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    finding = json.loads(done.stdout)
    assert finding["state"] == "limited"
    assert finding["detail"].startswith("256 descriptors of 1,024, ")
    assert "ulimit -n 4096" in finding["remedy"]


def test_missing_packages_are_told_by_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (checks, extras):
        monkeypatch.setattr(module, "EXTRAS", {"one": ("json",), "two": ("no_such.package", "json")})
    assert checks.extras() == Finding(
        state="absent", detail="here: one; not here: two", remedy="pip install 'moontide[two]'"
    )
