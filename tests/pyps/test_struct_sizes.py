"""Clients and libps of different ages: structs of options say how long they are, results how much room there is."""

from __future__ import annotations

import ctypes
import struct

import pytest

from moontide import locations

EINVAL = 1
BEGINNING = struct.Struct("=QqQqi4x")  # size, num_keys, value_lengths, num_lengths, dtype


class Error(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_int64),
        ("position", ctypes.c_int64),
        ("value", ctypes.c_int64),
        ("limit", ctypes.c_int64),
        ("message", ctypes.c_char * 240),
    )


@pytest.fixture(scope="module")
def libps() -> ctypes.CDLL:
    library = ctypes.CDLL(str(locations.libps()))
    library.ps_last_error.restype = ctypes.POINTER(Error)
    library.ps_node_free.argtypes = [ctypes.c_void_p]
    return library


@pytest.fixture(scope="module")
def whole(libps: ctypes.CDLL) -> int:
    """Return the bytes of the options as libps knows them."""
    assert create(libps, 0)[0] == EINVAL
    limit: int = libps.ps_last_error().contents.limit
    assert limit > BEGINNING.size
    return limit


def create(libps: ctypes.CDLL, size: int, tail: bytes = b"") -> tuple[int, ctypes.c_void_p]:
    lengths = (ctypes.c_int64 * 1)(3)
    options = BEGINNING.pack(size, 10, ctypes.addressof(lengths), 1, 0) + tail
    node = ctypes.c_void_p()
    return libps.ps_node_create(options, ctypes.byref(node)), node


def message(libps: ctypes.CDLL) -> str:
    text: bytes = libps.ps_last_error().contents.message
    return text.decode()


def test_fields_that_a_client_does_not_know_have_their_default(libps: ctypes.CDLL) -> None:
    code, node = create(libps, BEGINNING.size)
    assert code == 0
    info = (ctypes.c_int64 * 7)()
    assert libps.ps_node_get_info(node, info, ctypes.sizeof(info)) == 0
    assert list(info)[:4] == [10, 3, 3, 30]
    assert struct.unpack("=6i", bytes(info)[32:56]) == (0, 4, 256, 0, 1, 0)
    libps.ps_node_free(node)


def test_fields_that_libps_does_not_know_may_have_their_default(libps: ctypes.CDLL, whole: int) -> None:
    code, node = create(libps, whole + 64, bytes(whole + 64 - BEGINNING.size))
    assert code == 0
    libps.ps_node_free(node)


def test_fields_that_libps_does_not_know_are_refused(libps: ctypes.CDLL, whole: int) -> None:
    code, _ = create(libps, whole + 64, bytes(whole - BEGINNING.size) + b"\x01".ljust(64, b"\x00"))
    assert code == EINVAL
    assert (
        message(libps) == f"the options have fields beyond the {whole} bytes that this version of libps knows"
    )


def test_options_without_their_size_are_refused(libps: ctypes.CDLL, whole: int) -> None:
    code, _ = create(libps, 0, bytes(whole))
    assert code == EINVAL
    assert message(libps) == f"options.size is 0: it must be sizeof of the struct, {whole} here"


@pytest.mark.parametrize("room", [0, 8, 24, 400])
def test_no_more_is_written_than_there_is_room_for(libps: ctypes.CDLL, room: int) -> None:
    _, node = create(libps, BEGINNING.size)
    stats = (ctypes.c_char * 512)(*([b"\xff"] * 512))
    assert libps.ps_node_get_stats(node, stats, ctypes.c_size_t(room)) == 0
    assert stats.raw[room:] == b"\xff" * (512 - room)
    if room:
        assert struct.unpack_from("=q", stats.raw) == (10,)
    libps.ps_node_free(node)
