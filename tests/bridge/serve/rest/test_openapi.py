"""The description of the routes: whole, true, and tried by a program that makes requests from it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bridge.serve.engine import Reason
from bridge.serve.rest import calls, inference, openapi, repository
from tests.bridge.serve.serving import Running, save_digits, serving
from tests.soak import times

PATIENCE = times(200)  # seconds, where many others have the processors
FUNCTIONS = """
local M = {}
function M.greet(name, n) return 'hi ' .. tostring(name) end
function M.count(...) return select('#', ...) end
function M.back(x) return x end
return M
"""


def test_every_route_is_described() -> None:
    described = {(path, method.upper()) for path, method, *_ in openapi.ROUTES}
    routes = {
        (route.path, method)
        for route in (*inference.ROUTES, *calls.ROUTES, *repository.ROUTES)
        for method in (route.methods or set()) - {"HEAD"}
    }
    routes |= {(f"{path}/infer", "POST") for path in inference.MODEL}
    assert described == routes - {("/metrics", "GET")}


def test_every_reason_is_described() -> None:
    told = {*openapi.ALWAYS, *openapi.WITH_BODY, *openapi.OF_MODELS, Reason.INTERNAL.value}
    assert {reason.value for reason in Reason} <= told


def test_functions_are_described(server: Running) -> None:
    document = server.get("/openapi.json").json
    told = document["paths"]["/call/functions/greet"]["post"]
    assert told["summary"] == "functions: greet(name, n)"
    schema = told["requestBody"]["content"]["application/json"]["schema"]
    assert list(schema["oneOf"][1]["properties"]) == ["name", "n"]


@pytest.mark.long
@pytest.mark.timeout(PATIENCE + 60)
def test_requests_that_a_program_makes_from_it(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    save_digits(tmp_path / "models" / "digits.t7")
    (tmp_path / "models" / "functions.lua").write_text(FUNCTIONS)
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    with serving(tmp_path, tmp_path / "models") as server:
        before = server.workers()
        done = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/openapi.json"),
                *("--checks", checks, "--phases", "coverage,fuzzing"),
                *("--max-examples", str(times(8)), "--seed", "5"),
                *("--no-color", "--generation-database", "none", "--exclude-path-regex", "load"),
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout
        made = re.search(r"(\d+) generated", done.stdout)
        assert made, done.stdout
        assert int(made[1]) > 500 + times(100)
        assert server.get("/v2/health/ready").status == 200
        assert len(server.workers()) == len(before)
