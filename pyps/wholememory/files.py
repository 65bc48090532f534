"""Load and store tensors: directly between files and a tensor's memory, in several threads, by ranges of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from pyps.wholememory import formats, memory
from pyps.wholememory.formats import Piece, Stored

BLOCK = 8 << 20  # bytes that a thread reads or writes at once; a multiple of a large page
MOST_THREADS = (
    8  # the default is two threads per core, as they wait for files and large pages, but at most this
)
Place = str | os.PathLike[str]


def load(
    tensor: torch.Tensor,
    path: Place,
    *,
    rows: range | None = None,
    name: str | None = None,
    threads: int | None = None,
) -> None:
    """Fill a tensor from a file. Ranks may load parts of the same tensor at the same time.

    Parameters
    ----------
    tensor : torch.Tensor, shape (rows, ...)
        Any tensor. One from `create_tensor`, or a slice of it, is written in place; memory that was not touched before
        gets large pages.
    path : path
        ``.npy``, ``.safetensors``, ``.pt`` or ``.pth``; or, for files of raw rows, the beginning of their names (such
        as ``features`` for ``features_part_0_of_4``), or their directory.
    rows : range, optional
        The rows of the file to load, as many as the tensor has; by default all.
    name : str, optional
        The name of a tensor in the file, if it has several.
    threads : int, optional
        By default two per core.

    Raises
    ------
    OSError, ValueError
        The file cannot be read, is damaged, or does not have the tensor's dtype and shape.
    """
    stored: Stored | torch.Tensor = _open(Path(path), tensor, name)
    first, last = _check(tensor, path, stored.dtype, tuple(stored.shape), rows)
    if isinstance(stored, torch.Tensor):
        _copy(tensor, stored[first:last] if stored.dim() else stored, _count(threads))
        return
    pieces = stored.rows(first, last)
    if tensor.is_contiguous() and tensor.device.type == "cpu":
        _run(_reads(tensor, pieces), _count(threads))
        return
    step = max(1, BLOCK // max(1, formats.row_bytes(tensor)))
    for begin in range(0, last - first, step):  # rows with gaps between their elements, or a GPU's memory
        end = min(begin + step, last - first)
        block = torch.empty(end - begin, *tensor.shape[1:], dtype=tensor.dtype)
        _run(_reads(block, stored.rows(first + begin, first + end)), 1)
        tensor[begin:end].copy_(block)


def store(
    tensor: torch.Tensor,
    path: Place,
    *,
    rows: range | None = None,
    name: str = "tensor",
    part: int = 0,
    parts: int = 1,
    threads: int | None = None,
) -> None:
    """Write a tensor to a file. The file appears, or is replaced, only when it is complete.

    Parameters
    ----------
    tensor : torch.Tensor, shape (rows, ...)
    path : path
        As in `load`.
    rows : range, optional
        Replace these rows of an existing file (not ``.pt``), in place.
    name : str
        The tensor's name in a file of safetensors.
    part, parts : int
        For files of raw rows: the number of this part, and how many there are. The tensor has this part's rows only.
    threads : int, optional
        By default two per core.

    Raises
    ------
    OSError, ValueError
        The file cannot be written, or the format cannot store the tensor.
    """
    target = Path(path)
    if not 0 <= part < parts:
        raise ValueError(f"part is {part}; of {parts} it is in [0, {parts})")
    if target.suffix in (".pt", ".pth"):
        if rows is not None:
            raise ValueError(f"{target}: rows of a .pt file cannot be replaced; use .npy or .safetensors")
        spare = tensor.untyped_storage().nbytes() - tensor.numel() * tensor.element_size()
        # torch.save writes the whole storage, so a part of a larger one is copied first.
        value = tensor.detach() if spare < 2 * 4096 else tensor.detach().clone()
        _replace(target, lambda fresh: torch.save(value, fresh))
        return
    source = tensor.detach().cpu().contiguous()
    nbytes = source.numel() * source.element_size()
    if rows is not None:
        stored = _open(target, tensor, name if target.suffix == ".safetensors" else None)
        assert isinstance(stored, Stored)
        _run(
            _writes(source, stored.rows(*_check(tensor, path, stored.dtype, stored.shape, rows))),
            _count(threads),
        )
        return
    header = b""
    if target.suffix == ".npy":
        header = formats.npy_header(tensor.dtype, tensor.shape)
    elif target.suffix == ".safetensors":
        header = formats.safetensors_header(name, tensor.dtype, tensor.shape, nbytes)
    else:
        target = formats.part_path(target, part, parts)

    def write(fresh: Path) -> None:
        fresh.write_bytes(header)
        os.truncate(fresh, len(header) + nbytes)
        _run(_writes(source, [Piece(fresh, len(header), nbytes)]), _count(threads))

    _replace(target, write)


def _open(path: Path, tensor: torch.Tensor, name: str | None) -> Stored | torch.Tensor:
    """Return where a tensor lies in its file; for torch's own format, a tensor in the mapped file."""
    if path.suffix == ".npy":
        return formats.read_npy(path)
    if path.suffix == ".safetensors":
        return formats.read_safetensors(path, name)
    if path.suffix not in (".pt", ".pth"):
        return formats.read_parts(path, tensor)
    held: Any = torch.load(path, mmap=True, weights_only=True, map_location="cpu")
    if isinstance(held, dict):
        held = held[formats.pick(path, [key for key, value in held.items() if torch.is_tensor(value)], name)]
    if not isinstance(held, torch.Tensor):
        raise ValueError(f"{path} holds a {type(held).__name__}, and no tensor")
    return held


def _check(
    tensor: torch.Tensor, path: Place, dtype: torch.dtype, shape: tuple[int, ...], rows: range | None
) -> tuple[int, int]:
    """Return the first row and the one after the last, if these rows have the tensor's dtype and shape."""
    count = shape[0] if shape else 1
    chosen = range(count) if rows is None else rows
    if chosen.step != 1 or chosen.start < 0 or chosen.stop > count:
        raise ValueError(f"rows is {chosen}; {os.fspath(path)} has rows 0 to {count - 1}")
    there = (len(chosen), *shape[1:]) if shape else ()
    if dtype != tensor.dtype or there != tuple(tensor.shape):
        raise ValueError(
            f"{os.fspath(path)} holds {list(there)} of {dtype} in these rows, the tensor is {list(tensor.shape)} of "
            f"{tensor.dtype}"
        )
    return chosen.start, chosen.start + len(chosen)


def _count(threads: int | None) -> int:
    return min(MOST_THREADS, 2 * len(os.sched_getaffinity(0))) if threads is None else max(1, threads)


def _run(work: Iterable[Callable[[], None]], threads: int) -> None:
    """Call all functions, in so many threads; raise the first error."""
    if threads == 1:
        for step in work:
            step()
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(step) for step in work]:
            done.result()


def _bytes(tensor: torch.Tensor) -> memoryview:
    """Return the memory of a contiguous tensor."""
    nbytes = tensor.numel() * tensor.element_size()
    flat = torch.empty(0, dtype=torch.uint8).set_(
        tensor.untyped_storage(), int(tensor.storage_offset()) * tensor.element_size(), (nbytes,), (1,)
    )
    return flat.numpy().data


def _blocks(pieces: Iterable[Piece]) -> Iterable[tuple[Piece, int]]:
    """Divide pieces into blocks, each with its offset in the tensor, in bytes."""
    at = 0
    for piece in pieces:
        for begin in range(0, piece.nbytes, BLOCK):
            nbytes = min(BLOCK, piece.nbytes - begin)
            yield Piece(piece.path, piece.offset + begin, nbytes), at + begin
        at += piece.nbytes


def _reads(tensor: torch.Tensor, pieces: Iterable[Piece]) -> Iterable[Callable[[], None]]:
    view, mapping = _bytes(tensor), memory.find(tensor)
    first = tensor.data_ptr() - mapping.address if mapping else 0

    def read(piece: Piece, at: int) -> None:
        if mapping and _is_untouched(mapping.fd, first + at, piece.nbytes):
            mapping.collapse(first + at, first + at + piece.nbytes)
        with piece.path.open("rb", buffering=0) as file:
            done = 0
            while done < piece.nbytes:
                fresh = os.preadv(file.fileno(), [view[at + done : at + piece.nbytes]], piece.offset + done)
                if not fresh:
                    raise ValueError(f"{piece.path} became shorter while it was read")
                done += fresh

    return [lambda p=piece, a=at: read(p, a) for piece, at in _blocks(pieces)]  # type: ignore[misc]


def _is_untouched(fd: int, begin: int, nbytes: int) -> bool:
    # The search always ends, at the text behind the elements.
    return os.lseek(fd, begin, os.SEEK_DATA) >= begin + nbytes


def _writes(source: torch.Tensor, pieces: Iterable[Piece]) -> Iterable[Callable[[], None]]:
    view = _bytes(source)

    def write(piece: Piece, at: int) -> None:
        with piece.path.open("r+b", buffering=0) as file:
            done = 0
            while done < piece.nbytes:
                done += os.pwrite(file.fileno(), view[at + done : at + piece.nbytes], piece.offset + done)

    return [lambda p=piece, a=at: write(p, a) for piece, at in _blocks(pieces)]  # type: ignore[misc]


def _copy(tensor: torch.Tensor, source: torch.Tensor, threads: int) -> None:
    """Copy from a tensor in a mapped file, by ranges of rows."""
    if not tensor.dim():
        tensor.copy_(source)
        return
    step = max(1, BLOCK // max(1, formats.row_bytes(tensor)))
    ranges = range(0, tensor.shape[0], step)
    _run(
        [lambda b=begin: tensor[b : b + step].copy_(source[b : b + step]) for begin in ranges],  # type: ignore[misc]
        threads,
    )


def _replace(target: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name beside its place, and rename it when it is complete."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        write(fresh)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
