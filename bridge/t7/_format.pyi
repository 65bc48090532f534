from collections.abc import Callable
from typing import Any

PART_KINDS: tuple[str, ...]

def read(
    where: Any,
    name: str,
    *,
    size: int = ...,
    long_size: int = ...,
    byteorder: str = ...,
    always_dict: bool = ...,
    layouts: dict[str, tuple[str, ...]] | None = ...,
    torch: Any = ...,
    mapped: Any = ...,
    summary: tuple[Callable[..., Any], Callable[..., Any]] | None = ...,
) -> Any: ...
def written(
    obj: Any,
    fd: int,
    plain: Callable[[Any], Any],
    *,
    ascii: bool = ...,  # noqa: A002
    long_size: int = ...,
    swap: bool = ...,
) -> Any: ...
