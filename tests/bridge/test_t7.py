"""Torch7's files from Python: what is loaded, what is saved, what `inspect` tells."""

from __future__ import annotations

import copy
import io
import math
import pickle
import re
import stat
import struct
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bridge
from bridge import t7

DATA = Path(__file__).parents[1] / "data" / "torch7"
FILES = DATA / "files"
NAMES = [line.split("\t")[0] for line in (FILES / "MANIFEST.txt").read_text().splitlines()]
ALL = sorted(path.name for path in FILES.glob("*.t7"))
DTYPES = {
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
    "Float": "float32",
    "Double": "float64",
}
DESCRIBED = re.compile(rb"torch\.\w+(?:Tensor size=.*|Storage values=.*)$", re.MULTILINE)


def loaded(name: str, **options: Any) -> Any:
    return t7.load(FILES / f"{name}.t7", **options)


def printed() -> dict[str, list[str]]:
    """What Torch7 printed of the tensors and storages of each object."""
    sections = re.split(rb"^=== (\w+) -- .*$", (DATA / "PRINTED.txt").read_bytes(), flags=re.MULTILINE)[1:]
    return {
        name.decode(): sorted({line.decode() for line in DESCRIBED.findall(text)})
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }


PRINTED = printed()


def everything(value: Any) -> Iterator[Any]:
    """Each value that is reachable, once."""
    seen, waiting = set(), [value]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, dict):
            waiting += [key.value if isinstance(key, t7.Key) else key for key in value]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, t7.TorchObject):
            waiting.append(value.torch_payload())
        elif isinstance(value, t7.TorchFunction):
            waiting.append(value.upvalues)


def numbers(values: Any) -> str:
    return "{" + " ".join("nan" if math.isnan(v) else f"{float(v):.17g}" for v in values) + "}"


def described(value: Any) -> str | None:
    """As the file of printed objects has it."""
    if isinstance(value, t7.Storage):
        return f"torch.{element(value.array)}Storage values={numbers(value)}"
    if not isinstance(value, np.ndarray):
        return None
    base = value.base if value.base is not None else value
    offset = (address(value) - address(base)) // value.itemsize + 1
    empty = value.size == 0
    size = "" if empty else ",".join(map(str, value.shape))
    stride = "" if empty else ",".join(str(s // value.itemsize) for s in value.strides)
    place = f"size={{{size}}} stride={{{stride}}} offset={offset}"
    return f"torch.{element(value)}Tensor {place} values={numbers(value.flat)}"


def element(array: Any) -> str:
    return next(name for name, dtype in DTYPES.items() if dtype == str(array.dtype))


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


# Loading what a real Torch7 wrote.


def test_bridge_reaches_it_by_name() -> None:
    assert bridge.t7.load is t7.load


@pytest.mark.parametrize("form", ["", ".ascii"])
@pytest.mark.parametrize("name", NAMES)
def test_tensors_have_the_sizes_strides_offsets_and_values_that_torch7_printed(name: str, form: str) -> None:
    value = loaded(name + form)
    assert sorted({text for v in everything(value) if (text := described(v))}) == PRINTED[name]


@pytest.mark.parametrize("name", ALL)
def test_what_was_loaded_is_saved_byte_for_byte(name: str) -> None:
    original = (FILES / name).read_bytes()
    form = {"longsize4.t7": {"long_size": 4}, "bigendian.t7": {"byteorder": "big"}}.get(name, {})
    assert t7.dumps(t7.loads(original), ascii=".ascii" in name, **form) == original  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ALL)
def test_what_was_loaded_as_torch_is_saved_byte_for_byte(name: str) -> None:
    original = (FILES / name).read_bytes()
    form = {"longsize4.t7": {"long_size": 4}, "bigendian.t7": {"byteorder": "big"}}.get(name, {})
    saved = t7.dumps(t7.loads(original, tensors="torch"), ascii=".ascii" in name, **form)  # type: ignore[arg-type]
    if name.startswith(
        "tensor_1d_size0"
    ):  # torch has no tensor without a storage to tell an empty storage from
        assert len(saved) < len(original)
    else:
        assert saved == original


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_hold_the_same(name: str) -> None:
    binary, text = (FILES / f"{name}.t7").read_bytes(), (FILES / f"{name}.ascii.t7").read_bytes()
    layouts = {"Truth.Custom": ("object", "int")}
    assert t7.dumps(t7.loads(binary, layouts=layouts), ascii=True) == text
    if "nan" not in name and "extreme" not in name:  # text does not hold all of a nan's bits
        assert t7.dumps(t7.loads(text, layouts=layouts)) == binary


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nil", None),
        ("true", True),
        ("false", False),
        ("number_int", 42),
        ("number_neg", -1.5),
        ("number_inf", float("inf")),
        ("number_ninf", float("-inf")),
        ("number_pi", 3.1415926535897931),
        ("number_big", 2.0**53),
        ("number_tiny", 5e-324),
        ("string", "hello world"),
        ("string_empty", ""),
        ("string_nul", "a\0b\0\0c"),
        ("string_utf8", "grüße 你好"),
        ("table_empty", []),
        ("table_holes", {1: 1, 3: 3, 5: 5}),
        ("table_array", [10, 20, 30, "x", True, False]),
    ],
)
@pytest.mark.parametrize("form", ["", ".ascii"])
def test_plain_values_are_pythons(name: str, value: Any, form: str) -> None:
    got = loaded(name + form)
    assert got == value
    assert type(got) is type(value)


def test_a_number_is_an_int_where_it_is_whole_and_below_2_53() -> None:
    values = [1.0, -0.0, 2.0**53 - 1, 2.0**53, 0.5]
    got = t7.loads(t7.dumps(values))
    assert [type(v) for v in got] == [int, float, int, float, float]
    assert str(got[1]) == "-0.0"


def test_nan_keeps_its_sign_in_both_forms() -> None:
    for form in ("", ".ascii"):
        assert struct.pack("<d", loaded("number_nan" + form))[7] & 0x80


def test_a_string_that_is_not_utf8_is_bytes() -> None:
    assert isinstance(loaded("string_bin"), bytes)


def test_a_table_with_strings_and_other_keys_is_a_dict() -> None:
    table = loaded("table_map")
    assert table[-1] == "neg"
    assert table[1.5] == "float key"
    assert table[True] == "bool key" or table[t7.Key(True)] == "bool key"


def test_a_table_is_a_dict_where_that_is_asked_for() -> None:
    assert list(loaded("table_array100", tables="dict").values()) == loaded("table_array100")
    assert loaded("table_empty", tables="dict") == {}


def test_a_list_whose_keys_come_in_another_order_is_a_list() -> None:
    shuffled = t7.dumps({3: "c", 1: "a", 2: "b"})
    assert t7.loads(shuffled) == ["a", "b", "c"]
    assert t7.loads(t7.dumps({3: "c", 1: "a", 4: "b"})) == {3: "c", 1: "a", 4: "b"}


def test_tables_that_are_shared_or_in_a_cycle_stay_so() -> None:
    table = loaded("table_cycle")
    assert table["self"] is table
    assert table["child"]["parent"] is table
    assert table[1] is table[2] is table[3][0]


def test_a_table_as_a_key_is_found_by_itself() -> None:
    table = loaded("table_tablekey")
    assert table[t7.Key(table["key"])] == "val"


def test_booleans_and_numbers_as_keys_of_one_table_stay_apart() -> None:
    table = {t7.Key(True): "yes", 1: "one", 0: "zero", t7.Key(False): "no"}
    assert t7.loads(t7.dumps(table)) == table
    assert t7.loads(t7.dumps({True: 1, "a": 2})) == {True: 1, "a": 2}


@pytest.mark.parametrize("name", ["class_dog", "class_dog.ascii"])
def test_an_object_has_its_fields_as_attributes(name: str) -> None:
    dog = loaded(name)
    assert dog.torch_typename() == "Truth.Dog"
    assert (dog.name, dog.age, dog["age"]) == ("rex", 3, 3)
    assert set(dog.fields()) == {"name", "age", "data"}
    assert {"name", "age", "data"} <= set(dir(dog))
    with pytest.raises(AttributeError, match=r"Truth.Dog has no field 'tail'"):
        dog.tail  # noqa: B018


def test_a_field_can_be_set_and_is_saved() -> None:
    dog = loaded("class_dog")
    dog.name = "lassie"
    del dog.age
    again = t7.loads(t7.dumps(dog))
    assert again.name == "lassie"
    assert "age" not in again


def test_objects_that_are_shared_stay_so() -> None:
    pack = loaded("class_shared")
    assert pack[0] is pack[1]
    assert np.shares_memory(pack[0].data, pack[3]) == (pack[0].data is pack[3])


def test_versions_are_kept() -> None:
    assert loaded("class_versioned").torch_version() == 3


def test_an_object_can_be_pickled_and_copied() -> None:
    dog = loaded("class_dog")
    for again in (pickle.loads(pickle.dumps(dog)), copy.deepcopy(dog)):
        assert again.torch_typename() == "Truth.Dog"
        assert again.name == "rex"


def test_a_class_with_a_layout_of_its_own_is_read_by_it() -> None:
    for form in ("", ".ascii"):
        value = loaded("class_custom" + form, layouts={"Truth.Custom": ("object", "int")})
        assert value.torch_parts()[1] == ("int", 77)
    assert t7.dumps(value) == (FILES / "class_custom.t7").read_bytes()


def test_a_class_with_a_layout_of_its_own_inside_a_table_is_named_when_it_is_not_known() -> None:
    custom = loaded("class_custom", layouts={"Truth.Custom": ("object", "int")})
    data = t7.dumps([custom, "after"])
    with pytest.raises(t7.T7Error, match=r"Truth\.Custom.*layouts="):
        t7.loads(data)
    both = t7.loads(data, layouts={"Truth.Custom": ("object", "int")})
    assert both[1] == "after"


def test_every_kind_of_a_layouts_part_is_written_and_read() -> None:
    kinds = ("object", "int", "long", "short", "byte", "char", "bool", "float", "double")
    values = [{"a": 1}, -5, -(2**40), -3, 200, -100, True, 0.5, 0.1]
    value = t7.TorchObject("My.Class", {}, parts=list(zip(kinds, values, strict=True)))
    for text in (False, True):
        again = t7.loads(t7.dumps([value, 1], ascii=text), layouts={"My.Class": kinds})[0]
        assert [part for _, part in again.torch_parts()] == values


def test_a_generators_state_is_bytes() -> None:
    value = loaded("generator")
    assert value.torch_typename() == "torch.Generator"
    assert len(value.torch_payload()) == 5048


def test_tds_containers_are_read_and_written() -> None:
    vector = t7.TorchObject("tds.Vec", ["a", 2.5])
    table = t7.TorchObject("tds.Hash", {"k": vector, 3: "c"})
    for text in (False, True):
        again = t7.loads(t7.dumps([table, table], ascii=text))
        assert again[0] is again[1]
        assert again[0]["k"].torch_payload() == ["a", 2.5]
        assert again[0][3] == "c"


def test_a_function_is_kept_but_never_run() -> None:
    function = loaded("function_upvalues")
    assert isinstance(function, t7.TorchFunction)
    assert function.code.startswith(b"\x1bLJ")
    assert [upvalue["name"] for upvalue in function.upvalues] == ["up1", "up2"]
    with pytest.raises(TypeError, match="not run by"):
        function(1)


@pytest.mark.parametrize("kind", [6, 7, 8])
def test_functions_of_all_ages_are_read_and_written(kind: int) -> None:
    value = [t7.TorchFunction(b"code", [1, "x"], kind), 5]
    got = t7.loads(t7.dumps(value))
    assert (got[0].code, got[0].upvalues, got[0].kind, got[1]) == (b"code", [1, "x"], kind, 5)


def test_a_function_may_be_its_own_upvalue() -> None:
    function = loaded("function_recursive")
    assert function.upvalues[0]["value"] is function


# Tensors.


@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize("form", ["", ".ascii"])
def test_a_tensor_is_an_array_of_its_element_type(element: str, form: str) -> None:
    array = loaded(f"tensor_{element}{form}")
    assert array.dtype == DTYPES[element]
    assert array.shape == (3, 4)
    assert array.flags.writeable


@pytest.mark.parametrize("element", DTYPES)
def test_a_tensor_can_be_a_torch_tensor(element: str) -> None:
    tensor = loaded(f"tensor_{element}", tensors="torch")
    assert str(tensor.dtype) == f"torch.{DTYPES[element]}"
    assert torch.equal(tensor, torch.from_numpy(loaded(f"tensor_{element}")))


def test_views_of_one_storage_share_memory() -> None:
    value = loaded("shared_storage")
    arrays = [v for v in everything(value) if isinstance(v, np.ndarray)]
    storages = [v for v in everything(value) if isinstance(v, t7.Storage)]
    assert len(arrays) > 1
    assert len({id(array.base) for array in arrays}) == 1
    assert all(storage.array is arrays[0].base for storage in storages)
    before = arrays[0].flat[0]
    arrays[0].base[:] += 1
    assert arrays[0].flat[0] == before + 1


def test_views_of_one_storage_share_memory_as_torch_tensors() -> None:
    value = loaded("shared_storage", tensors="torch")
    tensors = [v for v in everything(value) if isinstance(v, torch.Tensor)]
    assert len(tensors) > 1
    assert len({tensor.untyped_storage().data_ptr() for tensor in tensors}) == 1


def test_an_expanded_tensor_keeps_its_stride_of_zero() -> None:
    assert 0 in loaded("nc_expand").strides
    assert 0 in loaded("nc_expand", tensors="torch").stride()


def test_cuda_tensors_are_tensors_in_main_memory() -> None:
    data = t7.dumps(np.float32([1, 2, 3])).replace(
        b"\x11\0\0\0torch.FloatTensor", b"\x10\0\0\0torch.CudaTensor"
    )
    data = data.replace(b"\x12\0\0\0torch.FloatStorage", b"\x11\0\0\0torch.CudaStorage")
    assert t7.loads(data).tolist() == [1, 2, 3]
    half = t7.dumps(np.float16([1, 2])).replace(b"\x10\0\0\0torch.Half", b"\x14\0\0\0torch.CudaHalf")
    half = half.replace(b"\x11\0\0\0torch.Half", b"\x15\0\0\0torch.CudaHalf")
    assert t7.loads(half).dtype == np.float16


def test_a_storage_is_a_sequence_and_is_saved_as_one() -> None:
    storage = loaded("storage_Int")
    assert list(storage) == [1, 2, 3, 4, 5]
    assert np.asarray(storage).dtype == np.int32
    assert repr(storage) == "<Storage of 5 int32>"
    assert list(t7.loads(t7.dumps(t7.Storage(np.int64([2, 3]))))) == [2, 3]


@pytest.mark.parametrize(
    "name", ["longsize4", "longsize8", "bigendian", "unreferenced", "unreferenced.ascii"]
)
def test_variants_of_the_format_are_found_out(name: str) -> None:
    value = loaded(name)
    assert not any(isinstance(v, np.ndarray) and v.size == 0 for v in everything(value))
    assert len(list(everything(value))) >= 3


def test_both_sizes_of_long_hold_the_same() -> None:
    assert t7.dumps(loaded("longsize4")) == t7.dumps(loaded("longsize8"))
    assert t7.dumps(loaded("longsize8"), long_size=4) == (FILES / "longsize4.t7").read_bytes()


@pytest.mark.parametrize(
    "value", [np.zeros((2, 3)), np.int64([-1, 5]), [], t7.Storage(np.zeros(0)), np.empty(0), "x"]
)
@pytest.mark.parametrize("long_size", [4, 8])
@pytest.mark.parametrize("byteorder", ["little", "big"])
def test_the_size_of_long_is_found_out(value: Any, long_size: int, byteorder: Any) -> None:
    data = t7.dumps(value, long_size=long_size, byteorder=byteorder)
    assert t7.dumps(t7.loads(data)) == t7.dumps(value)


def test_torchfiles_option_for_the_size_of_long_is_understood() -> None:
    assert loaded("tensor_Long", force_8bytes_long=True).shape == (3, 4)
    with pytest.raises(t7.T7Error):
        loaded("longsize4", force_8bytes_long=True)


def test_a_file_object_is_read_to_its_end() -> None:
    assert t7.load(io.BytesIO((FILES / "number_int.t7").read_bytes())) == 42


def test_what_follows_the_first_value_is_left_alone() -> None:
    assert t7.loads(t7.dumps([1, 2]) + t7.dumps("next")) == [1, 2]


def test_a_file_larger_than_the_window_is_read(tmp_path: Path) -> None:
    value = {
        "text": "x" * 3_000_000,
        "rows": [np.arange(i, i + 5000.0) for i in range(100)],
        "last": [1, 2, "end"],
    }
    t7.save(value, tmp_path / "big.t7")
    got = t7.load(tmp_path / "big.t7")
    assert got["text"] == value["text"]
    assert all((a == b).all() for a, b in zip(got["rows"], value["rows"], strict=True))
    assert got["last"] == [1, 2, "end"]


def test_aligned_tensors_can_be_private_maps_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "map.t7"
    for shift in range(8):  # some string makes the data lie aligned
        t7.save(["x" * shift, np.arange(1000.0)], file)
        before = file.read_bytes()
        for tensors in ("numpy", "torch"):
            array = t7.load(file, mmap=True, tensors=tensors)[1]  # type: ignore[call-overload]
            assert array[999] == 999
            array[0] = 5
        assert file.read_bytes() == before


@pytest.mark.parametrize("name", ALL)
def test_every_file_can_be_asked_for_as_a_map(name: str) -> None:
    layouts = {"Truth.Custom": ("object", "int")}
    mapped, read = (t7.load(FILES / name, mmap=mmap, layouts=layouts) for mmap in (True, False))
    assert t7.dumps(mapped) == t7.dumps(read)


# Saving.


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
    limits = (
        np.iinfo(DTYPES[element])
        if element in ("Byte", "Char", "Short", "Int", "Long")
        else np.finfo(DTYPES[element])
    )
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


@pytest.mark.parametrize(
    "options",
    [{"tensors": "jax"}, {"tables": "set"}, {"long_size": 2}, {"byteorder": "x"}, {"layouts": {"A": ["x"]}}],
)
def test_options_of_load_are_checked(options: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        t7.loads(t7.dumps(1), **options)


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


# What inspect tells.


def test_inspect_describes_tensors_without_reading_them(tmp_path: Path) -> None:
    file = tmp_path / "sparse.t7"
    t7.save({"w": np.zeros((2, 3), "f4")}, file)
    summary = t7.inspect(file)
    tensor = summary.value["w"]
    assert (tensor.typename, tensor.shape, tensor.strides, tensor.offset) == (
        "torch.FloatTensor",
        (2, 3),
        (3, 1),
        0,
    )
    assert tensor.storage.nbytes == 24
    assert tensor.storage.position == file.stat().st_size - 24
    assert (summary.tensors, summary.storages, summary.elements, summary.data_bytes) == (1, 1, 6, 24)


def test_inspect_counts_classes_and_parameters() -> None:
    summary = t7.inspect(FILES / "model_mlp_float.t7")
    model = loaded("model_mlp_float")
    assert summary.classes["nn.Linear"] == sum(
        isinstance(v, t7.TorchObject) and v.torch_typename() == "nn.Linear" for v in everything(model)
    )
    assert summary.parameters == model["params"].size
    assert "nn.Linear" in str(summary)


def test_inspect_prints_no_more_than_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "wide.t7"
    t7.save({"many": list(range(1000)), "deep": [[[[["x"]]]]]}, file)
    lines = t7.inspect(file).text(depth=2, width=5).splitlines()
    assert len(lines) < 14
    assert any("995 more" in line for line in lines)


@pytest.mark.parametrize("name", ALL)
def test_every_file_can_be_inspected(name: str) -> None:
    summary = t7.inspect(FILES / name)
    assert summary.tensors == sum(isinstance(v, np.ndarray) for v in everything(t7.load(FILES / name)))
    assert summary.file_bytes == (FILES / name).stat().st_size
    assert str(summary)
