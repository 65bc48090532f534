"""Turn what callers pass as keys and values into contiguous typed arrays, or raise an error that says what to do.

The core reads plain numpy arrays and torch tensors itself. This module is for everything else: lists, other integer
types, strided and unaligned arrays, tensors on other devices, and what cannot be used. It never imports torch, only
uses it if it is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyps.dtypes import DTYPES, Dtype
from pyps.tensors import copy_to, host_buffer, is_tensor, on_host, require_elements

LARGEST_KEY = 2**63 - 1

# A buffer to write into, and a function that then copies it to the caller's array.
Output = tuple[Any, Callable[[], None]]


def check_options(options: Mapping[str, Any]) -> bool:
    """Return the keyword argument ``async``, which Python allows only in ``**options``; refuse all others."""
    for name in options:
        if name != "async":
            raise TypeError(f"unexpected keyword argument {name!r}; asynchronous= and async are possible")
    return bool(options["async"])


def read_options(options: Mapping[str, Any], values: Any, asynchronous: Any) -> tuple[Any, bool]:
    """Return the values and whether to be asynchronous, where both may have come under their other names.

    These are ``vals``, as in Lapse and AdaPM, and ``async``.
    """
    if "vals" in options:
        if values is not None:
            raise TypeError("values and vals are two names for the same argument: pass one of them")
        values = options["vals"]
    others = {name: value for name, value in options.items() if name != "vals"}
    return values, check_options(others) if others else bool(asynchronous)


def as_keys(keys: object) -> NDArray[np.int64]:
    """Convert keys to int64.

    Parameters
    ----------
    keys : array of int, list of int, int
        Any shape, any integer type.

    Returns
    -------
    numpy.ndarray of int64
        Contiguous.

    Raises
    ------
    TypeError
        They are no integers.
    ValueError
        One does not fit.
    """
    array = _as_numpy(keys, "keys")
    if array.size == 0 and isinstance(keys, (list, tuple)):
        return np.empty(0, np.int64)
    if array.dtype.kind == "O" and array.size and all(type(key) is int for key in array.flat):
        if not all(-LARGEST_KEY <= key <= LARGEST_KEY for key in array.flat):
            raise ValueError(f"keys do not fit into int64: {_shown(keys)}")
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"keys must be integers, not {array.dtype.name}: convert them, for example to numpy.int64"
        )
    if array.dtype == np.uint64 and array.size and int(array.max()) > LARGEST_KEY:
        position = int(np.argmax(array.reshape(-1) > LARGEST_KEY))
        raise ValueError(f"key {array.reshape(-1)[position]} at position {position} does not fit into int64")
    return np.require(array, np.int64, ["C", "A"])


def as_input(values: object, dtype: Dtype) -> Any:
    """Make a contiguous array of the server's dtype that has the elements of `values`.

    Returns
    -------
    numpy.ndarray or torch.Tensor

    Raises
    ------
    TypeError
        The element type differs. Only numbers in lists are converted without being asked for.
    """
    if values is None:
        raise TypeError("there are no values: pass as many elements as the values of the keys have")
    if is_tensor(values):
        tensor: Any = values
        require_elements(tensor, "values")
        _require_dtype(str(tensor.dtype).removeprefix("torch."), dtype, "values")
        plain = tensor.detach().resolve_neg().contiguous()
        return plain.clone() if plain.device.type == "cpu" else on_host(plain)
    if isinstance(values, (list, tuple, int, float)):
        return _from_numbers(values, dtype)
    array = _as_numpy(values, "values")
    _require_dtype(_name(array), dtype, "values")
    return np.require(array.view(dtype.storage), dtype.storage, ["C", "A"])


def as_output(values: object, dtype: Dtype, *, keep: bool = False) -> Output:
    """Make a contiguous buffer in place of an output that is not one.

    Parameters
    ----------
    values : array
        The output.
    dtype : Dtype
        Of its elements.
    keep : bool
        Copy the output's elements to the buffer first, as not all of them will be written.

    Returns
    -------
    buffer : numpy.ndarray or torch.Tensor
    copy_back : callable
        Copies the buffer's elements to `values`.

    Raises
    ------
    TypeError
        It is no array, or of another element type.
    ValueError
        It is read-only, overlaps itself or requires grad.
    """
    return _output(values, "values", lambda name: _require_dtype(name, dtype, "values"), dtype, keep)


def new_values(keys: Any, dtype: Dtype, length: int, total: int) -> Any:
    """Make an array for the values of keys.

    Parameters
    ----------
    keys : array
        The result is of the same kind, numpy or torch, and on the same device; for bfloat16, which numpy does not have,
        it is torch's.
    dtype : Dtype
        Of the result's elements.
    length, total : int
        Elements of each value: the result has the shape of the keys, and this as its last dimension. If `length` is 0,
        the values differ, and the result is flat with `total` elements.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        Not initialized.

    Raises
    ------
    TypeError
        It would be a torch tensor, but torch is not loaded.
    """
    shape = (*keys.shape, length) if length else (total,)
    of_tensor = type(keys) is not np.ndarray and is_tensor(keys)
    if dtype.name != "bfloat16" and not of_tensor:
        return np.empty(shape, dtype.storage)
    torch = sys.modules.get("torch")
    if torch is None:
        raise TypeError(
            "numpy has no bfloat16: import torch before, or pass a buffer for the values with out="
        )
    return torch.empty(shape, dtype=getattr(torch, dtype.name), device=keys.device if of_tensor else None)


def as_flags(keys: Any, flags: bytearray) -> Any:
    """Make a bool array of the keys' shape from a byte per key; a torch tensor if `keys` is one."""
    array = np.asarray(memoryview(flags)).astype(np.bool_)
    if is_tensor(keys):
        return sys.modules["torch"].from_numpy(array).reshape(keys.shape).to(keys.device)
    return array.reshape(np.shape(keys))


def as_key_output(keys: object) -> Output:
    """Make a contiguous buffer of int64 for drawn keys in place of an output that is not one; see `as_output`."""
    return _output(keys, "keys", _require_int64, DTYPES["int64"], False)


def _output(
    values: object, what: str, require_dtype: Callable[[str], None], dtype: Dtype, keep: bool
) -> Output:
    if is_tensor(values):
        return _tensor_output(values, what, require_dtype, keep)
    refusal = f"{what} must be a numpy array or a torch tensor to write into, not {type(values).__name__}"
    if isinstance(values, (list, tuple, int, float, str, bytes)) or values is None:
        raise TypeError(refusal)
    array = _as_numpy(values, what)
    if not _is_array(values) and not np.shares_memory(array, _as_numpy(values, what)):
        raise TypeError(refusal)
    require_dtype(_name(array))
    if not array.flags.writeable:
        raise ValueError(
            f"{what} is read-only: pull into a writable array, for example numpy.empty_like({what})"
        )
    _require_no_overlap(what, array.shape, array.strides, array.itemsize)
    target = array.view(dtype.storage)
    buffer = target.copy("C") if keep else np.empty(array.shape, dtype.storage)
    return buffer, lambda: np.copyto(target, buffer)


def _tensor_output(tensor: Any, what: str, require_dtype: Callable[[str], None], keep: bool) -> Output:
    require_elements(tensor, what)
    require_dtype(str(tensor.dtype).removeprefix("torch."))
    if tensor.requires_grad:
        raise ValueError(
            f"{what} requires grad, and autograd would not see the writing: pull into {what}.detach()"
        )
    _require_no_overlap(what, tensor.shape, tensor.stride(), 1)
    buffer = host_buffer(tensor.shape, tensor.dtype, tensor.device)
    if keep:
        buffer.copy_(tensor)

    def copy_back() -> None:
        if tensor.shape != buffer.shape:
            raise ValueError(
                f"{what} had the shape {tuple(buffer.shape)} when the pull began and has {tuple(tensor.shape)} now: "
                "it is left as it is"
            )
        copy_to(tensor, buffer)

    return buffer, copy_back


def as_weights(weights: object) -> NDArray[np.float64]:
    """Convert weights to contiguous float64.

    Parameters
    ----------
    weights : array of numbers, list of numbers
        Any shape.

    Raises
    ------
    TypeError
        They are no numbers.
    """
    array = _as_numpy(weights, "weights")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"weights must be numbers, not {array.dtype.name}")
    return np.require(array, np.float64, ["C", "A"])


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _as_numpy(value: Any, name: str) -> NDArray[Any]:
    if is_tensor(value):
        require_elements(value, name)
        return np.asarray(on_host(value.detach().resolve_neg()))
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.getmaskarray(value).any():
            raise TypeError(
                f"{name} has masked elements, which would be sent as well: fill them, {name}.filled(0)"
            )
        value = value.data
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise TypeError(f"{name} cannot be read as an array: {error}") from error


def _from_numbers(values: Any, dtype: Dtype) -> NDArray[Any]:
    array = _as_numpy(values, "values")
    if array.size == 0:
        return np.empty(array.shape, dtype.storage)
    if array.dtype.kind not in ("iu" if dtype.is_integer else "iuf"):
        raise TypeError(f"values are {array.dtype.name}, but the server holds {dtype.name}")
    if dtype.name == "bfloat16":
        raise TypeError("numbers in a list cannot become bfloat16: pass a torch tensor of dtype bfloat16")
    if dtype.is_integer:
        limits = np.iinfo(dtype.storage)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise ValueError(f"values do not fit into {dtype.name}: {_shown(values)}")
    return array.astype(dtype.storage)


def _name(array: NDArray[Any]) -> str:
    return array.dtype.name if array.dtype.isnative else f"byte-swapped {array.dtype.name}"


def _require_dtype(name: str, dtype: Dtype, what: str) -> None:
    if name != dtype.name:
        otherwise = f", or create the server with dtype={name!r}" if name in DTYPES else ""
        raise TypeError(f"{what} is {name}, but the server holds {dtype.name}: convert it{otherwise}")


def _require_int64(name: str) -> None:
    if name != "int64":
        raise TypeError(f"keys is {name}; drawn keys are int64: pull into an array of int64")


def _require_no_overlap(what: str, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> None:
    """Refuse an output in which two positions may share memory."""
    if 0 in shape:
        return
    reach = itemsize
    for stride, size in sorted(
        (abs(stride), size) for stride, size in zip(strides, shape, strict=True) if size > 1
    ):
        if stride < reach:
            raise ValueError(
                f"{what} overlaps itself: shape {tuple(shape)} with strides {tuple(strides)} puts several "
                "positions on the same memory; pull into a plain array"
            )
        reach = stride * (size - 1) + reach


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def read_lengths(value_length: object) -> NDArray[np.int64]:
    """Read value lengths; programs of Lapse and AdaPM give them as floats."""
    if isinstance(value_length, bool):
        raise TypeError("value_length must be a number or an array of numbers, not bool")
    array = np.asarray(value_length)
    if array.dtype.kind == "f":
        if not np.all(np.isfinite(array)) or not np.array_equal(array, np.rint(array)):
            raise ValueError("value_length must hold whole numbers")
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"value_length must hold numbers, not {array.dtype.name}")
    return as_keys(array.reshape(-1))
