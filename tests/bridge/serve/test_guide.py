"""The commands of docs/serve.md do what it says, one after the other in one shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "serve.md"


@pytest.mark.slow
def test_the_commands_of_the_guide(tmp_path: Path, free_ports: list[int]) -> None:
    program = "set -e\n" + "\n".join(re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(), re.M | re.S))
    for written, port in zip(("8080", "8081"), free_ports, strict=True):
        assert written in program
        program = program.replace(written, str(port))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '{"ready":true}' in done.stdout
    assert '"inputs":[{"name":"input","datatype":"FP32","shape":[-1,4]}]' in done.stdout
    assert '"datatype":"FP32","shape":[2,3],"data":[0.' in done.stdout
    assert '{"result":{"' in done.stdout
    assert '"be":2' in done.stdout
    assert '"name":1' in done.stdout
