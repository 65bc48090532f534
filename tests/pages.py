"""What stands on the pages of the documentation: blocks of code, tables."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "deploy/README.md",
    *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))),
]


def blocks(page: str, language: str) -> list[str]:
    """Return the blocks of code of a page in one language, by the page's path from the top of the repository."""
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def rows(page: str, section: str) -> dict[str, str]:
    """Return the rows of the tables of two columns in a section: the first column, and what the second says of it."""
    text = (ROOT / page).read_text()
    body = text.split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| (.+?) \| (.+) \|$", body, re.MULTILINE)
    pairs = [(there, here) for there, here in found if (there, here) != ("there", "here")]
    assert len(dict(pairs)) == len(pairs), f"{section} says something twice"
    return dict(pairs)


def keywords(there: str) -> set[str]:
    """Return the keywords that stand in the code of a cell."""
    code = " ".join(re.findall(r"`([^`]+)`", there))
    return set(re.findall(r"\b(\w+)=", code))
