"""What the system tells of processes."""

from __future__ import annotations

from pathlib import Path

PID_OF_NONE = 1 << 22  # the system's numbers are smaller


def state(pid: int) -> str:
    """Return the letter that the system has for a process, or nothing if there is none."""
    return read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].strip()[:1]


def is_running(pid: int) -> bool:
    """Whether a process runs; one that nobody waited for does not."""
    return state(pid) not in ("", "Z")


def tasks(pid: int) -> list[Path]:
    """Return the directories of a process's threads."""
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:  # it has just ended
        return []


def descendants(pid: int) -> set[int]:
    """Return the processes below another one."""
    found: set[int] = set()
    fresh = {pid}
    while fresh:
        fresh = {
            int(child)
            for parent in fresh
            for task in tasks(parent)
            for child in read(task / "children").split()
        }
        found |= fresh
    return found


def read(path: Path) -> str:
    """Return what a file of /proc says, or nothing if the process or thread has just ended."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
