"""Memory files: creating them, opening them by name, and finding the one that a tensor lies in.

A memory file is in no directory. It exists as long as a process has it open or mapped. Processes of the same user can
open it: they look for its name among the open descriptors of all their processes.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

import torch

from pyps.errors import AttachError
from pyps.wholememory import room
from pyps.wholememory._mapping import Mapping
from pyps.wholememory.layout import PAGE, TAIL, Layout, as_text, from_text

PATIENCE = 60.0  # seconds to wait while other processes create memory
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL

_mappings: weakref.WeakValueDictionary[int, Mapping] = weakref.WeakValueDictionary()  # by address


def create(layouts: Sequence[Layout], *, most: int | None = None, timeout: float = PATIENCE) -> int:
    """Create a file for tensors and return its descriptor. Its memory is not allocated yet.

    Parameters
    ----------
    most : int, optional
        The least bytes that are available to any of the processes that will use it; by default to this one.

    Raises
    ------
    MemoryError
        The host, a control group or a limit of this process does not leave enough memory.
    """
    nbytes = max(layout.nbytes for layout in layouts)
    data, text = max(1, -(-nbytes // PAGE)) * PAGE, as_text(layouts)
    with room.one_at_a_time(time.monotonic() + timeout):
        there, promised = room.available() if most is None else most, room.promised()
        left = max(0, there - promised)
        if data + len(text) > left:
            raise MemoryError(
                f"the tensor needs {nbytes:,} bytes, and {left:,} are left to promise on this host: {there:,} are "
                f"available, and other tensors may still take {promised:,} of them; drop some, or make it smaller"
            )
        fd = os.memfd_create(room.PREFIX + secrets.token_hex(8), os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.fchmod(fd, 0o600)
            os.ftruncate(fd, data + len(text))
            os.pwrite(fd, text, data)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)  # no process may resize the file while others use it
            if room.counts_strictly():
                os.posix_fallocate(fd, 0, data)
        except OSError as error:
            os.close(fd)
            raise MemoryError(
                f"the system refuses {nbytes:,} bytes of shared memory: {error.strerror} (see ulimit -a)"
            ) from None
    return fd


def adopt(fd: int) -> tuple[Mapping, list[Layout]]:
    """Map a file into this process. The mapping takes the descriptor over.

    Raises
    ------
    MemoryError
        This process has not enough addresses left.
    AttachError
        It is no memory file.
    """
    try:
        if fcntl.fcntl(fd, fcntl.F_GET_SEALS) & SEALS != SEALS:
            raise AttachError("the file is not sealed, so it is none of whole memory")
        size = os.fstat(fd).st_size
        length = int(os.pread(fd, TAIL, size - TAIL).split()[1])
        data = size - -(-(length + TAIL) // PAGE) * PAGE
        layouts = from_text(os.pread(fd, length, data))
        if data < max(layout.nbytes for layout in layouts):
            raise AttachError(f"the file has {data} bytes, less than its tensors need")
        name = Path(f"/proc/self/fd/{fd}").readlink().name.removeprefix("memfd:").split()[0]
        mapping = Mapping(fd, name, data, size)
    except OSError as error:
        os.close(fd)
        raise MemoryError(
            f"{error.strerror}: this process cannot map the tensor's memory (see ulimit -v, which limits addresses)"
        ) from None
    except BaseException:
        os.close(fd)
        raise
    _mappings[mapping.address] = mapping
    return mapping, layouts


def open_by_name(name: str) -> tuple[Mapping, list[Layout]]:
    """Map the file with this name, which a process of this user must have open.

    Raises
    ------
    AttachError
        No process has it open, or none whose descriptors this user may see.
    """
    for mapping in list(_mappings.values()):
        if mapping.name == name:
            return mapping, layouts_of(mapping)
    if not name.startswith(room.PREFIX):
        raise ValueError(
            f"{name!r} is not a name of shared memory; wm.name_of(tensor) gives it, like wholememory-1f2e..."
        )
    for path in room.memory_files(name):
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:  # it was closed, or the process has ended, since the listing
            continue
        return adopt(fd)
    raise AttachError(f"no process of this user holds {name!r}: its last holder dropped it or ended")


def layouts_of(mapping: Mapping) -> list[Layout]:
    """Return the layouts of the tensors in a mapped file."""
    size = os.fstat(mapping.fd).st_size
    length = int(os.pread(mapping.fd, TAIL, size - TAIL).split()[1])
    return from_text(os.pread(mapping.fd, length, mapping.nbytes))


def as_tensor(mapping: Mapping, layout: Layout) -> torch.Tensor:
    """Return a tensor in the mapped memory. The memory stays mapped while the tensor or a view of it exists."""
    storage = torch.frombuffer(mapping, dtype=torch.uint8).untyped_storage()
    empty = torch.empty(0, dtype=layout.dtype)
    return empty.set_(storage, layout.offset, layout.shape, layout.strides)


def layout_of(tensor: torch.Tensor) -> Layout:
    """Return the layout of a tensor in its memory."""
    return Layout(tensor.dtype, tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()))


def find(tensor: torch.Tensor) -> Mapping | None:
    """Return the mapped file that a tensor lies in; None if there is none."""
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        return None
    return _mappings.get(tensor.untyped_storage().data_ptr())
