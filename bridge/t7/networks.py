"""Finding networks inside the tables of a file, by keys such as `protos.rnn` or `models.0`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from bridge._boundary import LuaObject
from bridge.t7.objects import TorchObject

LEAVES = (str, bytes, int, float, bool, type(None))
DEPTH = 16  # levels of tables inside tables that are searched


def network(value: Any, key: str | None = None) -> Any:
    """Return the network of a file: its value, or the only network in its tables, or the one of a key.

    Parameters
    ----------
    value : object
        The result of `bridge.t7.load`, or of `torch.load` in a Lua state.
    key : str, optional
        The keys that lead to the network, such as "protos.rnn".

    Raises
    ------
    ValueError
        There is no network, or there are several; the message lists their names.
    """
    if key is not None:
        try:
            return at(value, key)
        except KeyError as error:
            raise ValueError(f"{error.args[0]} in the file's table") from None
    if not isinstance(value, dict | list):
        return value
    there = found(value, is_network)
    if len(there) == 1:
        return next(iter(there.values()))
    if there:
        names = ", ".join(map(repr, there))
        raise ValueError(f"the table holds several networks ({names}): take one, with key= or --key")
    names = ", ".join(repr(name) for name, _ in entries(value)) or "nothing"
    raise ValueError(f"the table holds no network: it has {names}")


def is_network(value: Any) -> bool:
    """Whether a value is a network (a criterion is not)."""
    if isinstance(value, TorchObject):
        name = value.torch_typename()
        if not isinstance(value.torch_payload(), dict):
            return False
    elif isinstance(value, LuaObject):
        name = value.typename
    else:
        return False
    return not name.endswith("Criterion") and name.split(".")[0] not in ("torch", "tds", "graph", "nngraph")


def entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Return the entries of a table, or the fields of an object, by name; lists count from 0."""
    if isinstance(value, list | tuple):
        for place, entry in enumerate(value):
            yield str(place), entry
    elif isinstance(value, dict):
        for key, entry in value.items():
            if isinstance(key, str | int | float):
                yield str(key), entry
    elif isinstance(value, TorchObject) and isinstance(value.torch_payload(), dict | list):
        yield from entries(value.torch_payload())


def found(value: Any, wanted: Callable[[Any], bool]) -> dict[str, Any]:
    """Return the wanted values in a value and its tables, by the keys that lead to them; "" is the value itself.

    Each is listed once, with the fewest keys that lead to it. Wanted values are not searched themselves.
    """
    result: dict[str, Any] = {}
    seen: set[int] = set()
    level = [("", value)]
    for _ in range(DEPTH):
        below: list[tuple[str, Any]] = []
        for way, one in level:
            if id(one) in seen:
                continue
            seen.add(id(one))
            if wanted(one):
                result[way] = one
            elif isinstance(one, list | tuple | dict):
                below.extend(
                    (f"{way}.{name}" if way else name, entry)
                    for name, entry in entries(one)
                    if not isinstance(entry, LEAVES)
                )
        level = below
    return result


def at(value: Any, key: str) -> Any:
    """Return the entry that a key such as "protos.rnn" leads to; a single key may contain dots itself.

    Raises
    ------
    KeyError
        There is none; the message lists the names that exist where the search ended.
    """
    here = dict(entries(value)) if isinstance(value, dict | list | tuple | TorchObject) else fields(value)
    if key in here:
        return here[key]
    parts = key.split(".")
    for count in range(len(parts) - 1, 0, -1):
        name = ".".join(parts[:count])
        if name in here:
            return at(here[name], ".".join(parts[count:]))
    raise KeyError(f"there is no {key!r}; there is {', '.join(map(repr, here)) or 'nothing'}")


def fields(value: Any) -> dict[str, Any]:
    """Return the fields of an object in a Lua state, by name."""
    of = getattr(value, "fields", None)
    return {str(name): entry for name, entry in of().items()} if of is not None else {}
