"""display: what a display server receives."""

from __future__ import annotations

import base64
import io
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest
from PIL import Image

import bridge


@pytest.fixture
def received() -> Iterator[list[Any]]:
    """What a server received; its address is the first item until then."""
    commands: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            commands.append((self.path, json.loads(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    commands.append(server.server_port)
    yield commands
    server.shutdown()
    thread.join(10)
    server.server_close()


@pytest.fixture
def lua(received: list[Any]) -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("disp = require 'display' disp.configure{port = ...}", received.pop())
        yield state


def picture(command: dict[str, Any]) -> np.ndarray:
    kind, _, content = command["src"].partition(",")
    assert kind == "data:image/jpg;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content))))


def test_a_picture_is_posted_to_its_pane(lua: bridge.Lua, received: list[Any]) -> None:
    code = "return disp.image(torch.range(0, 255):resize(1, 16, 16), {win = 7, title = 'ramp', width = 64})"
    assert lua.execute(code) == 7
    [(path, command)] = received
    assert path == "/events"
    assert {key: command[key] for key in ("command", "id", "title", "width")} == {
        "command": "image",
        "id": 7,
        "title": "ramp",
        "width": 64,
    }
    assert np.abs(picture(command).astype(int) - np.arange(256).reshape(16, 16)).max() < 24


def test_many_pictures_make_a_grid_with_labels(lua: bridge.Lua, received: list[Any]) -> None:
    code = """
    local list = {torch.zeros(3, 8, 8), torch.ones(8, 8), torch.ones(1, 4, 8)}
    disp.images(list, {labels = {'a', 'b', 'c'}})
    disp.image(torch.rand(5, 3, 8, 8))
    return list[2]:dim()
    """
    assert lua.execute(code) == 2
    (_, grid), (_, batch) = received
    assert picture(grid).shape == (16, 16, 3)
    assert picture(batch).shape == (16, 24, 3)
    assert grid["labels"] == [[0, 0, "a"], [0.5, 0, "b"], [0, 0.5, "c"]]
    assert "labels" not in batch


def test_plots_name_their_curves(lua: bridge.Lua, received: list[Any]) -> None:
    code = """
    local config = {labels = {'epoch', 'loss'}, title = 'loss over time', win = 1, ylabel = 'loss'}
    disp.plot({{1, 0.5}, {2, 0.25}}, config)
    disp.plot(torch.Tensor{{1, 2}, {3, 4}})
    return config.win, config.file
    """
    assert lua.execute(code) == (1, None)
    assert received[0][1] == {
        "command": "plot",
        "id": 1,
        "title": "loss over time",
        "options": {
            "file": [[1, 0.5], [2, 0.25]],
            "labels": ["epoch", "loss"],
            "xlabel": "epoch",
            "ylabel": "loss",
            "title": "loss over time",
        },
    }
    assert received[1][1]["options"]["file"] == [[1, 2], [3, 4]]


def test_texts_and_sounds_are_posted(lua: bridge.Lua, received: list[Any], tmp_path: Any) -> None:
    sound = tmp_path / "beep.wav"
    sound.write_bytes(b"RIFF\0\1")
    lua.execute("disp.text('hello', {win = 'note'}) disp.audio(...)", str(sound))
    assert received[0][1] == {"command": "text", "id": "note", "text": "hello"}
    assert received[1][1]["data"] == "data:audio/wav;base64," + base64.b64encode(b"RIFF\0\1").decode()


def test_panes_without_a_name_differ(lua: bridge.Lua) -> None:
    assert lua.eval("disp.text('a') ~= disp.text('b')")


def test_without_a_server_training_goes_on(lua: bridge.Lua, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        code = "disp.configure{port = ...} return disp.text('a', {win = 1}), disp.text('b', {win = 2})"
        assert lua.execute(code, taken.getsockname()[1]) == (1, 2)
    assert capfd.readouterr().err.count("nobody shows pictures at") == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("disp.image('x')", "expected a tensor or a table of tensors, got string"),
        ("disp.image(torch.Tensor(2, 4, 4))", "1 or 3 channels, got 2"),
        ("disp.images{}", "there is no picture to show"),
        ("disp.audio('x.txt')", "mp3, wav, ogg or aac file, got x.txt"),
    ],
)
def test_what_cannot_be_is_told(lua: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code)
    assert message in raised.value.message
