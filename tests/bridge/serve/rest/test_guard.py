"""Who may ask: tokens, other web pages, ids, and what is logged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bridge.serve.serving import Running, serving


def test_requests_have_ids(server: Running) -> None:
    assert server.get("/v2", **{"X-Request-Id": "abc-7"}).headers["x-request-id"] == "abc-7"
    made = {server.get("/v2").headers["x-request-id"] for _ in range(3)}
    assert len(made) == 3
    assert server.get("/v2", **{"X-Request-Id": "x" * 129}).headers["x-request-id"] != "x" * 129


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost:99"}, 200),
        ({"Host": "[::1]:80"}, 200),
        ({"Host": "[::1"}, 403),
        ({"Host": ""}, 403),
    ],
)
def test_other_web_pages_are_not_answered(server: Running, headers: dict[str, str], status: int) -> None:
    answer = server.post("/call/double", [2], **headers)
    assert answer.status == status, answer.body
    assert ("error" in answer.json) == (status != 200)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["file", "environment"])
def test_a_token_is_asked_for(models: Path, tmp_path: Path, way: str) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    options = ["--token", tmp_path / "token"] if way == "file" else []
    environment = {"MOONTIDE_TOKEN": "s3cret"} if way == "environment" else {}
    with serving(tmp_path, models / "functions.lua", *options, environment=environment) as server:
        for headers in ({}, {"Authorization": "Bearer s3cre"}, {"Authorization": "s3cret"}):
            answer = server.post("/call/double", [2], **headers)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert answer.json == {"error": "a token is needed: Authorization: Bearer TOKEN"}
        for path in ("/v2", "/metrics", "/call", "/v2/models/functions"):
            assert server.get(path).status == 401
        assert server.post("/call/double", [2], Authorization="Bearer s3cret").json == {"result": 4}
        for path in ("/v2/health/live", "/v2/health/ready", "/openapi.json"):
            assert server.get(path).status == 200


@pytest.mark.slow
def test_each_request_is_logged_if_asked(models: Path, tmp_path: Path) -> None:
    with serving(tmp_path, models / "functions.lua", "--access-log", "--timeout", "1") as server:
        server.post("/call/double", [2], **{"X-Request-Id": "first"})
        server.post("/call/crash", [], **{"X-Request-Id": "second"})
        server.get("/v2/health/live")
    rows = {line["request_id"]: line for line in server.lines() if "status" in line}
    first = rows["first"]
    assert (first["method"], first["path"], first["status"], first["level"]) == (
        "POST",
        "/call/double",
        200,
        "info",
    )
    assert 0 < first["milliseconds"] < 60_000
    assert (rows["second"]["status"], rows["second"]["level"]) == (503, "warning")
    assert any("SIGSEGV" in line["message"] for line in server.lines())
