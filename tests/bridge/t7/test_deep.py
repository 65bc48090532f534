"""Files whose values nest deeply, hold themselves, or share much."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bridge import t7

DEEP = 100_000  # of lists; other kinds take longer to make
LESS_DEEP = 20_000


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def name(text: bytes) -> bytes:
    return ints(3) + b"V 1" + ints(len(text)) + text


def text_of(error: pytest.ExceptionInfo[t7.T7Error]) -> str:
    return str(error.value)


def in_a_small_stack(work: Callable[[], Any]) -> Any:
    """Run in a thread with 256 KB of stack: recursion in C would end the process."""
    results: list[Any] = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: results.append(work()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join(30)
    assert not thread.is_alive()
    return results[0]


def nested_lists() -> Any:
    value: Any = []
    for _ in range(DEEP):
        value = [value]
    return value


def nested_dicts() -> Any:
    value: Any = {}
    for _ in range(LESS_DEEP):
        value = {"inner": value}
    return value


def nested_objects() -> Any:
    value: Any = 1
    for _ in range(LESS_DEEP):
        value = t7.TorchObject("nn.Sequential", {"inner": value})
    return value


def nested_functions() -> Any:
    value: Any = 1
    for _ in range(LESS_DEEP):
        value = t7.TorchFunction(b"", value)
    return value


def nested_keys() -> Any:
    value: Any = [1]
    for _ in range(LESS_DEEP):
        value = {t7.Key(value): 1}
    return value


@pytest.mark.slow
@pytest.mark.parametrize("make", [nested_lists, nested_dicts, nested_objects, nested_functions, nested_keys])
@pytest.mark.parametrize("text", [False, True])
def test_depth_is_no_limit(make: Callable[[], Any], text: bool, tmp_path: Path) -> None:
    value = make()
    kept = []  # letting go of deep values takes Python 3.13 more stack than that

    def there_and_back() -> bool:
        data = t7.dumps(value, ascii=text)
        kept.append(t7.loads(data))
        return t7.dumps(kept[0], ascii=text) == data

    assert in_a_small_stack(there_and_back)
    t7.save(value, tmp_path / "deep.t7")

    def inspected() -> int:
        kept.append(t7.inspect(tmp_path / "deep.t7"))
        return len(str(kept[1]))

    assert in_a_small_stack(inspected) > 100


def test_payloads_of_payloads_are_no_recursion() -> None:
    data = b"".join(ints(4, i + 1) + name(b"a.B") for i in range(LESS_DEEP)) + ints(0)
    value = in_a_small_stack(lambda: t7.loads(data))
    assert value.torch_payload().torch_typename() == "a.B"
    assert in_a_small_stack(lambda: t7.dumps(value)) == data


def test_the_way_to_a_deep_value_stays_short() -> None:
    value: Any = object()
    for _ in range(1000):
        value = [value]
    with pytest.raises(t7.T7Error) as error:
        t7.dumps(value)
    assert len(text_of(error)) < 600


def test_an_object_that_holds_itself_in_every_way_is_read_and_written() -> None:
    value = t7.TorchObject("a.B", {})
    value.me = value
    value.fields()[value] = [value]
    vector = t7.TorchObject("tds.Vec", [])
    vector.torch_payload().append(vector)
    again, found = t7.loads(t7.dumps([value, vector]))
    assert again.me is again
    assert again[again][0] is again
    assert found.torch_payload()[0] is found


def test_tables_that_share_tables_do_not_multiply() -> None:
    value: Any = ["end"]
    for _ in range(60):
        value = [value, value]
    again = t7.loads(t7.dumps(value))
    assert again[0] is again[1]


@pytest.mark.slow
def test_indices_in_any_order_take_no_longer() -> None:
    count = 200_000
    entries = b"".join(
        ints(1) + struct.pack("<d", i) + ints(3, (i * 7919 * 64) % (2**31 - 2) + 2, 0) for i in range(count)
    )
    begin = time.perf_counter()
    t7.loads(ints(3, 1, count) + entries)
    assert time.perf_counter() - begin < 5
