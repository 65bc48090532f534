"""nngraph: graphs of modules do what the same computation does in torch; what they say of mistakes; copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import bridge

HERE = Path(__file__).parent
FACTS = [HERE / f"nngraph_{subject}_facts.lua" for subject in ("building", "whole", "looking")]
EXACT = {"rtol": 0, "atol": 1e-12}


@pytest.fixture(scope="module")
def nngraph() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("programs, facts = dofile(...), {}", str(HERE / "nngraph_programs.lua"))
        for path in FACTS:
            lua.execute("for name, fact in pairs(dofile(...)) do facts[name] = fact end", str(path))
        yield lua


@pytest.mark.parametrize(
    "fact",
    [fact for path in FACTS for fact in re.findall(r"^facts\['(.*)'\]", path.read_text(), re.MULTILINE)],
)
def test_fact(nngraph: bridge.Lua, fact: str) -> None:
    nngraph.execute("torch.manualSeed(3)")
    assert nngraph.execute("return facts[...]()", fact.replace("\\'", "'")) is True


def gates(tensor: torch.Tensor) -> torch.Tensor:
    """Reorder torch's gates (i, f, g, o) as the program's (i, f, o, g), or back."""
    i, f, g, o = tensor.chunk(4)
    return torch.cat([i, f, o, g])


def give(lua: bridge.Lua, cell: Any) -> None:
    """Copy the parameters of torch's LSTM into `net`."""
    for index, parameter in enumerate(cell.parameters()):
        order = [1, 3, 2, 4][index]  # weights and biases of the input, then of the state
        lua.execute(
            "local at, value = ... net:parameters()[at]:copy(value)", order, gates(parameter.detach())
        )


def gradients(lua: bridge.Lua) -> list[np.ndarray[Any, Any]]:
    return lua.execute("local _, g = net:parameters() return {g[1], g[3], g[2], g[4]}")


def test_an_lstm_cell_equals_torch(nngraph: bridge.Lua) -> None:
    torch.manual_seed(1)
    cell = torch.nn.LSTMCell(3, 4).double()
    nngraph.execute("net = programs.lstm(3, 4) net:zeroGradParameters()")
    give(nngraph, cell)
    x, c, h = (torch.randn(5, n, dtype=torch.float64, requires_grad=True) for n in (3, 4, 4))
    gc, gh = torch.randn(5, 4, dtype=torch.float64), torch.randn(5, 4, dtype=torch.float64)
    next_h, next_c = cell(x, (h, c))
    torch.autograd.backward([next_c, next_h], [gc, gh])
    outputs, inputs = nngraph.execute(
        "local x, c, h, gc, gh = ... net:forward{x, c, h} net:backward({x, c, h}, {gc, gh}) "
        "return net.output, net.gradInput",
        *(t.detach() for t in (x, c, h, gc, gh)),
    )
    for ours, theirs in zip(outputs, (next_c, next_h), strict=True):
        np.testing.assert_allclose(ours, theirs.detach(), **EXACT)
    for ours, leaf in zip(inputs, (x, c, h), strict=True):
        np.testing.assert_allclose(ours, leaf.grad, **EXACT)
    for ours, parameter in zip(gradients(nngraph), cell.parameters(), strict=True):
        np.testing.assert_allclose(ours, gates(parameter.grad), **EXACT)


@pytest.mark.parametrize("clone", ["clone_many_times", "clone_each"])
def test_an_lstm_unrolled_over_shared_clones_equals_torch(nngraph: bridge.Lua, clone: str) -> None:
    torch.manual_seed(2)
    cell = torch.nn.LSTM(3, 4).double()
    nngraph.execute("net = programs.lstm(3, 4)")
    give(nngraph, cell)
    xs = torch.randn(6, 2, 3, dtype=torch.float64, requires_grad=True)
    gs = torch.randn(6, 2, 4, dtype=torch.float64)
    expected, _ = cell(xs)
    expected.backward(gs)
    outputs, dxs, _ = nngraph.execute(
        f"local xs, gs = ... return programs.unroll(net, xs, gs, 4, programs.{clone})", xs.detach(), gs
    )
    np.testing.assert_allclose(outputs, expected.detach(), **EXACT)
    np.testing.assert_allclose(dxs, xs.grad, **EXACT)
    for ours, parameter in zip(gradients(nngraph), cell.parameters(), strict=True):
        np.testing.assert_allclose(ours, gates(parameter.grad), **EXACT)


def test_two_towers_equal_torch_while_they_learn(nngraph: bridge.Lua) -> None:
    torch.manual_seed(3)
    nngraph.execute("torch.manualSeed(3) model = programs.towers(6, 10, 4)")
    parameters = [
        torch.tensor(np.array(p), requires_grad=True) for p in nngraph.execute("return (model:parameters())")
    ]
    w1, b1, w2, b2, words = parameters
    images = torch.randn(8, 6, dtype=torch.float64)
    tokens = torch.randint(1, 11, (8, 3))
    targets = (torch.rand(8, dtype=torch.float64) > 0.5).double()
    losses = []
    for _ in range(20):
        left = functional.linear(functional.relu(functional.linear(images, w1, b1)), w2, b2)
        right = torch.tanh(words[tokens - 1].sum(1))
        loss = functional.binary_cross_entropy(torch.sigmoid((left * right).sum(1)), targets)
        losses.append(loss.item())
        steps = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, step in zip(parameters, steps, strict=True):
                parameter.sub_(0.5 * step)
    ours = nngraph.execute(
        "local images, tokens, targets = ... return programs.train(model, {images, tokens}, targets, 20, 0.5)",
        images,
        tokens,
        targets,
    )
    np.testing.assert_allclose(ours, losses, rtol=1e-9)
    assert losses[-1] < losses[0] / 2


def test_gradients_equal_finite_differences(nngraph: bridge.Lua) -> None:
    code = """
    torch.manualSeed(5)
    local x = nn.Identity()()
    local h = nn.Linear(3, 4)(x)
    local a, b = nn.SplitTable(2)(nn.Reshape(2, 2)(nn.Tanh()(h))):split(2)
    local net = nn.gModule({x}, {nn.CAddTable()({nn.CMulTable()({a, b}), nn.Linear(4, 2)(h), a})})
    local input = torch.randn(2, 3)
    local worst = nn.Jacobian.testJacobian(net, input)
    for i, p in ipairs(net:parameters()) do
       local _, g = net:parameters()
       worst = math.max(worst, nn.Jacobian.testJacobianParameters(net, input, p, g[i]))
    end
    return worst
    """
    assert 0 < nngraph.execute(code) < 1e-6


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "nn.Linear(2, 2)(nn.Tanh())",
            r"inputs\[1\] is an nn.Module, specifically a nn.Tanh.*second set of parens",
        ),
        ("nn.Linear(2, 2)(nil)", r"inputs\[1\] is nil"),
        ("nn.CAddTable()({nn.Identity()(), nil, nn.Identity()()})", r"inputs\[2\] is nil \(typo"),
        ("nn.Linear(2, 2)(5)", r"inputs\[1\] should be an nngraph.Node but is of type number"),
        ("nn.Linear(2, 2)(torch.ones(2))", r"is of type torch.DoubleTensor"),
        ("nn.CAddTable()({})", "cannot pass an empty table of inputs"),
        ("nn.CAddTable()(nn.Identity()(), nn.Identity()())", "Use {input1, input2} to pass multiple inputs"),
        ("local x = nn.Identity()() nn.CAddTable()({x, x})", "Don't pass the same input twice"),
        ("nn.gModule({}, {nn.Identity()()})", r"inputs\[1\] is nil"),
        ("nn.gModule({nn.Identity()()}, {nn.Tanh()})", r"outputs\[1\] is an nn.Module"),
        ("nn.gModule(nn.Identity()(), {})", "inputs of an nn.gModule must be a table of nodes"),
        (
            "local x, y = nn.Identity()(), nn.Identity()() nn.gModule({x, y}, {nn.Tanh()(x)})",
            r"1 of split\(2\) outputs",
        ),
        (
            "local x = nn.Identity()() local a = x:split(2) nn.gModule({x}, {a})",
            r"1 of split\(2\) outputs.*are unused",
        ),
        (
            "local x, y = nn.Identity()(), nn.Tanh()() nn.gModule({x}, {nn.CAddTable()({x, y})})",
            "not among the inputs",
        ),
        (
            "local x = nn.Tanh()(nn.Identity()()) nn.gModule({x}, {nn.Tanh()(x)})",
            "an input should have no inputs",
        ),
        ("nn.Identity()():split(0)", "split needs the number of elements"),
        ("nngraph.nest({})", "cannot nest an empty table"),
        ("nngraph.nest({nn.Tanh()})", "is an nn.Module"),
        ("nngraph.Node(5)", "needs a table of data, got number"),
        ("return 5 - nn.Tanh()", "should be an nngraph.Node but is of type number"),
        ("return nn.Identity()() - 5", "nngraph.Node"),
        ("two:forward(torch.ones(2))", "expecting table of 2 inputs"),
        ("two:forward{torch.ones(2)}", "Got 1 inputs instead of 2"),
        ("two:forward()", "expecting table of 2 inputs"),
        (
            "two:forward{torch.ones(2), torch.ones(2)} two:backward({}, {torch.ones(2)})",
            "Got 1 gradOutputs instead of 2",
        ),
        ("two:updateGradInput({}, torch.ones(2))", "Got torch.DoubleTensor gradOutputs instead of 2"),
        ("two:map(programs.lstm(1, 1), print)", "trees do not match"),
    ],
)
def test_mistakes_are_told(nngraph: bridge.Lua, code: str, message: str) -> None:
    prepare = (
        "local x, y = nn.Identity()(), nn.Identity()() "
        "local two = nn.gModule({x, y}, {nn.CAddTable()({x, y}), nn.CSubTable()({x, y})}) "
    )
    with pytest.raises(bridge.LuaError, match=re.compile(message, re.DOTALL)):
        nngraph.execute(f"{prepare} {code}")


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_an_error_names_the_node_and_where_it_was_made(nngraph: bridge.Lua, method: str) -> None:
    code = """local x = nn.Identity()()
    local broken = nn.Tanh()
    function broken.%s() error('out of order') end

    local y = broken(x):annotate{name = 'broken one'}
    local net = nn.gModule({x}, {nn.Abs()(y)})
    net:forward(torch.ones(2))
    net:backward(torch.ones(2), torch.ones(2))"""
    broken = {"forward": "updateOutput", "backward": "updateGradInput"}[method]
    where = r"In node broken one \(nn.Tanh, declared at \[.*\]:5_\) of nn.gModule:\n.*out of order"
    with pytest.raises(bridge.LuaError, match=where):
        nngraph.execute(code % broken)


def test_debugging_draws_the_failed_node_in_red(
    nngraph: bridge.Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no graphviz: the text is enough
    code = """
    local x = nn.Identity()()
    local net = nn.gModule({x}, {nn.Linear(2, 2)(x)})
    net.name = ...
    nngraph.setDebug(true)
    local ok, message = pcall(net.forward, net, torch.ones(1, 3))
    nngraph.setDebug(false)
    return ok, message, nn.gModule.updateGradInput == net.updateGradInput
    """
    ok, message, _ = nngraph.execute(code, str(tmp_path / "net"))
    assert ok is False
    assert "size mismatch" in message
    assert re.search(r"n1\[style=filled, fillcolor=red\];\n}$", (tmp_path / "net.dot").read_text())


def test_without_debugging_nothing_is_drawn(nngraph: bridge.Lua, tmp_path: Path) -> None:
    code = """
    nngraph.setDebug(true) nngraph.setDebug(true) nngraph.setDebug(false)
    local x = nn.Identity()()
    local net = nn.gModule({x}, {nn.Linear(2, 2)(x)})
    net.name = ...
    return (pcall(net.forward, net, torch.ones(1, 3)))
    """
    assert nngraph.execute(code, str(tmp_path / "net")) is False
    assert list(tmp_path.iterdir()) == []


def test_verbose_prints_every_node(nngraph: bridge.Lua, capfd: pytest.CaptureFixture[str]) -> None:
    nngraph.execute(
        "local x = nn.Identity()() local net = nn.gModule({x}, {nn.Tanh()(x)}) net.verbose = true "
        "net:forward(torch.ones(2))"
    )
    nngraph.execute("io.stdout:flush()")
    assert capfd.readouterr().out.count(" V : ") == 4


def test_nn_alone_still_forwards_when_called() -> None:
    with bridge.Lua() as lua:
        lua.require("nn")
        assert lua.eval("nn.Tanh()(torch.zeros(2)):sum()") == 0
