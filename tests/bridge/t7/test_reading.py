"""Torch7's files in Python: the values, tables, objects and functions that are loaded."""

from __future__ import annotations

import copy
import math
import pickle
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from bridge import t7
from tests.elements import DTYPES

DATA = Path(__file__).parents[2] / "data" / "torch7"
FILES = DATA / "files"
NAMES = [line.split("\t")[0] for line in (FILES / "MANIFEST.txt").read_text().splitlines()]
ALL = sorted(path.name for path in FILES.glob("*.t7"))
DESCRIBED = re.compile(rb"torch\.\w+(?:Tensor size=.*|Storage values=.*)$", re.MULTILINE)
Everything = Callable[[Any], Iterator[Any]]


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


def test_bridge_reaches_it_by_name() -> None:
    assert bridge.t7.load is t7.load


@pytest.mark.parametrize("form", ["", ".ascii"])
@pytest.mark.parametrize("name", NAMES)
def test_tensors_have_the_sizes_strides_offsets_and_values_that_torch7_printed(
    name: str, form: str, everything: Everything
) -> None:
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
