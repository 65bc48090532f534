"""Links between the pages of the repository lead to files and headings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages import ROOT

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *(
            ROOT / folder / "README.md"
            for folder in ("deploy", "examples", "bridge/boundary", "bridge/torch7")
        ),
    ]
)
BLOCK = re.compile(r"^( *)(`{3,}).*?^\1\2$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`[^`]+`")


def links(page: Path) -> list[tuple[str, str]]:
    """Return the links of a page into the repository: the path, and what follows a '#'."""
    text = SPAN.sub("", BLOCK.sub("", page.read_text()))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    inside = [target for target in targets if not re.match(r"[a-z]+:", target)]
    return [(path, anchor) for path, _, anchor in (target.partition("#") for target in inside)]


def anchors(page: Path) -> set[str]:
    """Return what links to the headings of a page end with, as GitHub and MyST make it."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    wrong = []
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(f"{path}#{anchor}" if anchor else path)
    assert wrong == []


def test_a_page_of_the_documentation_is_in_its_index_and_in_the_readme() -> None:
    index = (ROOT / "docs/index.md").read_text()
    readme = (ROOT / "README.md").read_text()
    pages = {page.stem for page in ROOT.glob("docs/*.md")} - {"index"}
    assert [page for page in sorted(pages) if not re.search(rf"^{page}$", index, re.MULTILINE)] == []
    assert [page for page in sorted(pages - {"wire"}) if f"docs/{page}.md" not in readme] == []
