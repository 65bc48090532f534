"""What people hand over as keys and values, turned into contiguous typed arrays, or refused with the way out.

The core reads plain numpy arrays and torch tensors itself; here comes everything else: lists, other integer
types, strided and unaligned arrays, and what cannot be used. torch is used only if the caller has loaded it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyps.dtypes import DTYPES, Dtype

LARGEST_KEY = 2**63 - 1

# A buffer to write into, and what copies it to where it was wanted.
Output = tuple[Any, Callable[[], None]]


def check_options(options: Mapping[str, Any]) -> bool:
    """Return the keyword argument ``async``, which cannot be a parameter's name; refuse others."""
    for name in options:
        if name != "async":
            raise TypeError(f"unexpected keyword argument {name!r}; asynchronous= and async are possible")
    return bool(options["async"])


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
        One does not fit, or they lie on another device.
    """
    array = _as_numpy(_on_host(keys, "keys"), "keys")
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


def as_input(vals: object, dtype: Dtype) -> Any:
    """Make a contiguous array of the server's dtype that has the elements of `vals`.

    Returns
    -------
    numpy.ndarray or torch.Tensor

    Raises
    ------
    TypeError
        The element type is another one: values are never converted silently, except numbers in lists.
    ValueError
        They lie on another device.
    """
    if _is_tensor(vals):
        tensor: Any = _on_host(vals, "vals")
        _require_dtype(str(tensor.dtype).removeprefix("torch."), dtype, "vals")
        return tensor.detach().resolve_neg().contiguous().clone()
    if isinstance(vals, (list, tuple, int, float)):
        return _from_numbers(vals, dtype)
    array = _as_numpy(vals, "vals")
    _require_dtype(_name(array), dtype, "vals")
    return np.require(array.view(dtype.storage), dtype.storage, ["C", "A"])


def as_output(vals: object, dtype: Dtype, *, keep: bool = False) -> Output:
    """Make a contiguous buffer in place of an output that is not one.

    Parameters
    ----------
    vals : array
        The output.
    dtype : Dtype
        Of its elements.
    keep : bool
        Begin with the output's elements, because not all of them will be written.

    Returns
    -------
    buffer : numpy.ndarray or torch.Tensor
    copy_back : callable
        Copies the buffer's elements to `vals`.

    Raises
    ------
    TypeError
        It is no array, or of another element type.
    ValueError
        It is read-only, overlaps itself, requires grad or lies on another device.
    """
    return _output(vals, "vals", lambda name: _require_dtype(name, dtype, "vals"), dtype, keep)


def new_values(keys: Any, dtype: Dtype, length: int, total: int) -> Any:
    """Make an array for the values of keys.

    Parameters
    ----------
    keys : array
        Its shape and its kind, numpy or torch, are those of the result; bfloat16, which numpy lacks, is torch's.
    dtype : Dtype
        Of its elements.
    length, total : int
        Elements of each value, the result's last dimension; if that is 0, of all: the result is flat.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        Not yet written.

    Raises
    ------
    TypeError
        It would be a torch tensor, but torch is not loaded.
    """
    shape = (*keys.shape, length) if length else (total,)
    if dtype.name != "bfloat16" and (type(keys) is np.ndarray or not _is_tensor(keys)):
        return np.empty(shape, dtype.storage)
    torch = sys.modules.get("torch")
    if torch is None:
        raise TypeError("numpy has no bfloat16: import torch before, or say where the values go with out=")
    return torch.empty(shape, dtype=getattr(torch, dtype.name))


def as_key_output(keys: object) -> Output:
    """Make a contiguous buffer of int64 in place of an output for keys that is not one; as `as_output` does."""
    return _output(keys, "keys", _require_int64, DTYPES["int64"], False)


def functions_of(kind: type) -> tuple[Any, Any]:
    """Return two functions for a type of torch tensor: whether it is read with the other sign, and to note a write.

    Both are None for another library's type. The second takes a tuple of tensors.
    """
    torch = sys.modules.get("torch")
    if torch is None or not issubclass(kind, torch.Tensor):
        return None, None
    return torch.Tensor.is_neg, getattr(
        torch._C, "_increment_version", torch.autograd.graph.increment_version
    )


def held(vals: Any) -> tuple[Any, Callable[[], None] | None]:
    """Return what keeps the memory of an output alive, and what to do when it has been written to.

    A tensor may be set to another memory while an operation on its former one is under way.
    """
    if not _is_tensor(vals):
        return vals, None
    alias = vals.detach()
    raise_version = functions_of(type(alias))[1]
    return alias, lambda: raise_version((alias,))


def _output(
    vals: object, what: str, require_dtype: Callable[[str], None], dtype: Dtype, keep: bool
) -> Output:
    if _is_tensor(vals):
        return _tensor_output(vals, what, require_dtype, keep)
    refusal = f"{what} must be a numpy array or a torch tensor to write into, not {type(vals).__name__}"
    if isinstance(vals, (list, tuple, int, float, str, bytes)) or vals is None:
        raise TypeError(refusal)
    array = _as_numpy(vals, what)
    if not _is_array(vals) and not np.shares_memory(array, _as_numpy(vals, what)):
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


def _tensor_output(vals: Any, what: str, require_dtype: Callable[[str], None], keep: bool) -> Output:
    tensor = _on_host(vals, what)
    require_dtype(str(tensor.dtype).removeprefix("torch."))
    if tensor.requires_grad:
        raise ValueError(
            f"{what} requires grad, and autograd would not see the writing: pull into {what}.detach()"
        )
    _require_no_overlap(what, tensor.shape, tensor.stride(), 1)
    torch = sys.modules["torch"]
    buffer = torch.empty(tensor.shape, dtype=tensor.dtype)
    if keep:
        buffer.copy_(tensor)

    def copy_back() -> None:
        if tensor.shape != buffer.shape:
            raise ValueError(
                f"{what} had the shape {tuple(buffer.shape)} when the pull began and has {tuple(tensor.shape)} now: "
                "it is left as it is"
            )
        tensor.copy_(buffer)

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
    ValueError
        They lie on another device.
    """
    array = _as_numpy(_on_host(weights, "weights"), "weights")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"weights must be numbers, not {array.dtype.name}")
    return np.require(array, np.float64, ["C", "A"])


def _is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _on_host(value: Any, name: str) -> Any:
    """Refuse tensors that have no plain memory on the CPU; other values pass."""
    if not _is_tensor(value):
        return value
    if value.device.type != "cpu":
        raise ValueError(f"{name} is on device {value.device}: bring it to the CPU first, {name}.cpu()")
    if str(value.layout) != "torch.strided":
        raise TypeError(f"{name} has layout {value.layout}: make it dense first, {name}.to_dense()")
    return value


def _as_numpy(value: Any, name: str) -> NDArray[Any]:
    if _is_tensor(value):
        return np.asarray(value.detach().resolve_neg())
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.getmaskarray(value).any():
            raise TypeError(
                f"{name} has masked elements, which nobody leaves out here: fill them, {name}.filled(0)"
            )
        value = value.data
    try:
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise TypeError(f"{name} cannot be read as an array: {error}") from error


def _from_numbers(vals: Any, dtype: Dtype) -> NDArray[Any]:
    array = _as_numpy(vals, "vals")
    if array.size == 0:
        return np.empty(array.shape, dtype.storage)
    if array.dtype.kind not in ("iu" if dtype.is_integer else "iuf"):
        raise TypeError(f"vals are {array.dtype.name}, but the server holds {dtype.name}")
    if dtype.name == "bfloat16":
        raise TypeError("numbers in a list cannot become bfloat16: pass a torch tensor of dtype bfloat16")
    if dtype.is_integer:
        limits = np.iinfo(dtype.storage)
        if int(array.min()) < limits.min or int(array.max()) > limits.max:
            raise ValueError(f"vals do not fit into {dtype.name}: {_shown(vals)}")
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
    """Read value lengths, which the original programs give as floats."""
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
