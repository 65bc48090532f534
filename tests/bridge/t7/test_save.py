"""What is written to Torch7's files, and what happens to the file that was there."""

from __future__ import annotations

import stat
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bridge import t7
from tests.elements import DTYPES, INTEGERS


@pytest.mark.parametrize("text", [False, True])
def test_plain_values_come_back(text: bool) -> None:
    value = {"a": [1, 2.5, "x", b"\xff", True, None], "b": {"c": {}}, 7: (1, 2), 2.5: "f"}
    expected = {"a": [1, 2.5, "x", b"\xff", True, None], "b": {"c": []}, 7: [1, 2], 2.5: "f"}
    assert t7.loads(t7.dumps(value, ascii=text)) == expected


def test_kin_of_plain_types_are_written_as_them() -> None:
    value = [
        np.float32(0.5),
        np.int64(3),
        np.bool_(True),
        range(2),
        OrderedDict(a=1),
        bytearray(b"\xff"),
        np.array(4),
    ]
    assert t7.loads(t7.dumps(value)) == [0.5, 3, True, [0, 1], {"a": 1}, b"\xff", 4]


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("byteorder", ["little", "big"])
def test_arrays_of_every_element_type_come_back(element: str, text: bool, byteorder: Any) -> None:
    limits = np.iinfo(DTYPES[element]) if element in INTEGERS else np.finfo(DTYPES[element])
    array = np.array([limits.min, 0, 1, limits.max], DTYPES[element])
    got = t7.loads(t7.dumps(array, ascii=text, byteorder=byteorder))
    assert got.dtype == array.dtype
    assert (got == array).all()


def test_bool_arrays_are_bytes() -> None:
    for value in (np.array([True, False]), torch.tensor([True, False])):
        got = t7.loads(t7.dumps(value))
        assert got.dtype == np.uint8
        assert got.tolist() == [1, 0]


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[1:3, ::2],
        lambda a: a[:, 1],
        lambda a: np.broadcast_to(a[0], (5, 6)),
        lambda a: np.lib.stride_tricks.sliding_window_view(a[0], 3),
        lambda a: a[2:3],
    ],
)
def test_a_view_is_written_with_its_strides_and_its_whole_base(view: Any) -> None:
    base = np.arange(24.0)
    array = view(base.reshape(4, 6))
    got = t7.loads(t7.dumps(array))
    assert got.strides == array.strides
    assert (got == array).all()
    assert got.base.size == 24


@pytest.mark.parametrize("view", [lambda a: a[::-1], lambda a: a.astype(">f8"), lambda a: a[:, ::-2]])
def test_an_array_that_torch7_cannot_view_is_written_as_a_copy(view: Any) -> None:
    array = view(np.arange(24.0).reshape(4, 6))
    got = t7.loads(t7.dumps(array))
    assert got.base.size == array.size
    assert (got == array).all()


def test_fields_of_records_are_written() -> None:
    records = np.zeros(3, [("a", "f4"), ("b", "f8")])
    records["a"] = [1, 2, 3]
    assert t7.loads(t7.dumps(records["a"])).tolist() == [1, 2, 3]


def test_views_of_one_base_share_one_storage() -> None:
    base = np.arange(6.0)
    a, b = t7.loads(t7.dumps([base.reshape(2, 3), base[2:]]))
    a[0, 2] = 100
    assert b[0] == 100


def test_views_of_one_torch_storage_share_it_also_with_numpy() -> None:
    tensor = torch.arange(6.0)
    a, b, c = t7.loads(t7.dumps([tensor.view(2, 3).t(), tensor[2:], tensor.numpy()]))
    a[2, 0] = 100
    assert b[0] == c[2] == 100
    assert a.strides == (4, 12)


def test_one_array_in_two_places_is_one_tensor() -> None:
    array = np.zeros(2)
    a, b = t7.loads(t7.dumps([array, array]))
    assert a is b


def test_a_parameter_that_requires_grad_is_written() -> None:
    assert t7.loads(t7.dumps(torch.nn.Linear(2, 3).weight)).shape == (3, 2)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": [1, {2: object()}]}, r"obj\['a'\]\[1\]\[2\]: .*object has no form"),
        ([1, 2**53 + 1], r"obj\[1\]: 9007199254740993 is no double"),
        ([[10**400]], r"obj\[0\]\[0\]: .*too large"),
        ({"x": {3 + 0j}}, r"obj\['x'\]: .*set has no form"),
        ([np.zeros(2, complex)], r"obj\[0\]: an array of complex128"),
        ([torch.zeros(2, dtype=torch.bfloat16)], r"obj\[0\]: a tensor of torch.bfloat16"),
        ([np.ma.masked_array([1.0], [True])], r"obj\[0\]: a masked array"),
        ({None: 1}, r"None is no key"),
        ({float("nan"): 1}, r"nan is no key"),
        ({"k": "\ud800"}, r"obj\['k'\]: .*surrogates"),
        ({(1, lambda: 0): 1}, r"key .*function has no form"),
        (t7.TorchObject("nn.X", {"w": [object()]}), r"obj\['w'\]\[0\]"),
        (t7.TorchObject("torch.FloatTensor", {}), r"an array"),
        (t7.TorchObject("torch.Generator", b"short"), r"5048 bytes"),
        (t7.TorchObject("tds.Vec", {}), r"payload of a tds.Vec"),
    ],
)
def test_what_has_no_form_is_refused_with_the_way_to_it(value: Any, message: str) -> None:
    with pytest.raises(t7.T7Error, match=message):
        t7.dumps(value)


def test_a_number_that_does_not_fit_a_long_of_4_bytes_is_refused() -> None:
    with pytest.raises(t7.T7Error, match=r"obj\['n'\]: 4294967296 does not fit a long of 4 bytes"):
        t7.dumps({"n": np.int64([2**32])}, long_size=4)


@pytest.mark.parametrize("options", [{"long_size": 2}, {"byteorder": "middle"}])
def test_options_of_save_are_checked(options: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        t7.dumps(1, **options)


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "model.t7"
    t7.save([1], file)
    with pytest.raises(t7.T7Error):
        t7.save([np.zeros(100_000), object()], file)
    assert t7.load(file) == [1]
    assert list(tmp_path.iterdir()) == [file]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    import resource

    file = tmp_path / "model.t7"
    t7.save([1], file)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        with pytest.raises(OSError, match="large"):
            t7.save(np.zeros(1_000_000), file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert t7.load(file) == [1]
    assert list(tmp_path.iterdir()) == [file]


def test_a_saved_file_has_the_usual_permissions_or_those_of_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "model.t7"
    t7.save(1, file)
    (tmp_path / "plain").touch()
    assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode
    file.chmod(0o640)
    t7.save(2, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_symbolic_link_is_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target.t7", tmp_path / "link.t7"
    t7.save(1, target)
    link.symlink_to(target)
    t7.save(2, link)
    assert link.is_symlink()
    assert t7.load(target) == 2


def test_the_old_file_can_be_in_use_as_a_map_while_it_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "model.t7"
    t7.save(np.arange(1000.0), file)
    array = t7.load(file, mmap=True)
    t7.save(np.zeros(3), file)
    assert array[999] == 999
