"""Linear algebra against numpy: results, their layout, result tensors that are given, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import bridge
from tests.elements import FLOATS

RNG = np.random.default_rng(3)
SQUARE = RNG.normal(size=(5, 5)) + 3 * np.eye(5)
TALL = RNG.normal(size=(6, 4))
POSITIVE = SQUARE @ SQUARE.T + np.eye(5)
RIGHT = RNG.normal(size=(5, 2))


def close(found: object, expected: np.ndarray, name: str) -> None:
    assert np.asarray(found).dtype == FLOATS[name]
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if name == "Double" else {"rtol": 2e-3, "atol": 2e-4}
    np.testing.assert_allclose(found, expected, **tolerance)


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    """One state for all tests, of which each sets what it reads."""
    with bridge.Lua() as state:
        state.require("torch")
        yield state


@pytest.fixture(params=["rows", "columns", "strided"])
def given(lua: bridge.Lua, name: str, request: pytest.FixtureRequest) -> bridge.Lua:
    """The matrices in every layout: by rows, by columns, and as every second column of a wider one."""
    for variable, values in {"a": SQUARE, "t": TALL, "p": POSITIVE, "b": RIGHT}.items():
        array = values.astype(FLOATS[name])
        if request.param == "columns":
            array = np.asfortranarray(array)
        elif request.param == "strided":
            wide = np.zeros((array.shape[0], 2 * array.shape[1]), array.dtype)
            wide[:, ::2] = array
            array = wide[:, ::2]
        setattr(lua, variable, array)
    return lua


pytestmark = pytest.mark.parametrize("name", FLOATS)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.gesv(b, a)", np.linalg.solve(SQUARE, RIGHT)),
        ("torch.gesv(b:select(2, 1), a)", np.linalg.solve(SQUARE, RIGHT[:, :1])),
        ("torch.inverse(a)", np.linalg.inv(SQUARE)),
        ("torch.gels(t:narrow(2, 1, 3) * t:narrow(2, 1, 3):t():narrow(2, 1, 2), t)", None),
        ("torch.gels(b:narrow(1, 1, 4), t:t())", np.linalg.lstsq(TALL.T, RIGHT[:4])[0]),
        ("torch.symeig(p)", np.linalg.eigvalsh(POSITIVE)),
        ("torch.symeig(torch.triu(p), 'V', 'U')", np.linalg.eigvalsh(POSITIVE)),
        ("torch.symeig(torch.tril(p), 'V', 'L')", np.linalg.eigvalsh(POSITIVE)),
        ("torch.potrf(p)", np.linalg.cholesky(POSITIVE).T),
        ("torch.potrf(p, 'L')", np.linalg.cholesky(POSITIVE)),
        ("torch.potri(torch.potrf(p))", np.linalg.inv(POSITIVE)),
        ("torch.potri(torch.potrf(p, 'L'), 'L')", np.linalg.inv(POSITIVE)),
        ("torch.potrs(b, torch.potrf(p))", np.linalg.solve(POSITIVE, RIGHT)),
        ("torch.potrs(b, torch.potrf(p, 'L'), 'L')", np.linalg.solve(POSITIVE, RIGHT)),
        ("torch.trtrs(b, a)", np.linalg.solve(np.triu(SQUARE), RIGHT)),
        ("torch.trtrs(b, a, 'L')", np.linalg.solve(np.tril(SQUARE), RIGHT)),
        ("torch.trtrs(b, a, 'U', 'T')", np.linalg.solve(np.triu(SQUARE).T, RIGHT)),
        ("torch.trtrs(b, a, 'U', 'N', 'U')", np.linalg.solve(np.triu(SQUARE, 1) + np.eye(5), RIGHT)),
    ],
)
def test_agrees_with_numpy(given: bridge.Lua, name: str, call: str, expected: np.ndarray | None) -> None:
    if expected is None:
        product = TALL[:, :3] @ TALL[:, :3].T[:, :2]
        expected = np.linalg.lstsq(TALL, product)[0]
    before = {variable: given.eval(variable).copy() for variable in "atpb"}
    close(given.eval(f"(select(1, {call}))"), expected, name)
    for variable, values in before.items():
        np.testing.assert_array_equal(given.eval(variable), values)


@pytest.mark.parametrize(("matrix", "values"), [("t", TALL), ("t:t()", TALL.T), ("a", SQUARE)])
@pytest.mark.parametrize("job", ["S", "A"])
def test_singular_values_and_vectors(
    given: bridge.Lua, name: str, matrix: str, values: np.ndarray, job: str
) -> None:
    u, s, v = given.eval(f"torch.svd({matrix}, '{job}')")
    k = min(values.shape)
    close(s, np.linalg.svd(values, compute_uv=False), name)
    close(u[:, :k] @ np.diag(s) @ v[:, :k].T, values, name)
    assert u.shape == (values.shape[0], values.shape[0] if job == "A" else k)
    assert v.shape == (values.shape[1], values.shape[1] if job == "A" else k)
    close(u.T @ u, np.eye(u.shape[1]), name)
    close(v.T @ v, np.eye(v.shape[1]), name)


@pytest.mark.parametrize(("matrix", "values"), [("t", TALL), ("t:t()", TALL.T), ("a", SQUARE)])
def test_qr_and_its_steps(given: bridge.Lua, name: str, matrix: str, values: np.ndarray) -> None:
    given.execute(f"m = {matrix}; q, r = torch.qr(m); f, tau = torch.geqrf(m)")
    q, r = given.eval("q"), given.eval("r")
    k = min(values.shape)
    assert q.shape == (values.shape[0], k)
    close(q @ r, values, name)
    close(q.T @ q, np.eye(k), name)
    np.testing.assert_array_equal(r, np.triu(r))
    close(given.eval("torch.orgqr(f, tau)")[:, :k], q, name)
    close(given.eval("torch.triu(f:narrow(1, 1, r:size(1)))"), r, name)
    full, triangle = np.linalg.qr(values, mode="complete")
    expected = full.T @ values
    found = given.eval("torch.ormqr(f, tau, m, 'L', 'T')")
    close(np.abs(found), np.abs(expected), name)
    close(given.eval("torch.ormqr(f, tau, torch.ormqr(f, tau, m, 'L', 'T'))"), values, name)
    close(given.eval("torch.ormqr(f, tau, m:t(), 'R', 'N')"), found.T, name)
    assert triangle.shape == values.shape


def test_eigenvalues_and_vectors(given: bridge.Lua, name: str) -> None:
    e, v = given.eval("torch.eig(a, 'V')")
    assert e.shape == (5, 2)
    found = np.sort_complex((e[:, 0] + 1j * e[:, 1]).astype(np.complex128))
    np.testing.assert_allclose(found, np.sort_complex(np.linalg.eigvals(SQUARE)), rtol=1e-3, atol=1e-4)
    for j in range(5):
        if e[j, 1] == 0:
            np.testing.assert_allclose(SQUARE @ v[:, j], e[j, 0] * v[:, j], rtol=1e-3, atol=1e-3)
        elif e[j, 1] > 0:
            vector = v[:, j] + 1j * v[:, j + 1]
            np.testing.assert_allclose(
                SQUARE @ vector, (e[j, 0] + 1j * e[j, 1]) * vector, rtol=1e-3, atol=1e-3
            )
    values, vectors = given.eval("torch.symeig(p, 'V')")
    close(vectors @ np.diag(values) @ vectors.T / 10, POSITIVE / 10, name)


@pytest.mark.parametrize("uplo", ["U", "L"])
def test_pivoted_cholesky(given: bridge.Lua, name: str, uplo: str) -> None:
    factor, order = given.eval(f"torch.pstrf(p, '{uplo}')")
    lower = factor if uplo == "L" else factor.T
    assert order.dtype == np.int32
    np.testing.assert_array_equal(lower, np.tril(lower))
    close(lower @ lower.T, POSITIVE[np.ix_(order - 1, order - 1)], name)
    assert (np.diff(np.diag(lower)) <= 0).all()


@pytest.mark.parametrize("size", [63, 64, 65, 200])
def test_the_inverse_of_larger_matrices(lua: bridge.Lua, name: str, size: int) -> None:
    matrix = np.random.default_rng(size).normal(size=(size, size)) + size**0.5 * np.eye(size)
    lua.a = matrix.astype(FLOATS[name])
    np.testing.assert_allclose(lua.eval("torch.inverse(a)") @ matrix, np.eye(size), atol=2e-3)


@pytest.mark.parametrize(
    ("call", "strides"),
    [
        ("torch.gesv(b, a)", [[1, 5], [1, 5]]),
        ("torch.inverse(a)", [[1, 5]]),
        ("torch.symeig(p, 'V')", [[1], [1, 5]]),
        ("torch.svd(t)", [[1, 6], [1], [4, 1]]),
        ("torch.qr(t)", [[1, 6], [4, 1]]),
        ("torch.potrf(p)", [[1, 5]]),
        ("torch.geqrf(t)", [[1, 6], [1]]),
        ("torch.eig(a, 'V')", [[2, 1], [1, 5]]),
    ],
)
def test_matrices_come_back_by_columns(given: bridge.Lua, call: str, strides: list[list[int]]) -> None:
    given.execute(f"results = {{{call}}}")
    given.execute("for i, t in ipairs(results) do results[i] = t:stride():totable() end")
    assert given.eval("results") == strides


def test_given_results_are_filled_and_returned(given: bridge.Lua, name: str) -> None:
    given.execute("x, f = p.new(9), p.new(); s = x:storage(); rx, rf = torch.gesv(x, f, b, a)")
    assert given.eval("rx == x and rf == f and x:storage() == s")
    close(given.eval("x"), np.linalg.solve(SQUARE, RIGHT), name)
    given.execute("torch.gesv(x, f, b, a)")
    close(given.eval("x"), np.linalg.solve(SQUARE, RIGHT), name)
    given.execute("w = p.new(5, 10):zero(); v = w:narrow(2, 3, 5); torch.inverse(v, a)")
    close(given.eval("v"), np.linalg.inv(SQUARE), name)
    assert given.eval("v:stride(1) == 10 and w:select(2, 1):sum() == 0 and w:select(2, 8):sum() == 0")


def test_operands_can_be_their_own_results(given: bridge.Lua, name: str) -> None:
    given.execute("b, a, p, t = b:clone(), a:clone(), p:clone(), t:clone()")
    given.execute("c = a:clone(); torch.gesv(b, c, b, c); torch.inverse(a, a); torch.potrf(p, p, 'L')")
    close(given.eval("b"), np.linalg.solve(SQUARE, RIGHT), name)
    close(given.eval("a"), np.linalg.inv(SQUARE), name)
    close(given.eval("p"), np.linalg.cholesky(POSITIVE), name)
    given.execute("m = t:clone(); q = t; torch.qr(q, t.new(), t)")
    close(np.abs(given.eval("q")), np.abs(np.linalg.qr(TALL)[0]), name)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("gesv(T(2), T(2, 3))", "A should be square, but is 2x3"),
        ("gesv(T(3), T(2, 2))", "A,B size incompatible - A has 2 rows, B has 3"),
        ("gesv(T(2, 1), T(4))", "A should have 2 dimensions, but has 1"),
        ("gesv(T(2, 1), T(2, 2):zero())", r"Lapack Error in gesv : U\(1,1\) is zero, singular U\."),
        ("inverse(T(2, 3))", "A should be square"),
        ("inverse(T{{1, 2}, {2, 4}})", r"Lapack Error getrf : U\(2,2\) is 0, U is singular"),
        ("potrf(T{{1, 2}, {2, 1}})", r"Lapack Error potrf : A\(2,2\) is 0, A cannot be factorized"),
        ("pstrf(T{{1, 2}, {2, 1}})", "Lapack Error pstrf : matrix is rank deficient"),
        (
            "trtrs(T(2, 1):fill(1), T{{1, 2}, {2, 0}})",
            r"Lapack Error in trtrs : A\(2,2\) is zero, singular A",
        ),
        ("symeig(T(2))", "A should be 2 dimensional"),
        ("svd(T{{1, 0/0}})", "infinite or not a number"),
        ("eig(T{{1/0, 0}, {0, 1}})", "infinite or not a number"),
        ("symeig(T{{1, 2}, {2, 0/0}})", "infinite or not a number"),
        ("gels(T(2), T(3, 2))", "A,B size incompatible"),
        ("ormqr(T(3, 3), T(9), T(3, 3))", "tau should have 1 to 3 elements, but has 9"),
        ("potrf(T(2, 2), 'X')", r"invalid arguments: \w+ string"),
        ("gesv(T(2, 2))", r"expected arguments: \*\w+\* \*\w+\* \w+ \w+ \| \w+ \w+"),
        ("svd(torch.IntTensor(2, 2))", r"torch\.IntTensor does not implement the torch\.svd\(\) function"),
    ],
)
def test_what_is_refused(lua: bridge.Lua, name: str, call: str, message: str) -> None:
    lua.execute(f"T = torch.{name}Tensor")
    with pytest.raises(bridge.LuaError, match=message):
        lua.execute(f"return torch.{call}")


def test_there_are_no_methods(lua: bridge.Lua, name: str) -> None:
    solving = ["gesv", "gels", "trtrs", "inverse", "potrf", "potri", "potrs", "pstrf"]
    factors = ["symeig", "eig", "svd", "qr", "geqrf", "orgqr", "ormqr"]
    tensor = f"torch.{name}Tensor()"
    assert [m for m in solving + factors if lua.eval(f"{tensor}.{m} ~= nil or torch.{m} == nil")] == []
