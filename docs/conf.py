"""How the documentation is built: Sphinx, from pages, notebooks (which are run) and docstrings. `make docs`."""

from __future__ import annotations

import logging
import os
import re
import sys
from importlib.metadata import version as installed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # benchmarks are in a checkout only, wherever the build was started
FUNCTION = re.compile(
    r"((?:^--[^\n]*\n)*)^function (luaps|Worker|Node|Future|Distributed)([.:])(\w+)\(([^)]*)\)", re.MULTILINE
)
# What objects of Lua are called in programs, in the order of the page.
OBJECTS = {"luaps": "luaps", "Worker": "kv", "Future": "future", "Node": "node", "Distributed": "model"}

project = "Moontide"
project_copyright = "the Moontide developers"
release = version = installed("moontide")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 60  # seconds that a cell may take
nb_merge_streams = True
exclude_patterns = ["_build", "**/README.md"]
suppress_warnings = ["myst.xref_missing"]  # pages name files of the checkout, too
html_theme = "furo"
html_title = "Moontide"
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_favicon = html_logo = "../bridge/serve/rest/page/moon.svg"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes are described once, where the class is
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is taken, in words
autodoc_default_options = {"members": True, "show-inheritance": True}


def lua_functions() -> dict[str, list[tuple[str, str]]]:
    """Return the functions of luaps with what the comment in front of each says, by object."""
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in OBJECTS}
    for file in sorted((ROOT / "luaps").glob("*.lua")):
        for comment, owner, mark, name, parameters in FUNCTION.findall(file.read_text()):
            text = " ".join(line.removeprefix("--").strip() for line in comment.splitlines())
            shown = ", ".join(one for one in parameters.split(", ") if one != "...")
            if not name.startswith("_"):
                found[owner].append((f"{OBJECTS[owner]}{mark}{name}({shown})", text))
    return found


def write_luaps(_: Any) -> None:
    """Write the reference of luaps from its files."""
    opening = "The Lua client: `local luaps = require 'luaps'`. Keys count from 1, unless `base = 0` says otherwise."
    lines = ["# luaps", "", opening, ""]
    for owner, functions in lua_functions().items():
        lines += [f"## {OBJECTS[owner]}", ""]
        for signature, text in functions:
            lines += [f"### `{signature}`", "", text, ""]
    target = ROOT / "docs" / "reference" / "luaps.md"
    content = "\n".join(lines) + "\n"
    if not target.exists() or target.read_text() != content:
        target.write_text(content)


def write_benchmarks(_: Any) -> None:
    """Write the pages of saved results."""
    from benchmarks.pages import write_pages

    write_pages(ROOT / "docs")


def settle_kernels(app: Any) -> None:
    """Give the kernels that run notebooks a place for what they write, which is no part of anybody's home."""
    # A package of furo's turns on INFO for all loggers.
    logging.getLogger("traitlets").setLevel(logging.WARNING)
    place = TemporaryDirectory()
    profile = Path(place.name, "profile_default")
    profile.mkdir()
    # A kernel warns that it speaks without encryption, over loopback.
    profile.joinpath("ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 'ERROR'\n")
    os.environ["IPYTHONDIR"] = place.name
    app.connect("build-finished", lambda *_: place.cleanup())


def setup(app: Any) -> None:
    """Let Sphinx write what is made of Lua's files and of results before it reads the pages, if they are these here."""
    app.connect("builder-inited", settle_kernels)
    if Path(app.srcdir).samefile(ROOT / "docs"):
        app.connect("builder-inited", write_luaps)
        app.connect("builder-inited", write_benchmarks)
