"""Routes of the web page, whose files are in this directory, and of the OpenAPI description."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.serve.rest.bodies import answer
from bridge.serve.rest.openapi import document

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
# The page may load and run only its own files: nothing from other servers, and no scripts inside the HTML.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}


def content() -> dict[str, tuple[bytes, str]]:
    """Return the files of the page with their types, by name."""
    found: dict[str, tuple[bytes, str]] = {}
    for file in files(__package__).iterdir():
        kind = TYPES.get("." + file.name.rpartition(".")[2])
        if kind is not None:
            found[file.name] = (file.read_bytes(), kind)
    return found


async def file(request: Request) -> Response:
    """GET /, /page/FILE, /docs."""
    name = request.path_params.get(
        "name", "docs.html" if request.url.path.endswith("/docs") else "index.html"
    )
    there: Any = request.app.state
    if not hasattr(there, "page"):
        there.page = content()
    found = there.page.get(name)
    if found is None:
        return answer({"error": f"there is no file {name!r}"}, 404)
    return Response(found[0], media_type=found[1], headers=HEADERS)


async def openapi(request: Request) -> Response:
    """GET /openapi.json."""
    return answer(document(request.app.state.service, request.app.state.version))


ROUTES = [
    Route("/", file),
    Route("/docs", file),
    Route("/page/{name}", file),
    Route("/openapi.json", openapi),
]
