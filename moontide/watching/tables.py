"""Readings as lines of text: the nodes, and how long their operations took."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from moontide.table import aligned
from moontide.watching.cluster import Missing
from pyps.latencies import Latencies
from pyps.watching.reading import PERCENTILES, Reading

CALLS = ("pulls", "pushes", "sets", "localizes")
KEYS = ("keys_pulled", "keys_pushed", "keys_set")
UNITS = "KMGTPE"


def count(number: float) -> str:
    """Return a count in at most five characters, like 37, 4.2K, 120M."""
    return _short(number, 1000)


def size(number: float) -> str:
    """Return bytes in at most six characters, like 512, 1.5Ki, 20Mi."""
    return _short(number, 1024, "i")


def duration(seconds: float | None) -> str:
    """Return a time like 250ns, 1.3us, 20ms; an unknown one as a dash."""
    if seconds is None:
        return "-"
    for unit in ("ns", "us", "ms"):
        number = seconds * {"ns": 1e9, "us": 1e6, "ms": 1e3}[unit]
        if number < 999.5:
            return f"{number:.3g}{unit}"
    return f"{seconds:.3g}s"


def share(part: float, whole: float) -> str:
    """Return a share in percent; of nothing, a dash. What is not all is never shown as 100%."""
    return f"{int(1000 * part / whole) / 10:g}%" if whole else "-"


def totals(found: Sequence[Reading | Missing]) -> list[str]:
    """Return lines with what the nodes hold, and what they have counted since they began."""
    return _shown(found, lambda _number, _name, _part: None)


def rates(before: Sequence[Reading | Missing], now: Sequence[Reading | Missing]) -> list[str]:
    """Return lines with what the nodes hold, and what they did for each second between two readings."""
    earlier = {
        (one.node, name): part
        for one in before
        if isinstance(one, Reading)
        for name, part in one.parts().items()
    }
    return _shown(now, lambda number, name, part: earlier.get((number, name), part))


# A node's number, for a table like 0/users; the later reading, and the earlier one; None: since the beginning.
Since = Missing | tuple[str, Reading, Reading | None]


def _shown(
    found: Sequence[Reading | Missing], earlier: Callable[[int, str, Reading], Reading | None]
) -> list[str]:
    since: list[Since] = []
    for one in found:
        if isinstance(one, Missing):
            since.append(one)
        else:
            for name, part in one.parts().items():
                since.append((f"{one.node}/{name}".rstrip("/"), part, earlier(one.node, name, part)))
    return [*_nodes(since), *_latencies(since)]


def _nodes(found: Sequence[Since]) -> Iterator[str]:
    heads: tuple[str, ...] = ()
    rows = []
    lost = []
    for one in found:
        if isinstance(one, Missing):
            lost.append(
                f"node {'?' if one.node is None else one.node} cannot be read: {one.reason} ({one.address})"
            )
            continue
        cells = _cells(*one)
        heads = tuple(cells)
        rows.append(tuple(cells.values()))
        if not one[1].is_open:
            lost.append(f"node {one[0]} does not work any more")
    if rows:
        yield from aligned([heads, *rows], numbers=len(heads))
    yield from lost


def _cells(label: str, now: Reading, before: Reading | None) -> dict[str, str]:
    did = _difference(now.workers, before.workers if before else {})
    moved = _difference(now.stats, before.stats if before else {})
    per, seconds = ("", 1.0) if before is None else ("/s", now.time - before.time)

    def rate(number: float) -> str:
        return count(number / seconds) if seconds > 0 else "-"

    return {
        "node": label,
        "keys": count(now.stats["keys_held"]),
        "replicas": count(now.stats["replicas_held"]),
        "values": size(now.stats["value_bytes"]),
        "memory": size(now.stats["committed_bytes"]),
        "workers": count(now.stats["workers"]),
        f"calls{per}": rate(sum(did[name] for name in CALLS)),
        f"used{per}": rate(sum(did[name] for name in KEYS)),
        "local": share(did["keys_local"], sum(did[name] for name in KEYS)),
        f"in{per}": rate(moved["relocations_in"]),
        f"out{per}": rate(moved["relocations_out"]),
        f"evicted{per}": rate(moved["keys_evicted"]),
        f"expired{per}": rate(moved["keys_expired"]),
        f"dropped{per}": rate(moved["pushes_dropped"]),
        "pending": count(now.stats["operations_pending"]),
        "intents": f"{count(now.stats['intents_active'])}+{count(now.stats['intents_waiting'])}",
        "refused": count(now.stats["refused"] + now.stats["peers_refused"]),
        "lost": str(now.stats["nodes_lost"]),
    }


def _latencies(found: Sequence[Since]) -> Iterator[str]:
    rows = []
    for one in found:
        if isinstance(one, Missing):
            continue
        label, now, before = one
        for (operation, place), counted in now.latencies.items():
            taken = counted - before.latencies[operation, place] if before else counted
            if taken.counted:
                rows.append((label, operation, place, *_times(taken)))
    if rows:
        percentiles = (f"p{percent}" for percent in PERCENTILES)
        yield ""
        yield from aligned(
            [("node", "operation", "where", "timed", *percentiles), *rows], numbers=1 + len(PERCENTILES)
        )


def _times(taken: Latencies) -> tuple[str, ...]:
    return count(taken.counted), *(duration(taken.percentile(percent)) for percent in PERCENTILES)


def _difference(now: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {name: number - before.get(name, 0) for name, number in now.items()}


def _short(number: float, step: int, suffix: str = "") -> str:
    power = 0
    while power < len(UNITS) and number >= step - 0.5:
        number /= step
        power += 1
    text = f"{number:.0f}" if number >= 9.95 or number == int(number) else f"{number:.1f}"
    return f"{text}{UNITS[power - 1]}{suffix}" if power else text
