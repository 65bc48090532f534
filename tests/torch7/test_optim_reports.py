"""What optim reports with: the confusion matrix and the log with its pictures."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge

PNG, EPS = b"\x89PNG", b"%!PS"


@pytest.fixture
def optim(lua: bridge.Lua) -> bridge.Lua:
    lua.require("optim")
    return lua


def test_confusion_matrix_counts_what_numpy_counts(optim: bridge.Lua) -> None:
    rng = np.random.default_rng(1)
    scores, targets = rng.random((200, 4)), rng.integers(1, 5, 200)
    code = """
    local scores, targets = ...
    local one, other = optim.ConfusionMatrix(4), optim.ConfusionMatrix(4)
    one:batchAdd(scores, targets)
    for i = 1, targets:size(1) do other:add(scores[i], targets[i]) end
    assert(one.mat:equal(other.mat))
    one:updateValids()
    return one.mat, one.valids, one.unionvalids, one.totalValid, one.averageValid, one.averageUnionValid
    """
    mat, valids, unions, total, average, union = optim.execute(code, scores, targets)
    expected = np.zeros((4, 4))
    np.add.at(expected, (targets - 1, scores.argmax(1)), 1)
    np.testing.assert_array_equal(mat, expected)
    hits, rows, columns = expected.diagonal(), expected.sum(1), expected.sum(0)
    np.testing.assert_allclose(valids, hits / rows, rtol=1e-6)
    np.testing.assert_allclose(unions, hits / (rows + columns - hits), rtol=1e-6)
    assert total == pytest.approx(hits.sum() / 200)
    assert average == pytest.approx(np.mean(hits / rows))
    assert union == pytest.approx(np.mean(hits / (rows + columns - hits)))


@pytest.mark.parametrize(
    "call",
    [
        "C:add(2, 3)",
        "C:add(torch.Tensor{0, 5, 1}, 3)",
        "C:add(torch.Tensor{0, 5, 1}, torch.Tensor{0, 0, 1})",
        "C:batchAdd(torch.LongTensor{2}, torch.LongTensor{3})",
        "C:batchAdd(torch.Tensor{{2}}, torch.Tensor{{3}})",
        "C:batchAdd(torch.FloatTensor{{0, 5, 1}}, torch.FloatTensor{{0, 0, 1}})",
    ],
)
def test_a_sample_may_be_given_in_many_forms(optim: bridge.Lua, call: str) -> None:
    optim.execute("C = optim.ConfusionMatrix(3); " + call)
    assert optim.eval("C.mat[3][2]") == 1
    assert optim.eval("C.mat:sum()") == 1


def test_a_target_below_one_is_unknown(optim: bridge.Lua) -> None:
    assert (
        optim.execute("local C = optim.ConfusionMatrix(2); C:add(1, 0); C:add(1, -1); return C.mat:sum()")
        == 0
    )


def test_a_batch_has_a_target_for_each_prediction(optim: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="got 3 predictions, but 2 targets"):
        optim.execute("optim.ConfusionMatrix(2):batchAdd(torch.ones(3), torch.ones(2))")


def test_there_is_at_least_one_class(optim: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="at least 1 or a list of their names, got 0"):
        optim.execute("optim.ConfusionMatrix{}")


def test_confusion_matrix_prints_as_in_torch7(optim: bridge.Lua) -> None:
    code = """
    local C = optim.ConfusionMatrix{'cat', 'dog', 'cow'}
    C.mat = torch.FloatTensor{{5, 3, 0}, {1, 4, 0}, {0, 0, 2}}
    return tostring(C)
    """
    assert optim.execute(code) == (
        "ConfusionMatrix:\n"
        "[[       5       3       0]   62.500% \t[class: cat]\n"
        " [       1       4       0]   80.000% \t[class: dog]\n"
        " [       0       0       2]]  100.000% \t[class: cow]\n"
        " + average row correct: 80.833333730698% \n"
        " + average rowUcol correct (VOC measure): 68.51851940155% \n"
        " + global correct: 73.333333333333%"
    )


def test_without_names_and_samples_it_prints_nan(optim: bridge.Lua) -> None:
    assert optim.execute("return tostring(optim.ConfusionMatrix(1))") == (
        "ConfusionMatrix:\n[[       0]]  nan% \n + average row correct: nan% \n"
        " + average rowUcol correct (VOC measure): nan% \n + global correct: nan%"
    )


def test_far_and_frr(optim: bridge.Lua) -> None:
    code = """
    local C = optim.ConfusionMatrix(3)
    C.mat = torch.FloatTensor{{8, 2, 0}, {0, 0, 0}, {1, 0, 3}}
    return C:farFrr()
    """
    class_frrs, class_fars, frrs, fars = optim.execute(code)
    np.testing.assert_allclose(class_frrs, [0.2, -1, 0.25])
    np.testing.assert_allclose(class_fars, [0.25, -1, 0])
    np.testing.assert_allclose(frrs, [0.2, 0.25])
    np.testing.assert_allclose(fars, [0.25, 0])


RENDERED = """
local C = optim.ConfusionMatrix{'cat', 'dog'}
C.mat = torch.FloatTensor{{1, 3}, {1, 1}}
return C:render(...)
"""


@pytest.mark.parametrize(
    ("mode", "blocks"), [("score", [[0.5, 0.5], [0.75, 0.25]]), ("occurrence", [[0.25, 0.75], [0.5, 0.5]])]
)
def test_a_confusion_matrix_is_rendered_in_blocks(
    optim: bridge.Lua, mode: str, blocks: list[list[float]]
) -> None:
    picture = optim.execute(RENDERED, mode, False, 4, 0)
    assert picture.shape == (3, 8, 8)
    np.testing.assert_array_equal(picture[0, :8:4, :8:4], blocks)
    assert (picture[:, 3] == 0.1).all()


def test_a_rendered_matrix_has_a_legend_on_its_right(optim: bridge.Lua) -> None:
    picture = optim.execute(RENDERED)
    assert picture.shape == (3, 50, 250)
    assert picture[:, :25, 50:].max() == 1
    assert picture[:, 25:, 50:].max() == 1


def test_an_unknown_order_is_refused(optim: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"sort mode must be one of: score \| occurrence"):
        optim.execute(RENDERED, "name")


def test_a_stored_confusion_matrix_counts_on(optim: bridge.Lua) -> None:
    code = """
    local C = optim.ConfusionMatrix(2)
    C:add(1, 1)
    local D = torch.deserialize(torch.serialize(C))
    D:add(1, 2)
    return D.mat
    """
    assert optim.execute(code).tolist() == [[1, 0], [1, 0]]


def test_a_log_has_names_and_lines(optim: bridge.Lua, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "train.log"
    code = """
    local log = optim.Logger(...)
    log:setNames{'loss', 'accuracy'}
    log:add{0.5, 12}
    log:add{-1e-7, 'none'}
    return log.symbols
    """
    symbols = optim.execute(code, str(file))
    assert file.read_text() == "loss\taccuracy\t\n 5.0000e-01\t 1.2000e+01\t\n-1.0000e-07\tnone\t\n"
    assert symbols == [[0.5, -1e-7], [12, "none"]]


def test_the_first_line_names_the_columns_where_nothing_else_does(optim: bridge.Lua, tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    optim.execute("optim.Logger(...):add{['mean class'] = 3}:add{['mean class'] = 4}", str(file))
    assert file.read_text() == "mean class\t\n 3.0000e+00\t\n 4.0000e+00\t\n"


def test_only_numbers_and_strings_are_logged(optim: bridge.Lua, tmp_path: Path) -> None:
    with pytest.raises(bridge.LuaError, match="can only log numbers and strings"):
        optim.execute("optim.Logger(...):add{true}", str(tmp_path / "a.log"))


def test_a_log_that_cannot_be_written_says_so(optim: bridge.Lua, tmp_path: Path) -> None:
    with pytest.raises(bridge.LuaError, match="cannot write the log"):
        optim.execute("optim.Logger(...)", str(tmp_path))


CURVES = """
local file, show = ...
local log = optim.Logger(file)
log:setNames{'$odd$ name', '_hidden'}
for i = 1, 5 do log:add{i, i * i} end
log:style{['$odd$ name'] = {'-', '~', '|'}, _hidden = '+-'}
log:display(show)
"""


@pytest.mark.slow
@pytest.mark.parametrize("plot", ["log:plot()", "log:plot('_hidden')", "log:setlogscale(true) log:plot()"])
def test_curves_are_drawn_beside_the_log(optim: bridge.Lua, tmp_path: Path, plot: str) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "a.log"
    optim.execute(CURVES + plot, str(file), True)
    assert Path(f"{file}.png").read_bytes().startswith(PNG)
    assert Path(f"{file}.eps").read_bytes().startswith(EPS)


def test_display_off_leaves_the_eps_alone(optim: bridge.Lua, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    optim.execute(CURVES + "log:plot()", str(tmp_path / "a.log"), False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.log", "a.log.eps"]


def test_one_value_is_no_curve(optim: bridge.Lua, tmp_path: Path) -> None:
    optim.execute("optim.Logger(...):add{1}:plot()", str(tmp_path / "a.log"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]


def test_without_matplotlib_the_log_is_kept_and_one_line_says_why(
    optim: bridge.Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    optim.execute(CURVES + "log:plot() log:plot()", str(tmp_path / "a.log"), True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]
    out = capsys.readouterr().out
    assert out == "<Logger> warning: cannot plot: matplotlib is not installed (pip install matplotlib)\n"


def test_counts_are_long_integers(optim: bridge.Lua) -> None:
    code = """
    local C = optim.ConfusionMatrix(2)
    C:batchAdd(torch.Tensor{1, 2, 2}, torch.Tensor{1, 2, 1})
    C:updateValids()
    local rejected = C:farFrr()
    return C.mat:type(), C.valids:type(), C.valids[1], rejected[1], C._mat_flat == nil
    """
    assert optim.execute(code) == ("torch.LongTensor", "torch.FloatTensor", 0.5, 0.5, True)


PLOTS = """
local optim, file, count = require 'optim', ...
local log = optim.Logger(file)
log:setNames{'a', 'b'}:style{'-', '-'}
for i = 1, count do
   log:add{i, i % 7}
   log:plot()
end
"""


@pytest.mark.slow
def test_ten_thousand_plots_draw_a_few_pictures(
    optim: bridge.Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    from bridge.companions import curves

    drawn: list[tuple[str, int]] = []
    draw = curves._draw

    def watched(path: str, title: str, logscale: bool, *what: Any) -> None:
        drawn.append((path, len(what[1])))
        draw(path, title, logscale, *what)

    monkeypatch.setattr(curves, "_draw", watched)
    started = time.monotonic()
    optim.execute(PLOTS, str(tmp_path / "a.log"), 10_000)
    seconds = time.monotonic() - started
    assert 2 <= len(drawn) <= 4 + 2 * seconds / curves.PAUSE
    optim.close()
    assert sorted(drawn[-2:]) == [(str(tmp_path / f"a.log.{kind}"), 10_000) for kind in ("eps", "png")]


def test_what_was_not_plotted_is_not_drawn_at_the_end(
    optim: bridge.Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    from bridge.companions import curves

    sizes: list[list[float]] = []
    monkeypatch.setattr(curves, "_draw", lambda path, title, logscale, *what: sizes.append(what[1].tolist()))
    code = PLOTS + "log:add{100, 100} log.symbols[1][1] = 9"
    optim.execute(code, str(tmp_path / "a.log"), 70)
    optim.close()
    assert sizes[0] == [1.0, 2.0]
    assert sizes[-1] == [float(i) for i in range(1, 71)]


@pytest.mark.long
@pytest.mark.parametrize("end", ["", "os.exit(0)", "error('over')"])
def test_a_program_s_last_curves_are_drawn(tmp_path: Path, end: str) -> None:
    pytest.importorskip("matplotlib")
    program, log = tmp_path / "plot.lua", tmp_path / "a.log"
    program.write_text(PLOTS + f"os.remove('{log}.png') os.remove('{log}.eps') {end}")
    subprocess.run([sys.executable, "-m", "bridge.th", program, log, "40"], timeout=120, check=False)
    assert Path(f"{log}.png").read_bytes().startswith(PNG)
    assert Path(f"{log}.eps").read_bytes().startswith(EPS)


@pytest.mark.slow
def test_curves_that_cannot_be_drawn_at_the_end_are_told(
    optim: bridge.Lua, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("matplotlib")
    directory = tmp_path / "gone"
    optim.execute(PLOTS, str(directory / "a.log"), 9)
    shutil.rmtree(directory)
    optim.close()
    assert "the last curves were not drawn" in caplog.text
