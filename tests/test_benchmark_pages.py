"""The pages of saved results: every number stands there, what missed its target first; better is to the right."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks.__main__ import main, names
from benchmarks.bars import panels, svg
from benchmarks.harness import Row
from benchmarks.pages import page, summary, write_pages
from benchmarks.saved import RESULTS, Result, measured_today, read_json, write_json
from tests.python_path import python_path

ROOT = Path(__file__).parents[1]
FASTER = Row(
    table="calls", what="empty", ours=2.0, theirs=4.0, unit="us", peer="lupa | *both*", target="<= 0.8x"
)
SLOWER = Row(table="calls", what="with 3", ours=9.0, theirs=3.0, unit="us", peer="lupa", target="<= 4.5 us")
ALONE = Row(table="calls", what="a new state", ours=1.5, unit="ms", target="<= 2 ms")
MORE = Row(table="rates", what="8 clients", ours=300.0, theirs=100.0, unit="1/s", peer="bare", target=">= 2x")
FEWER = Row(table="rates", what="64 clients", ours=50.0, theirs=100.0, unit="1/s", peer="bare")
LATENCY = Row(table="rates", what="64 clients, median", ours=50.0, theirs=100.0, unit="us", peer="bare")
ROWS = [FASTER, SLOWER, ALONE, MORE, FEWER, LATENCY]
RESULT = Result(
    title="serve: *all*",
    about="`moontide serve` beside a bare endpoint.",
    date="2026-01-31",
    command="python -m benchmarks serve",
    quick=False,
    machine={"processor": "EPYC", "cores": 2, "python": "3.11.2", "torch": "2.13.0"},
    rows=ROWS,
)


def cells(text: str) -> list[list[str]]:
    """Return the rows of the tables of a page, without headings."""
    found = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in found if row[0] not in ("what", "---")]


def xs(path: ET.Element) -> list[float]:
    """Return the least and the greatest x of a path."""
    (drawn,) = path.iter("{http://www.w3.org/2000/svg}path")
    words = [word for word in drawn.attrib["d"].split() if word not in "MLz"]
    return sorted({float(x) for x in words[::2]})


def drawn(rows: list[Row], theme: str = "light") -> dict[str, list[float]]:
    """Return from where to where the bars and lines of a picture go, by name."""
    found = {one.attrib["id"]: one for one in ET.fromstring(svg(rows, theme)).iter() if "id" in one.attrib}
    return {name: xs(one) for name, one in found.items() if name.startswith(("less-", "more-"))}


def saved(place: Path, rows: list[Row] | None = None, **fields: object) -> Path:
    """Write a result as `--save` does and return its file."""
    file = place / "serve.json"
    write_json(replace(RESULT, **{"rows": rows or ROWS, **fields}), file)  # type: ignore[arg-type]
    return file


def everything(docs: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (docs / "benchmarks").iterdir()}


def test_a_page_has_every_row_with_what_came_of_its_target() -> None:
    bound = "\N{NO-BREAK SPACE}"
    assert cells(page("serve", RESULT)) == [
        ["empty", "2.00", "4.00", "0.50", "us", r"lupa \| \*both\*", rf"\<={bound}0.8x", "met"],
        ["with 3", "9.00", "3.00", "3.00", "us", "lupa", rf"\<={bound}4.5{bound}us", "**missed**"],
        ["a new state", "1.50", "", "", "ms", "", rf"\<={bound}2{bound}ms", "met"],
        ["8 clients", "300", "100", "3.00", "1/s", "bare", rf"\>={bound}2x", "met"],
        ["64 clients", "50.0", "100", "0.50", "1/s", "bare", "", ""],
        ["64 clients, median", "50.0", "100", "0.50", "us", "bare", "", ""],
    ]


def test_a_page_says_what_was_measured_where_when_and_how() -> None:
    text = page("serve", RESULT)
    assert text.startswith("# serve: \\*all\\*\n\n`moontide serve` beside a bare endpoint.\n")
    assert "2026-01-31 by `python -m benchmarks serve`: EPYC, 2 cores; python 3.11.2, torch 2.13.0." in text


def test_missed_targets_are_named_before_the_tables() -> None:
    opening = page("serve", RESULT).split("## ", 1)[0]
    assert "**3 of 4 targets met, missed:**" in opening
    assert "* calls\n  * with 3: 9.00 us, target" in opening
    assert "empty" not in opening


def test_columns_in_which_nothing_stands_are_left_out() -> None:
    text = page("serve", replace(RESULT, rows=[ALONE]))
    assert "| what | ours | unit | target |  |" in text
    assert "image" not in text


def test_the_summary_counts_targets_and_links_pages() -> None:
    text = summary({"ipc": replace(RESULT, rows=[FEWER]), "serve": RESULT})
    assert r"| [serve: \*all\*](benchmarks/serve.md) | 2026-01-31 | 3 of 4 | **1** |" in text
    assert "| 2026-01-31 | none set |  |" in text
    assert "\nbenchmarks/ipc\nbenchmarks/serve\n" in text


def test_a_picture_shows_rows_that_have_a_peer_with_targets_as_ratios() -> None:
    (panel,) = panels([FASTER, SLOWER, ALONE])
    assert panel.better == "less"
    bars = [(bar.what, bar.peer, bar.ratio, bar.target, bar.met) for bar in panel.bars]
    assert bars == [("empty", "lupa | *both*", 0.5, 0.8, True), ("with 3", "lupa", 3.0, 1.5, False)]


@pytest.mark.slow
def test_a_peer_that_all_have_is_named_once() -> None:
    less, more = panels([MORE, FEWER, LATENCY])
    assert [less.better, more.better] == ["less", "more"]
    assert [less.peer, more.peer] == ["bare", "bare"]
    assert {bar.peer for bar in (*less.bars, *more.bars)} == {""}
    text = svg([MORE, LATENCY], "light")
    assert "ours / bare: less is better" in text
    assert "ours / bare: more is better" in text


@pytest.mark.parametrize(
    ("unit", "target", "more"),
    [
        ("us", "", False),
        ("B", "", False),
        ("M keys/s", "", True),
        ("/s", ">= 1.7x", True),
        ("starts", ">= 100 starts", True),
        ("cores", "<= 0.01 cores", False),
        ("quality", "<= 1.1x", False),
    ],
)
def test_what_is_better_follows_from_the_target_and_without_one_from_the_unit(
    unit: str, target: str, more: bool
) -> None:
    row = Row(table="t", what="w", ours=1.0, theirs=1.0, unit=unit, peer="p", target=target)
    assert row.more_is_better is more


def test_a_comparison_that_does_not_tell_what_is_better_is_refused() -> None:
    with pytest.raises(ValueError, match="'quality': give a target"):
        Row(table="t", what="w", ours=1.0, theirs=1.0, unit="quality", peer="p")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_go_from_one_and_better_is_to_the_right(theme: str) -> None:
    found = drawn(ROWS, theme)
    bars = {name: x for name, x in found.items() if "-bar-" in name}
    assert list(bars) == ["less-bar-0", "less-bar-1", "less-bar-2", "more-bar-0", "more-bar-1"]
    for name, (left, right) in bars.items():
        (one,) = found[name.replace("bar", "one")]
        start = left if name in ("less-bar-0", "less-bar-2", "more-bar-0") else right
        assert start == pytest.approx(one), name


def test_bars_and_targets_are_drawn_to_scale() -> None:
    found = drawn([FASTER, SLOWER])
    (one,), (target,), (left, right) = found["less-one-0"], found["less-target-0"], found["less-bar-0"]
    assert (target - one) / (right - left) == pytest.approx(0.3219, abs=1e-3)  # log 0.8 / log 0.5
    assert (right - left) / -(found["less-bar-1"][0] - one) == pytest.approx(
        0.6309, abs=1e-3
    )  # log 2 / log 3


@pytest.mark.slow
def test_a_picture_lets_the_page_shine_through_and_says_its_sides() -> None:
    light, dark = svg(ROWS, "light"), svg(ROWS, "dark")
    assert light != dark
    for text in (light, dark):
        assert "#ffffff" not in text
        assert all(f">{said}<" in text for said in ("← worse", "better →", "met", "missed", "target"))


@pytest.mark.slow
def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    saved(tmp_path / "results")
    for docs in ("here", "there"):
        (tmp_path / docs).mkdir()
    write_pages(tmp_path / "here", tmp_path / "results")
    program = "import sys; from pathlib import Path; from benchmarks.pages import write_pages; "
    subprocess.run(
        [sys.executable, "-c", f"{program}write_pages(*map(Path, sys.argv[1:]))", "there", "results"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": python_path(), "PYTHONHASHSEED": "7"},
        timeout=60,
        check=True,
    )
    assert everything(tmp_path / "here") == everything(tmp_path / "there")
    assert len(everything(tmp_path / "here")) == 6  # summary, page, two pictures twice


@pytest.mark.slow
def test_what_has_not_changed_is_not_written_and_what_is_gone_is_removed(tmp_path: Path) -> None:
    file = saved(tmp_path / "results")
    write_pages(tmp_path, tmp_path / "results")
    before = {one: one.stat().st_mtime_ns for one in (tmp_path / "benchmarks").iterdir()}
    write_pages(tmp_path, tmp_path / "results")
    assert {one: one.stat().st_mtime_ns for one in (tmp_path / "benchmarks").iterdir()} == before
    file.unlink()
    write_pages(tmp_path, tmp_path / "results")
    assert everything(tmp_path) == {"summary.txt": b"No results are saved.\n"}


@pytest.mark.slow
@pytest.mark.parametrize("rows", [[], ROWS], ids=["no results", "results"])
def test_the_pages_build_without_a_warning(rows: list[Row], tmp_path: Path) -> None:
    if rows:
        saved(tmp_path / "results", rows)
    write_pages(tmp_path, tmp_path / "results")
    shutil.copy(ROOT / "docs" / "benchmarks.md", tmp_path / "index.md")
    (tmp_path / "conf.py").write_text("extensions = ['myst_parser']\nhtml_theme = 'furo'\n")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", ".", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "benchmarks" / "serve.html").exists() is bool(rows)
    assert len(list((tmp_path / "out").glob("_images/*.svg"))) == (4 if rows else 0)


DAMAGE: dict[str, tuple[Callable[[str], str], str]] = {
    "cut off": (lambda text: text[: len(text) // 2], "delimiter|Unterminated|Expecting"),
    "a list": (lambda text: f"[{text}]", "got list"),
    "of another kind": (lambda _: '{"machine": {}, "trainings": []}', "got machine, trainings"),
    "a text for a number": (lambda text: text.replace('"ours": 2.0', '"ours": "2.0"'), "ours is '2.0'"),
    "no number": (lambda text: text.replace('"ours": 1.5', '"ours": NaN'), "no measured numbers"),
    "a ratio of its own": (lambda text: text.replace('"ratio": 0.5', '"ratio": 0.4'), "do not follow"),
    "a miss hidden": (lambda text: text.replace('"met": false', '"met": true'), "do not follow"),
    "no target": (lambda text: text.replace("<= 0.8x", "fast"), "target 'fast'"),
    "no day": (lambda text: text.replace("2026-01-31", "today"), "today"),
    "no machine": (lambda text: text.replace('"cores"', '"kernels"'), "no cores"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_or_foreign_file_is_refused_by_its_name(damage: str, tmp_path: Path) -> None:
    change, said = DAMAGE[damage]
    file = saved(tmp_path / "results")
    before = file.read_text()
    file.write_text(change(before))
    assert file.read_text() != before
    with pytest.raises(ValueError, match=said) as caught:
        write_pages(tmp_path, tmp_path / "results")
    assert str(caught.value).startswith(f"{file}: ")
    assert not (tmp_path / "benchmarks").exists()


def test_results_of_a_quick_run_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = saved(tmp_path / "results", quick=True)
    with pytest.raises(ValueError, match=r"serve\.json: of a quick run"):
        write_pages(tmp_path, tmp_path / "results")
    file.unlink()
    with pytest.raises(SystemExit):
        main(["sampling", "--quick", "--save"], results=tmp_path)
    assert "not allowed with" in capsys.readouterr().err
    assert not any(tmp_path.rglob("*.json"))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    result = measured_today(ROWS, title="t", about="", command="c", quick=False)
    write_json(result, tmp_path / "t.json")
    assert read_json(tmp_path / "t.json") == result


@pytest.mark.long
def test_saving_a_benchmark_makes_its_page(tmp_path: Path) -> None:
    assert main(["sampling", "--save"], results=tmp_path / "results") == 0
    content = json.loads((tmp_path / "results" / "sampling.json").read_text())
    assert content["command"] == "python -m benchmarks sampling"
    write_pages(tmp_path, tmp_path / "results")
    text = (tmp_path / "benchmarks" / "sampling.md").read_text()
    assert text.startswith("# parameter server: sampling\n\nSamples of 100 keys with their values: ")
    assert [row[0] for row in cells(text)] == [row["what"] for row in content["rows"]]


def test_saved_results_are_those_of_benchmarks() -> None:
    files = list(RESULTS.glob("*.json"))
    assert [file.name for file in files if file.stem not in names()] == []
    assert [file.name for file in files if read_json(file).quick] == []
