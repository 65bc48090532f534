"""The completion of `moontide` in a real bash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from moontide.cli import COMMANDS, main

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is missing (Debian: bash)")


@pytest.fixture(scope="module")
def completion() -> str:
    command = [sys.executable, "-m", "moontide", "completion", "bash"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def completed(completion: str, directory: Path, *words: str) -> set[str]:
    """Return what bash offers for the last of the words."""
    script = (
        f'{completion}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()\n'
        '_shtab_moontide\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script, "bash", *words],
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return {line.strip() for line in done.stdout.splitlines() if line.strip()}


@pytest.mark.slow
@needs_bash
def test_commands_and_options_are_completed(completion: str, tmp_path: Path) -> None:
    assert completed(completion, tmp_path, "moontide", "") >= set(COMMANDS)
    assert completed(completion, tmp_path, "moontide", "ins") == {"inspect"}
    assert completed(completion, tmp_path, "moontide", "convert", "--to") == {"--tolerance"}
    assert completed(completion, tmp_path, "moontide", "completion", "z") == {"zsh"}


@needs_bash
@pytest.mark.parametrize("command", ["call", "convert", "inspect", "launch", "run"])
def test_files_are_completed(completion: str, tmp_path: Path, command: str) -> None:
    (tmp_path / "model.t7").touch()
    (tmp_path / "other.t7").touch()
    assert completed(completion, tmp_path, "moontide", command, "mo") == {"model.t7"}


@pytest.mark.parametrize(
    ("shell", "head"), [("zsh", "#compdef moontide"), ("tcsh", "# AUTOMATICALLY GENERATED")]
)
def test_other_shells_have_theirs(capsys: pytest.CaptureFixture[str], shell: str, head: str) -> None:
    assert main(["completion", shell]) == 0
    assert capsys.readouterr().out.startswith(head)
