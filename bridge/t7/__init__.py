"""Reading and writing Torch7's files without Lua: `load`, `save`, `inspect`, and for bytes `loads`, `dumps`.

No code in a file is ever run. Tables become lists and dicts, tensors become arrays (or torch tensors) that share memory
as they did in Torch7, and instances of classes become `TorchObject`. Saving a loaded value gives the same bytes again.
"""

from __future__ import annotations

import mmap as mapping
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import numpy

from bridge.familiar import TORCHFILE, pointer
from bridge.t7._format import PART_KINDS, read, written
from bridge.t7.objects import Key, Plain, Storage, T7Error, TorchFunction, TorchObject
from bridge.t7.replace import replacing
from bridge.t7.summary import StorageSummary, Summary, TensorSummary
from bridge.torch_support import import_torch

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

__all__ = [
    "Key",
    "Storage",
    "StorageSummary",
    "Summary",
    "T7Error",
    "TensorSummary",
    "TorchFunction",
    "TorchObject",
    "Value",
    "dumps",
    "inspect",
    "load",
    "loads",
    "save",
]

# The values that a file can contain.
Value: TypeAlias = "Plain | NDArray[Any] | Tensor | TorchObject | TorchFunction | Storage"
Source = str | os.PathLike[str] | BinaryIO
Layouts = Mapping[str, Sequence[str]]

# The first bytes of other kinds of files that users pass by mistake.
SIGNATURES = (
    (b"PK\x03\x04", "a zip archive, as torch.save of PyTorch writes: use torch.load"),
    (b"\x80\x02\x8a\x0al\xfc", "a file of an old torch.save of PyTorch: use torch.load"),
    (b"\x80", "a Python pickle: use pickle or torch.load"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file: use h5py"),
    (b"\x93NUMPY", "a numpy array file: use numpy.load"),
    (b"\x1f\x8b", "a gzip file: unpack it first"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"\xfd7zXZ", "an xz file: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file: unpack it first"),
    (b"\x1bLJ", "LuaJIT bytecode, a program"),
    (b"\x1bLua", "Lua bytecode, a program"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"\xef\xbb\xbf", "text"),
    (b"version https://git-lfs", "a pointer of Git LFS: the file itself was not fetched"),
    (b"<", "an HTML or XML page: was the download refused?"),
    (b"{", "JSON text"),
)


@TORCHFILE.pointing
def load(
    file: Source,
    *,
    tensors: Literal["numpy", "torch"] = "numpy",
    tables: Literal["list", "dict"] = "list",
    mmap: bool = False,
    long_size: int | None = None,
    byteorder: Literal["auto", "little", "big"] = "auto",
    layouts: Layouts | None = None,
    force_8bytes_long: bool = False,
    use_list_heuristic: bool = True,
) -> Value:
    """Read a file that `torch.save` of Torch7 wrote, binary or ascii. No code in the file is run.

    Parameters
    ----------
    file : path or binary file
        A binary file object is read from its current position to its end.
    tensors : {"numpy", "torch"}
        Whether tensors become arrays or torch tensors. Tensors on the same storage share its memory.
    tables : {"list", "dict"}
        "list": a table whose keys are exactly 1 .. n, or that is empty, becomes a list. "dict": every table becomes a
        dict.
    mmap : bool
        Tensors whose data is aligned in the file become private maps of it: writing to them does not change the file.
        The file must not change while they are used; if it is made shorter, reading them ends the process.
    long_size : {4, 8}, optional
        The size of a C long on the system that wrote the file; detected by default.
    byteorder : {"auto", "little", "big"}
        The file's byte order.
    layouts : mapping of str to sequence of str
        For classes that do not write a single table of fields: the values that their `write` method writes, in order,
        each one of "object", "int", "long", "short", "byte", "char", "bool", "float", "double".
    force_8bytes_long : bool
        The same as `long_size=8`; the name that the package torchfile uses.
    use_list_heuristic : bool
        False is the same as `tables="dict"`; the name that the package torchfile uses.

    Returns
    -------
    object
        The file's value. nil becomes None; a number int if it is whole and below 2^53, else float; a string str, or
        bytes if it is not UTF-8; a table a list or dict; a tensor an ndarray or torch.Tensor (Cuda tensors in main
        memory, a tensor without dimension with the shape (0,)); a storage `Storage`; a function `TorchFunction`; an
        instance of a class `TorchObject`; a key that Python cannot hash `Key`. An object that occurs several times in
        the file is the same Python object everywhere.

    Raises
    ------
    T7Error
        The file is not a Torch7 file, or damaged; the message names the file, the byte and the value.
    OSError
        The file cannot be read.
    """
    long_size = 8 if force_8bytes_long else long_size
    options = _options(tensors, tables if use_list_heuristic else "dict", long_size, byteorder, layouts)
    if not isinstance(file, str | os.PathLike):
        if mmap:
            raise ValueError("mmap=True needs the file's path, not an open file")
        value: Value = _read(file.read(), str(getattr(file, "name", "<file>")), options)
        return value
    with Path(file).open("rb", buffering=0) as opened:
        mapped = (
            mapping.mmap(opened.fileno(), 0, access=mapping.ACCESS_COPY) if mmap and _size(opened) else None
        )
        whole: Value = _read_file(opened, os.fspath(file), {**options, "mapped": mapped})
    return whole


def loads(
    data: bytes | bytearray | memoryview,
    *,
    tensors: Literal["numpy", "torch"] = "numpy",
    tables: Literal["list", "dict"] = "list",
    long_size: int | None = None,
    byteorder: Literal["auto", "little", "big"] = "auto",
    layouts: Layouts | None = None,
) -> Value:
    """Read bytes that `torch.serialize` of Torch7 made, as `load` reads a file; tensors do not share their memory."""
    value: Value = _read(data, "<bytes>", _options(tensors, tables, long_size, byteorder, layouts))
    return value


def inspect(
    file: Source,
    *,
    long_size: int | None = None,
    byteorder: Literal["auto", "little", "big"] = "auto",
    layouts: Layouts | None = None,
) -> Summary:
    """Describe a file's contents without reading its tensors' data; print the result to see it.

    Parameters and errors are those of `load`.

    Returns
    -------
    Summary
        Its `value` is that of `load` with descriptions in place of tensors and storages. It also has counts and sizes.
    """
    options = _options("numpy", "list", long_size, byteorder, layouts)
    options["summary"] = (TensorSummary, StorageSummary)
    if not isinstance(file, str | os.PathLike):
        content = file.read()
        name = str(getattr(file, "name", "<file>"))
        return Summary(_read(content, name, options), name, len(content))
    with Path(file).open("rb", buffering=0) as opened:
        name = os.fspath(file)
        return Summary(_read_file(opened, name, options), name, _size(opened))


def save(
    obj: Any,
    file: str | os.PathLike[str],
    *,
    ascii: bool = False,  # noqa: A002
    long_size: int = 8,
    byteorder: Literal["little", "big"] = "little",
) -> None:
    """Write a file that `torch.load` of Torch7 reads. An old file is replaced when the new one is complete on disk.

    Parameters
    ----------
    obj : object
        None, bool, numbers, str, bytes, list, tuple, dict, numpy arrays, torch tensors, numpy numbers, and all values
        that `load` returns, nested in any way, shared or cyclic. As in Torch7, a view is written with its strides and
        the whole memory of the array it is a view of, once for all views of it: to write a small part of a large array,
        pass a copy.
    file : path
        Where to write; a symbolic link is followed.
    ascii : bool
        Write the ascii form instead of the binary one.
    long_size : {4, 8}
        The size of a C long on the system that will read the file (4: Windows and 32-bit systems).
    byteorder : {"little", "big"}
        Byte order of the binary form.

    Raises
    ------
    T7Error
        The format has no form for a value; the message says which, such as `obj["a"][3]`. The old file is unchanged.
    OSError
        The file cannot be written. The old file is unchanged.
    """
    swap = _form(long_size, byteorder, ascii)
    with replacing(file) as temporary, temporary.open("r+b", buffering=0) as opened:
        written(obj, opened.fileno(), _plain, ascii=ascii, long_size=long_size, swap=swap)


def dumps(
    obj: Any,
    *,
    ascii: bool = False,  # noqa: A002
    long_size: int = 8,
    byteorder: Literal["little", "big"] = "little",
) -> bytes:
    """Return the bytes that `save` would write, which `torch.deserialize` of Torch7 reads."""
    swap = _form(long_size, byteorder, ascii)
    return bytes(written(obj, -1, _plain, ascii=ascii, long_size=long_size, swap=swap))


def _options(
    tensors: str, tables: str, long_size: int | None, byteorder: str, layouts: Layouts | None
) -> dict[str, Any]:
    """Check the options of a reading function and convert them for `_format.read`."""
    for name, value, allowed in (
        ("tensors", tensors, ("numpy", "torch")),
        ("tables", tables, ("list", "dict")),
        ("byteorder", byteorder, ("auto", "little", "big")),
        ("long_size", long_size, (None, 4, 8)),
    ):
        if value not in allowed:
            raise ValueError(f"{name}={value!r}: expected one of {', '.join(map(repr, allowed))}")
    return {
        "torch": import_torch() if tensors == "torch" else None,
        "always_dict": tables == "dict",
        "long_size": long_size or 0,
        "byteorder": byteorder,
        "layouts": {name: _layout(name, kinds) for name, kinds in (layouts or {}).items()},
    }


def _layout(name: str, kinds: Sequence[str]) -> tuple[str, ...]:
    wrong = [kind for kind in kinds if kind not in PART_KINDS]
    if wrong or isinstance(kinds, str) or not kinds:
        raise ValueError(f"layouts[{name!r}]: expected some of {', '.join(PART_KINDS)}; got {kinds!r}")
    return tuple(kinds)


def _form(long_size: int, byteorder: str, text: bool) -> bool:
    """Check a writing function's options. Returns whether bytes have to be swapped."""
    if long_size not in (4, 8):
        raise ValueError(f"long_size={long_size!r}: expected 4 or 8")
    if byteorder not in ("little", "big"):
        raise ValueError(f"byteorder={byteorder!r}: expected 'little' or 'big'")
    return byteorder != sys.byteorder and not text


def _size(opened: Any) -> int:
    return os.fstat(opened.fileno()).st_size


def _read_file(opened: Any, name: str, options: dict[str, Any]) -> Any:
    """Read an open file; one without a size, such as a pipe, is first read into memory."""
    if not os.path.isfile(name):  # noqa: PTH113  # a pipe or a device
        return _read(opened.read(), name, options)
    size = _size(opened)
    _refuse_foreign(os.pread(opened.fileno(), 64, 0), name)
    return read(opened.fileno(), name, size=size, **options)


def _read(data: Any, name: str, options: dict[str, Any]) -> Any:
    _refuse_foreign(bytes(memoryview(data)[:64]), name)
    return read(data, name, **options)


def _refuse_foreign(head: bytes, name: str) -> None:
    """Raise T7Error for a file that cannot be Torch7's, and say what kind of file it looks like."""
    if not head:
        raise T7Error(f"{name}: is no Torch7 file: it is empty", name, 0)
    if head[0] <= 8 and (head[1:4] == b"\0\0\0" or head[:3] == b"\0\0\0"):
        return
    first = head.lstrip(b" \t\r\n\v\f")[:1]
    looks = next((what for start, what in SIGNATURES if head.startswith(start)), None)
    if looks is None and head[8:9] == b"{":
        looks = "a safetensors file: use safetensors"
    if looks is None and (not first.isdigit() or not _first_line_is_a_type(head)):
        looks = "text" if _is_text(head) else "no format known here"
    if looks is not None:
        raise T7Error(
            f"{name}: is no Torch7 file: it looks like {looks} (it begins with {head[:12]!r})", name, 0
        )


def _first_line_is_a_type(head: bytes) -> bool:
    """Whether text begins as Torch7's ascii form does: with a line that is a number from 0 to 8."""
    word = head.split(None, 1)[0]
    return word.isdigit() and len(word) == 1 and word <= b"8"


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:  # more than a character that was cut off
            return False
        text = head[: error.start].decode()
    return all(character.isprintable() or character.isspace() for character in text)


# Types whose values, and those of their subclasses, are written as a plain type, and the function that converts them.
PLAIN: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (int, int.__int__),
    (float, float.__float__),
    (str, str.__str__),
    (dict, dict),
    ((list, tuple, range), list),
    ((bytes, bytearray, memoryview), lambda value: bytes(memoryview(value))),
)


def _plain(value: Any) -> Any:
    """Return a value of another type as a plain value, or raise T7Error."""
    if isinstance(value, numpy.generic) and value.dtype.kind in "buif":
        return value.item() if value.dtype.itemsize <= 8 else _refuse(value)
    if isinstance(value, numpy.ma.MaskedArray):
        raise T7Error("a masked array: Torch7 has no masks, pass its filled()")
    for kinds, plain in PLAIN:
        if isinstance(value, kinds):
            return plain(value)
    if isinstance(value, TorchFunction | Storage):
        raise T7Error(f"{type(value).__name__}: a subclass of {type(value).__mro__[1].__name__}")
    return _refuse(value)


def _refuse(value: Any) -> Any:
    raise T7Error(
        f"{type(value).__module__}.{type(value).__qualname__} has no form in a Torch7 file: "
        "pass numbers, strings, lists, dicts, arrays, tensors or a TorchObject"
    )


if not TYPE_CHECKING:  # with it, a type checker would accept any name

    def __getattr__(name):
        """Raise AttributeError; for names of the package torchfile, with the name here."""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{pointer(name, TORCHFILE)}")


def __dir__() -> list[str]:
    return sorted(__all__)
