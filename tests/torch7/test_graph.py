"""graph: nodes, edges, orders of visits, and graphviz's text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

DIAMOND = """
local a, b, c, d = graph.Node('a'), graph.Node('b'), graph.Node('c'), graph.Node('d')
local g = graph.Graph()
g:add(graph.Edge(a, b)) g:add({graph.Edge(a, c), graph.Edge(b, d), graph.Edge(c, d)})
local function names(nodes)
   local list = {}
   for i, node in ipairs(nodes) do list[i] = node.data end
   return table.concat(list)
end
local function visited(method, node)
   local list = {}
   node[method](node, function(n) list[#list + 1] = n end)
   return names(list)
end
"""


@pytest.fixture(scope="module")
def graph() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.require("graph")
        yield lua


def show(graph: bridge.Lua, expression: str) -> object:
    return graph.execute(f"{DIAMOND} return {expression}")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("names(g.nodes)", "abcd"),
        ("#g.edges", 4),
        ("g.nodes[c]", 3),
        ("d.id", 4),
        ("names(a.children)", "bc"),
        ("a.children[c]", 2),
        ("visited('dfs', a)", "dbca"),
        ("visited('bfs', a)", "abcd"),
        ("visited('dfs', a) == visited('dfs', a)", True),
        ("(visited('bfs_dirty', a)) .. visited('bfs', a)", "abcda"),
        ("(visited('dfs_dirty', a)) .. visited('dfs', a)", "dbca"),
        ("names(g:roots())", "a"),
        ("names(g:leaves())", "d"),
        ("names((g:topsort()))", "abcd"),
        ("names(select(3, g:topsort()))", "d"),
        ("names(g:reverse():roots())", "d"),
        ("names((g:reverse():topsort()))", "dbca"),
        ("select(2, g:reverse())[a].data", "a"),
        ("names(g:clone().nodes)", "abcd"),
        ("g:clone().nodes[1] ~= a and g:clone().nodes[1].data == a.data", True),
        ("names(a:graph().nodes)", "abcd"),
        ("#b:graph().edges", 1),
        ("g:hasCycle()", False),
        ("a:hasCycle()", False),
        ("a:label()", "a"),
        ("torch.type(a:graph())", "graph.Graph"),
        ("graph._dotEscape('abc')", "abc"),
        ("graph._dotEscape('a \"b\"\\nc')", '"a \\"b\\"\\nc"'),
    ],
)
def test_a_diamond(graph: bridge.Lua, expression: str, value: object) -> None:
    assert show(graph, f"({expression})") == value


def test_an_edge_twice_is_there_once(graph: bridge.Lua) -> None:
    assert show(graph, "(function() local e = g.edges[1] g:add(e) return #g.edges end)()") == 4


@pytest.mark.parametrize(
    "edges", ["graph.Edge(d, a)", "graph.Edge(a, a)", "graph.Edge(c, b), graph.Edge(b, c)"]
)
def test_cycles_are_found(graph: bridge.Lua, edges: str) -> None:
    assert show(graph, f"(function() g:add{{{edges}}} return g:hasCycle() and a:hasCycle() end)()") is True
    with pytest.raises(bridge.LuaError, match="Graph has cycles"):
        show(graph, f"(function() g:add{{{edges}}} return g:topsort() end)()")


def test_a_cycle_out_of_reach_of_the_roots_is_found(graph: bridge.Lua) -> None:
    more = "local x, y = graph.Node('x'), graph.Node('y') g:add{graph.Edge(x, y), graph.Edge(y, x)}"
    assert show(graph, f"(function() {more} return g:hasCycle() end)()") is True
    with pytest.raises(bridge.LuaError, match="Graph has cycles"):
        show(graph, f"(function() {more} return g:topsort() end)()")


@pytest.mark.parametrize("edge", ["1", "nil", "graph.Edge(a)", "graph.Edge()"])
def test_what_is_no_edge_is_refused(graph: bridge.Lua, edge: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"graph.Edge or|joins two nodes"):
        show(graph, f"g:add({edge})")


@pytest.mark.slow
def test_a_chain_may_be_long(graph: bridge.Lua) -> None:
    code = """
    local first = graph.Node(0)
    local last = first
    for i = 1, 50000 do
       local node = graph.Node(i)
       last:add(node)
       last = node
    end
    local sorted = first:graph():topsort()
    return #sorted, sorted[1] == first, sorted[50001] == last, first:hasCycle()
    """
    assert graph.execute(code) == (50001, True, True, False)


def test_several_roots_and_leaves_come_in_the_nodes_order(graph: bridge.Lua) -> None:
    code = "g:add{graph.Edge(graph.Node('x'), graph.Node('y')), graph.Edge(graph.Node('z'), d)}"
    assert show(graph, f"(function() {code} return names(g:roots()) end)()") == "axz"
    assert show(graph, f"(function() {code} return names(g:leaves()) end)()") == "dy"
    assert show(graph, f"(function() {code} return names((g:topsort())) end)()") == "abczdxy"


def test_the_text_for_graphviz(graph: bridge.Lua) -> None:
    assert show(graph, "g:todot('T')") == (
        'digraph G {\nlabelloc="t";\nlabel="T";\nnode [shape = oval]; \n'
        'n1[label="Node1\\na"];\nn2[label="Node2\\nb"];\nn3[label="Node3\\nc"];\nn4[label="Node4\\nd"];\n'
        "n1 -> n2;\nn1 -> n3;\nn2 -> n4;\nn3 -> n4;\n}"
    )


def test_graphs_go_through_files(graph: bridge.Lua) -> None:
    code = """(function()
       local h = torch.deserialize(torch.serialize(g))
       return names(h.nodes) .. names((h:topsort())) .. h.nodes[h.nodes[3]] .. torch.type(h.edges[1])
    end)()"""
    assert show(graph, code) == "abcdabcd3graph.Edge"


DOT = """#!/bin/sh
# Stands where graphviz's program would: notes how it was called, writes what was asked for.
for last; do :; done
echo "$@" >> {log}
while [ $# -gt 0 ]; do
   case "$1" in
      -Tplain) kind=plain;;
      -o) out="$2";;
   esac
   shift
done
if [ "$kind" = plain ]; then
   printf 'graph 1 2 4\\nnode n1 1 4 1 1 x\\nnode n2 0.5 2 1 1 x\\n' > "$out"
   printf 'node n3 1.5 2 1 1 x\\nnode n4 1 0 1 1 x\\nstop\\n' >> "$out"
else
   cp "$last" "$out"
fi
"""


@pytest.fixture
def dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program `dot` first on the path; return its log."""
    programs, log = tmp_path / "bin", tmp_path / "log"
    programs.mkdir()
    (programs / "dot").write_text(DOT.format(log=log))
    (programs / "dot").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return log


@pytest.fixture
def no_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def test_dot_writes_text_and_picture(graph: bridge.Lua, dot: Path, tmp_path: Path) -> None:
    name = tmp_path / "it's a graph"
    graph.globals.name = str(name)
    show(graph, "graph.dot(g, 'T', name)")
    text = Path(f"{name}.dot").read_text()
    assert text == show(graph, "g:todot('T')")
    assert Path(f"{name}.svg").read_text() == text
    assert dot.read_text().startswith("-Tsvg -o ")


@pytest.mark.usefixtures("no_dot")
def test_without_the_program_dot_the_text_is_written(graph: bridge.Lua, tmp_path: Path) -> None:
    graph.globals.name = str(tmp_path / "g")
    show(graph, "graph.dot(g, 'T', name)")
    assert (tmp_path / "g.dot").read_text().startswith("digraph G {")
    assert not (tmp_path / "g.svg").exists()


def test_pictures_have_the_format_of_their_name(graph: bridge.Lua, dot: Path, tmp_path: Path) -> None:
    graph.globals.name = str(tmp_path / "g.png")
    show(graph, "graph.graphvizFile(g, 'dot', name)")
    assert (tmp_path / "g.png").read_text() == show(graph, "g:todot()")
    assert dot.read_text().startswith("-Tpng -o ")


@pytest.mark.usefixtures("dot")
def test_a_layout_is_a_tensor_of_places(graph: bridge.Lua) -> None:
    code = "graph.graphvizLayout(g):totable()"
    assert show(graph, code) == [[0.5, 1], [0.25, 0.5], [0.75, 0.5], [0.5, 0]]


@pytest.mark.usefixtures("no_dot")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("graph.graphvizFile(g, 'dot', 'x.svg')", "the program dot was not found: install graphviz"),
        ("graph.graphvizFile(g, 'dot', 'x')", "ends with its format"),
        ("graph.graphvizFile(g, 'dot; rm x', 'x.svg')", "name of one of graphviz's programs"),
        ("graph.graphvizLayout(g, 'neato')", "the program neato was not found"),
        ("graph.dot(g, 'T', '/nowhere/at/all')", "cannot write the graph"),
    ],
)
def test_pictures_that_cannot_be_made_are_errors(graph: bridge.Lua, call: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        show(graph, call)
