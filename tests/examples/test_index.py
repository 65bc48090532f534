"""The page of the examples names every one, by a command that its own parser takes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXT = (EXAMPLES / "README.md").read_text()
COMMANDS = re.findall(r"\| `(python [^`]+|moontide [^`]+)` \|", TEXT)
PROGRAMS = [path for path in sorted(EXAMPLES.glob("*/*.py")) if "__main__" in path.read_text()]


def program(command: str) -> Path | None:
    """Return the file that a command runs; None for one of ours that is no example's."""
    words = shlex.split(command)
    if words[:2] == ["python", "-m"]:
        return EXAMPLES.parent / f"{words[2].replace('.', '/')}.py"
    return EXAMPLES.parent / words[1] if words[0] == "python" else None


def test_every_program_has_a_command() -> None:
    assert PROGRAMS
    assert sorted(path for path in map(program, COMMANDS) if path is not None) == PROGRAMS


def test_every_directory_and_lua_file_is_named() -> None:
    wanted = [f"`{path.name}/" for path in EXAMPLES.iterdir() if (path / "__init__.py").exists()]
    wanted += [path.name for path in EXAMPLES.glob("*/*.lua")]
    assert [name for name in wanted if name not in TEXT] == []


def test_the_places_it_names_exist() -> None:
    named = re.findall(r"`(\w+/[\w.]*)`", TEXT)
    linked = re.findall(r"\]\((\S+)\)", TEXT)
    assert len(named) > 5
    assert [name for name in (*named, *linked) if not (EXAMPLES / name).exists()] == []


@pytest.mark.long
@pytest.mark.parametrize("command", [command for command in COMMANDS if "spark" not in command])
def test_a_commands_options_exist(command: str) -> None:
    """What --help says of them; those for Spark take none."""
    words = shlex.split(command)
    start = [sys.executable] if words[0] == "python" else [sys.executable, "-m", "moontide"]
    done = subprocess.run(
        [*start, *words[1:], "--help"],
        cwd=EXAMPLES.parent,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert [word for word in words if word.startswith("--") and word not in done.stdout] == []
