"""The interactive mode of th, on a pseudo-terminal and through a pipe."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

PATIENCE = 30.0  # seconds to wait for any text
PROMPT = "th> "
# The leader of a session makes a terminal its own by opening it; then Ctrl-C there reaches it.
START = """
import os, runpy
os.close(os.open(os.ttyname(0), os.O_RDWR))
runpy.run_module("bridge.th", run_name="__main__")
"""


class Terminal:
    """A th that talks to us through a terminal."""

    def __init__(self, home: Path, kind: str = "dumb") -> None:
        self.master, slave = pty.openpty()
        environment = {**os.environ, "HOME": str(home), "TERM": kind, "INPUTRC": "/dev/null"}
        environment.pop("XDG_STATE_HOME", None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", START],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self.unread = ""
        self.seen = ""

    def write(self, text: str) -> None:
        os.write(self.master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C at a prompt; again if it came in the moment before readline listens for it."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self.write("\x03")
            if select.select([self.master], [], [], 2.0)[0]:
                return
        raise AssertionError(f"Ctrl-C changed nothing within {PATIENCE} s")

    def until(self, text: str) -> str:
        """What comes until `text` (left out), control sequences and carriage returns taken off."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.unread:
            ready, _, _ = select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"no {text!r} within {PATIENCE} s, only {self.unread!r}"
            came = os.read(self.master, 65536).decode()
            self.seen += came
            self.unread += re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]|\r|\x07", "", came)
        before, self.unread = self.unread.split(text, 1)
        return before

    def enter(self, line: str) -> str:
        """Enter a line; what is printed until the next prompt, without the echo and the time it took."""
        self.write(line + "\n")
        self.until("\n")
        return re.sub(r" *\[[0-9.]+s\]\s*\n", "", self.until(PROMPT))

    def close(self) -> int:
        self.write("\x04")
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.kill()

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        if self.master >= 0:
            os.close(self.master)
            self.master = -1


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path)
    try:
        terminal.until(PROMPT)
        yield terminal
    finally:
        terminal.kill()


def piped(text: str) -> tuple[str, str]:
    """What -i writes to standard output, without prompts, and to standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "bridge.th", "-i"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.replace("th> ", "").replace("..> ", ""), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ("1 + 1", "2\t\n"),
        ("=7", "7\t\n"),
        ("1, 2, 'a'", "1\t2\ta\t\n"),
        ("x = 3", ""),
        ("", ""),
        ("-- nothing", ""),
        ("for i = 1, 2 do\nprint(i * 10)\nend", "10\t\n20\t\n"),
        ("f = function()\nreturn 5\nend\nf()", "5\t\n"),
        ("{a = {1}}", "{\n  a : \n    {\n      1 : 1\n    }\n}\n"),
        ("torch.Tensor{1, 2}", " 1\n 2\n[torch.DoubleTensor of size 2]\n\n"),
        ("5, 6\n_, #_RESULT, _LAST, #_RESULTS", "5\t6\t\n5\t2\t5\t1\t\n"),
        ("f = function() return 5 end\nf();", ""),
        ("nil", ""),
        ("undefined", ""),
        ("? torch.randn", "undocumented symbol\t\n"),
        ("$ echo hello\n_LAST", "hello\nhello\n\t\n"),
        ("_ = 9\n5\n_", "5\t\n9\t\n"),
        ("$ echo hello", "hello\n"),
        ("do local M = torch.class('C') end\nc = C() c.n = 1\nc", "C\n"),
    ],
)
def test_entries_and_what_is_shown(entry: str, shown: str) -> None:
    assert piped(entry + "\n") == (shown + "\n", "")


@pytest.mark.slow
def test_a_question_mark_tells_what_an_entry_may_be() -> None:
    shown, _ = piped("?\n")
    assert shown.startswith("th takes Lua, one entry at a time")


@pytest.mark.slow
def test_exit_leaves_before_the_input_ends() -> None:
    assert piped("1\nexit\n2\n") == ("1\t\n", "")


@pytest.mark.slow
def test_an_error_is_told_and_the_next_entry_runs() -> None:
    shown, errors = piped("error('oops')\n)\nnil + 1\n4\n")
    assert shown == "4\t\n\n"
    assert errors.startswith("th: stdin:1: oops\n")
    assert "unexpected symbol near ')'" in errors
    assert "attempt to perform arithmetic on a nil value" in errors


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("torch.FloatT", {"torch.FloatTensor"}),
        ("torch.getdef", {"torch.getdefaulttensortype"}),
        ("thing.wo", {"thing.word", "thing.work"}),
        ("thing:wo", {"thing:work"}),
        ("thing.deep.x", {"thing.deep.xyz"}),
        ("tensor:narr", {"tensor:narrow"}),
        ("text:upp", {"text:upper"}),
        ("object:spe", {"object:speak"}),
        ("whi", {"while"}),
        ("nothing.at.all", set()),
        ("thing.boom.", set()),
    ],
)
def test_completions(lua: bridge.Lua, word: str, found: set[str]) -> None:
    lua.execute("""
    thing = {word = 1, work = print, deep = {xyz = 1}}
    thing.boom = setmetatable({}, {__index = function() error('asked') end})
    tensor, text = torch.Tensor(2, 2), 'abc'
    local Parent = torch.class('Parent')
    function Parent:speak() end
    torch.class('Child', 'Parent')
    object = Child()
    """)
    completions = lua.execute("return require('bridge.runtime.complete')(...)", word)
    assert set(completions) == found


def test_names_with_two_underscores_come_when_asked_for(lua: bridge.Lua) -> None:
    complete = lua.eval("require('bridge.runtime.complete')")
    assert "torch.Tensor.__typename" not in complete("torch.Tensor.")
    assert complete("torch.Tensor.__typen") == ["torch.Tensor.__typename"]


@pytest.mark.slow
def test_a_terminal_shows_values_and_how_long_they_took(terminal: Terminal) -> None:
    terminal.write("1 + 1\n")
    terminal.until("1 + 1")
    assert re.fullmatch(r"\n2\s+ +\[\d+\.\d{4}s\]\s*\n", terminal.until(PROMPT))


@pytest.mark.slow
def test_a_terminal_with_colours_gets_them(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "xterm")
    try:
        terminal.until(PROMPT)
        terminal.enter("{1, 'a', true, print, torch.Tensor(2)}, 'b', 5")
        for text in [
            "1 : \33[0;36m1\33[0m",
            '2 : \33[1;30m"\33[0m\33[0;32ma\33[0m\33[1;30m"\33[0m',
            "3 : \33[0;34mtrue\33[0m",
            "4 : \33[0;35mfunction: ",
            "5 : \33[0;31mDoubleTensor - size: 2\33[0m",
            "\33[0mb\33[0m\t",
            "\33[0;36m5\33[0m\t",
        ]:
            assert text in terminal.seen
    finally:
        terminal.kill()


@pytest.mark.slow
def test_an_open_entry_goes_on_in_the_next_line(terminal: Terminal) -> None:
    terminal.write("for i = 1, 2 do\n")
    terminal.until("..> ")
    terminal.write("print(i * 10) end\n")
    assert re.match(r"print\(i \* 10\) end\n10\s+20\s", terminal.until(PROMPT))


@pytest.mark.slow
def test_ctrl_c_drops_an_open_entry(terminal: Terminal) -> None:
    terminal.write("for i = 1, 2 do\n")
    terminal.until("..> ")
    terminal.interrupt()
    terminal.until(PROMPT)
    assert terminal.enter("5").strip() == "5"


@pytest.mark.slow
def test_ctrl_c_ends_a_loop_and_leaves_what_there_was(terminal: Terminal) -> None:
    terminal.enter("kept = 7")
    terminal.write("io.write('running\\n') while true do end\n")
    terminal.until("\nrunning\n")
    terminal.write("\x03")
    assert "th: interrupted" in terminal.until(PROMPT)
    assert terminal.enter("kept").strip() == "7"


@pytest.mark.slow
def test_tab_completes(terminal: Terminal) -> None:
    terminal.write("torch.getdefau\t()\n")
    assert "torch.DoubleTensor" in terminal.until(PROMPT)


@pytest.mark.slow
def test_the_end_of_input_leaves(terminal: Terminal) -> None:
    assert terminal.close() == 0


@pytest.mark.slow
def test_exit_leaves_with_its_code(terminal: Terminal) -> None:
    terminal.write("os.exit(4)\n")
    assert terminal.process.wait(PATIENCE) == 4


@pytest.mark.slow
def test_the_history_is_kept_for_the_next_session_and_for_nobody_else(tmp_path: Path) -> None:
    first = Terminal(tmp_path)
    try:
        first.until(PROMPT)
        first.enter("remembered = 5")
        first.write("os.exit(0)\n")
        assert first.process.wait(PATIENCE) == 0
    finally:
        first.kill()
    file = tmp_path / ".local/state/moontide/th_history"
    assert file.read_text().splitlines() == ["remembered = 5", "os.exit(0)"]
    assert file.stat().st_mode & 0o777 == 0o600
    second = Terminal(tmp_path)
    try:
        second.until(PROMPT)
        second.write("\x10\x10\n")  # twice Ctrl-P: the entry before the last
        assert "remembered = 5" in second.until("\n")
        second.until(PROMPT)
        assert second.enter("remembered").strip() == "5"
        assert second.close() == 0
    finally:
        second.kill()


@pytest.mark.slow
def test_a_session_without_a_home_goes_on_without_history(tmp_path: Path) -> None:
    (tmp_path / ".local").write_text("a file where the directory should be")
    terminal = Terminal(tmp_path)
    try:
        terminal.until(PROMPT)
        assert terminal.enter("5").strip() == "5"
        assert terminal.close() == 0
    finally:
        terminal.kill()


@pytest.mark.slow
def test_a_terminated_session_ends(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.process.wait(PATIENCE) == -signal.SIGTERM
