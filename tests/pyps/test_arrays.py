"""Buffers that are not plain, and those that are refused: with a reason, and with nothing changed."""

from __future__ import annotations

import array
import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import pyps

CONTENT = np.arange(30, dtype=np.float32).reshape(10, 3)


@pytest.fixture
def full(kv: pyps.LocalWorker) -> Iterator[pyps.LocalWorker]:
    """Values that tell their key; a refused call must leave them."""
    kv.set(range(10), CONTENT)
    yield kv
    out = np.zeros_like(CONTENT)
    kv.pull(range(10), out)
    assert np.array_equal(out, CONTENT)


def f32(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def unaligned() -> Any:
    return np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3)


OUTPUTS: dict[str, Callable[[], Any]] = {
    "contiguous": lambda: f32(2, 3),
    "flat": lambda: f32(6),
    "another shape": lambda: f32(1, 3, 2, 1),
    "every second column": lambda: f32(2, 6)[:, ::2],
    "transposed": lambda: f32(3, 2).T,
    "fortran order": lambda: np.zeros((2, 3), np.float32, order="F"),
    "backwards": lambda: f32(6)[::-1],
    "both backwards": lambda: f32(2, 3)[::-1, ::-1],
    "unaligned": unaligned,
    "tensor": lambda: torch.zeros(2, 3),
    "tensor transposed": lambda: torch.zeros(3, 2).T,
    "tensor every second": lambda: torch.zeros(12)[::2],
    "tensor with an offset": lambda: torch.zeros(8)[2:],
    "parameter without grad": lambda: torch.nn.Parameter(torch.zeros(6), requires_grad=False),
    "tensor subclass": lambda: torch.zeros(6).as_subclass(type("Mine", (torch.Tensor,), {})),
    "imaginary part of a conjugate": lambda: torch.zeros(6, dtype=torch.complex64).conj().imag,
    "array.array": lambda: array.array("f", [0] * 6),
    "ctypes": ctypes.c_float * 6,
    "memoryview": lambda: memoryview(array.array("f", [0] * 6)),
    "numpy subclass": lambda: np.ma.zeros(6, np.float32),
}


def values_of(buffer: Any) -> list[float]:
    if isinstance(buffer, torch.Tensor):
        return [float(v) for v in buffer.detach().reshape(-1)]
    return [float(v) for v in np.asarray(buffer).reshape(-1)]


@pytest.mark.parametrize("kind", OUTPUTS)
def test_pull_writes_into_any_layout(full: pyps.LocalWorker, kind: str) -> None:
    out = OUTPUTS[kind]()
    full.pull([1, 2], out)
    assert values_of(out) == [3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("operation", ["push", "set"])
def test_push_and_set_read_any_layout(kv: pyps.LocalWorker, kind: str, operation: str) -> None:
    vals = OUTPUTS[kind]()
    kv.set([1, 2], CONTENT[1:3])
    kv.pull([1, 2], vals)
    kv.set([4, 5], np.zeros((2, 3), np.float32))
    getattr(kv, operation)([4, 5], vals)
    out = f32(6)
    kv.pull([4, 5], out)
    assert out.tolist() == [3, 4, 5, 6, 7, 8]


def test_a_strided_output_leaves_its_neighbours(full: pyps.LocalWorker) -> None:
    around = np.full((2, 6), -1, np.float32)
    full.pull([1, 2], around[:, ::2])
    assert (around[:, 1::2] == -1).all()


INPUTS: dict[str, Any] = {
    "list": [1.0, 2.0, 3.0],
    "nested list": [[1, 2, 3]],
    "tuple": (1, 2.0, 3),
    "read-only": np.broadcast_to(np.array([1, 2, 3], np.float32), (3,)),
    "requires grad": torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
    "bytes behind a memoryview": memoryview(np.array([1, 2, 3], np.float32).tobytes()).cast("f"),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_push_reads_what_pull_could_not_write(kv: pyps.LocalWorker, kind: str) -> None:
    kv.push([7], INPUTS[kind])
    out = f32(3)
    kv.pull([7], out)
    assert out.tolist() == [1, 2, 3]


def test_overlapping_input_is_fine(kv: pyps.LocalWorker) -> None:
    kv.push([1, 2], np.broadcast_to(np.float32(2), (2, 3)))
    kv.push([1, 2], torch.ones(1).expand(2, 3))
    out = f32(6)
    kv.pull([1, 2], out)
    assert out.tolist() == [3] * 6


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("order", ["=", "<", ">"])
def test_keys_of_any_integer_type(full: pyps.LocalWorker, name: str, order: str) -> None:
    out = f32(2, 3)
    full.pull(np.array([7, 2], np.dtype(order + np.dtype(name).str[1:])), out)
    assert out.tolist() == CONTENT[[7, 2]].tolist()


@pytest.mark.parametrize(
    "keys",
    [
        np.arange(20)[4:8:2],
        np.arange(10)[::-1][3:6:2],
        torch.arange(20)[4:8:2],
        torch.tensor([4, 6], dtype=torch.int32),
        torch.tensor([4, 6], dtype=torch.uint8),
        np.array([[4], [6]]),
        array.array("q", [4, 6]),
        [np.int64(4), np.int32(6)],
    ],
    ids=str,
)
def test_keys_of_any_layout(full: pyps.LocalWorker, keys: Any) -> None:
    out = f32(2, 3)
    full.pull(keys, out)
    assert out.tolist() == CONTENT[np.asarray(keys).reshape(-1)].tolist()


def test_one_number_is_a_key(full: pyps.LocalWorker) -> None:
    out = f32(3)
    full.pull(4, out)
    full.pull(np.int64(4), out)
    assert out.tolist() == CONTENT[4].tolist()


BAD_KEYS: list[tuple[Any, type[Exception], str]] = [
    ([-1], ValueError, r"key -1 at position 0 is outside \[0, 10\)"),
    ([3, 10], ValueError, r"key 10 at position 1 is outside \[0, 10\)"),
    ([3, 4, 2**62], ValueError, f"key {2**62} at position 2"),
    ([-(2**63)], ValueError, "key -9223372036854775808 at position 0"),
    ([2**63], ValueError, "does not fit into int64"),
    ([2**80], ValueError, "do not fit into int64"),
    (np.array([2**63], np.uint64), ValueError, "key 9223372036854775808 at position 0"),
    ([1.0], TypeError, "must be integers, not float64"),
    ([float("nan")], TypeError, "must be integers, not float64"),
    (np.array([1.0], np.float32), TypeError, "must be integers, not float32"),
    (np.zeros(0, np.float64), TypeError, "must be integers, not float64"),
    (torch.tensor([1.0]), TypeError, "must be integers, not float32"),
    ([True], TypeError, "must be integers, not bool"),
    (True, TypeError, "must be integers, not bool"),
    (torch.tensor([True]), TypeError, "must be integers, not bool"),
    (1.5, TypeError, "must be integers"),
    (None, TypeError, "must be integers"),
    ("1", TypeError, "must be integers"),
    (b"\x01", TypeError, "must be integers"),
    (["a"], TypeError, "must be integers"),
    ([[1], [2, 3]], TypeError, "cannot be read as an array"),
    ({1}, TypeError, "must be integers"),
    ({1: 2}, TypeError, "must be integers"),
    (object(), TypeError, "must be integers"),
    (np.array([1], np.complex64), TypeError, "must be integers, not complex64"),
    (np.array([1], "M8[s]"), TypeError, "must be integers, not datetime64"),
    (np.array([(1,)], [("key", int)]), TypeError, "must be integers"),
    (torch.zeros(1, dtype=torch.int64, device="meta"), ValueError, "is on device meta"),
    (torch.zeros(1, dtype=torch.int64).to_sparse(), TypeError, "layout"),
]
BAD_KEY_NAMES = [
    repr(row[0]).split(" at 0x")[0][:40] for row in BAD_KEYS
]  # without addresses: the same in each run
OPERATIONS = ["pull", "push", "set", "pull_if_local"]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("keys", "error", "message"), BAD_KEYS, ids=BAD_KEY_NAMES)
def test_bad_keys(
    full: pyps.LocalWorker, operation: str, keys: Any, error: type[Exception], message: str
) -> None:
    count = len(keys) if isinstance(keys, (list, np.ndarray)) else 1
    vals = np.full((count, 3), -5, np.float32)
    with pytest.raises(error, match=message):
        getattr(full, operation)(keys, vals)
    assert (vals == -5).all()


@pytest.mark.parametrize("operation", ["localize", "intent"])
@pytest.mark.parametrize(("keys", "error", "message"), BAD_KEYS, ids=BAD_KEY_NAMES)
def test_bad_keys_of_management(
    full: pyps.LocalWorker, operation: str, keys: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        getattr(full, operation)(keys, *([0] if operation == "intent" else []))


def made_up() -> Any:
    with FakeTensorMode():
        return torch.zeros(6)


def zero_tensor() -> Any:
    return torch._efficientzerotensor((6,))


def nested() -> Any:
    return torch.nested.nested_tensor([torch.zeros(2), torch.zeros(4)], layout=torch.jagged)


Case = tuple[str, Callable[[], Any], type[Exception], str]
BAD_VALUES: list[Case] = [
    ("too short", lambda: f32(5), ValueError, "buffer has 5 elements, the values of these 2 keys have 6"),
    ("too long", lambda: f32(7), ValueError, "buffer has 7 elements"),
    ("empty", lambda: f32(0), ValueError, "buffer has 0 elements"),
    ("strided too short", lambda: f32(10)[::2], ValueError, "buffer has 5 elements"),
    ("tensor too short", lambda: torch.zeros(5), ValueError, "buffer has 5 elements"),
    ("float64", lambda: np.zeros(6), TypeError, "values is float64, but the server holds float32"),
    (
        "float16",
        lambda: np.zeros(6, np.float16),
        TypeError,
        "values is float16, but the server holds float32",
    ),
    ("int32", lambda: np.zeros(6, np.int32), TypeError, "values is int32, but the server holds float32"),
    ("int64", lambda: np.zeros(6, np.int64), TypeError, "values is int64"),
    ("uint32", lambda: np.zeros(6, np.uint32), TypeError, "values is uint32"),
    ("uint8", lambda: np.zeros(24, np.uint8), TypeError, "values is uint8"),
    ("bool", lambda: np.zeros(6, bool), TypeError, "values is bool"),
    ("complex64", lambda: np.zeros(3, np.complex64), TypeError, "values is complex64"),
    ("object", lambda: np.zeros(6, object), TypeError, "values is object"),
    ("byte-swapped", lambda: np.zeros(6, ">f4"), TypeError, "values is byte-swapped float32"),
    ("structured", lambda: np.zeros(6, [("x", "f4")]), TypeError, "but the server holds float32"),
    ("tensor float64", lambda: torch.zeros(6, dtype=torch.float64), TypeError, "values is float64"),
    ("tensor bfloat16", lambda: torch.zeros(6, dtype=torch.bfloat16), TypeError, "values is bfloat16"),
    ("tensor float16", lambda: torch.zeros(6, dtype=torch.float16), TypeError, "values is float16"),
    ("tensor int32", lambda: torch.zeros(6, dtype=torch.int32), TypeError, "values is int32"),
    ("tensor bool", lambda: torch.zeros(6, dtype=torch.bool), TypeError, "values is bool"),
    ("tensor complex", lambda: torch.zeros(3, dtype=torch.complex64), TypeError, "values is complex64"),
    ("tensor elsewhere", lambda: torch.zeros(6, device="meta"), ValueError, "is on device meta"),
    ("tensor sparse", lambda: torch.zeros(6).to_sparse(), TypeError, "layout"),
    ("tensor made up", made_up, TypeError, r"values is a FakeTensor of shape .* without elements in memory"),
    ("zero tensor", zero_tensor, TypeError, "without elements in memory: pass a plain tensor"),
    ("nested tensor", nested, TypeError, "values is a nested tensor, whose parts have shapes of their own"),
    ("double in a buffer", lambda: array.array("d", [0] * 6), TypeError, "values is float64"),
]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("case", BAD_VALUES, ids=[row[0] for row in BAD_VALUES])
def test_bad_values(full: pyps.LocalWorker, operation: str, case: Case) -> None:
    _, make, error, message = case
    with pytest.raises(error, match=message):
        getattr(full, operation)([1, 2], make())


def test_tensors_inside_of_a_function_transform_are_refused(full: pyps.LocalWorker) -> None:
    def push(values: torch.Tensor) -> torch.Tensor:
        full.push([1], values)
        return values

    with pytest.raises(
        TypeError, match=r"without elements in memory: .* inside of torch.compile, torch.func"
    ):
        torch.vmap(push)(torch.ones(2, 1, 3))


def test_keys_without_elements_in_memory_are_refused(full: pyps.LocalWorker) -> None:
    with FakeTensorMode():
        keys = torch.arange(2)
    with pytest.raises(TypeError, match=r"keys is a FakeTensor of shape .* without elements in memory"):
        full.pull(keys)


def read_only() -> Any:
    vals = f32(6)
    vals.flags.writeable = False
    return vals


BAD_OUTPUTS: list[Case] = [
    ("read-only", read_only, ValueError, "read-only"),
    ("strided read-only", lambda: read_only()[::-1], ValueError, "read-only"),
    ("bytes", lambda: bytes(24), TypeError, "not bytes"),
    ("read-only memoryview", lambda: memoryview(bytes(24)).cast("f"), ValueError, "read-only"),
    ("list", lambda: [0.0] * 6, TypeError, "not list"),
    ("tuple", lambda: (0.0,) * 6, TypeError, "not tuple"),
    ("None", lambda: None, TypeError, "not NoneType"),
    ("number", lambda: 0.0, TypeError, "not float"),
    ("string", lambda: "abcdef", TypeError, "not str"),
    ("object", object, TypeError, "not object"),
    ("stride 0", lambda: np.lib.stride_tricks.as_strided(f32(1), (6,), (0,)), ValueError, "overlaps itself"),
    (
        "sliding window",
        lambda: np.lib.stride_tricks.as_strided(f32(9), (2, 3), (4, 4)),
        ValueError,
        "overlaps",
    ),
    ("expanded tensor", lambda: torch.zeros(1).expand(6), ValueError, "overlaps itself"),
    ("unfolded tensor", lambda: torch.zeros(4).unfold(0, 3, 1), ValueError, "overlaps itself"),
    ("requires grad", lambda: torch.zeros(6, requires_grad=True), ValueError, "requires grad"),
    ("parameter", lambda: torch.nn.Parameter(torch.zeros(6)), ValueError, "requires grad"),
    ("strided requires grad", lambda: torch.zeros(12, requires_grad=True)[::2], ValueError, "requires grad"),
]


@pytest.mark.parametrize("operation", ["pull", "pull_if_local"])
@pytest.mark.parametrize("case", BAD_OUTPUTS, ids=[row[0] for row in BAD_OUTPUTS])
def test_bad_outputs(full: pyps.LocalWorker, operation: str, case: Case) -> None:
    name, make, error, message = case
    if (name, operation) == ("None", "pull"):
        assert full.pull([1, 2], make()).shape == (2, 3)
        return
    with pytest.raises(error, match=message):
        getattr(full, operation)([1, 2], make())


@pytest.mark.parametrize(
    ("vals", "error"),
    [(["a"] * 3, TypeError), ([None] * 3, TypeError), ([[1], [2, 3]], TypeError), ([1j] * 3, TypeError)],
)
def test_bad_numbers(full: pyps.LocalWorker, vals: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        full.push([1], vals)


@pytest.mark.parametrize(("vals", "error"), [([1.5], TypeError), ([2**31], ValueError), ([2**70], TypeError)])
def test_numbers_that_an_integer_server_cannot_hold(vals: Any, error: type[Exception]) -> None:
    with pyps.local(1, 1, dtype="int32") as kv, pytest.raises(error):
        kv.push([0], vals)


def test_a_bad_key_late_in_a_batch_changes_nothing(full: pyps.LocalWorker) -> None:
    keys = np.zeros(5000, np.int64)
    keys[4999] = 10
    with pytest.raises(ValueError, match="key 10 at position 4999"):
        full.push(keys, np.ones((5000, 3), np.float32))


def test_pulling_over_the_keys_is_refused() -> None:
    with pyps.local(10, 1, dtype="int64") as kv:
        keys = np.arange(10)
        with pytest.raises(ValueError, match="overlaps the keys"):
            kv.pull(keys, keys)
        assert keys.tolist() == list(range(10))


@pytest.mark.parametrize("operation", ["pull", "push", "set", "localize"])
def test_unknown_options_are_refused(full: pyps.LocalWorker, operation: str) -> None:
    arguments = [[1]] if operation == "localize" else [[1], f32(3)]
    with pytest.raises(TypeError, match="unexpected keyword argument 'asynk'"):
        getattr(full, operation)(*arguments, asynk=True)


def test_keys_changed_by_another_thread_do_no_harm(kv: pyps.LocalWorker) -> None:
    """Every key is checked where it is used; a change meanwhile is an error at worst."""
    import threading

    keys = np.zeros(200_000, np.int64)
    out = np.zeros((200_000, 3), np.float32)
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            keys[:] = 2**60
            keys[:] = 0

    thread = threading.Thread(target=disturb)
    thread.start()
    refused = 0
    for _ in range(100):
        try:
            kv.pull(keys, out)
        except ValueError:
            refused += 1
    stop.set()
    thread.join(10)
    assert refused > 0
