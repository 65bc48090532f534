"""A reading in the text format that Prometheus reads.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

from collections.abc import Iterator

from pyps.latencies import LIMITS
from pyps.watching.reading import Reading

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "moontide_node_"
PER_OCTAVE = 4  # of LIMITS; a bucket for each doubling is enough for Prometheus

# Name, what it is, and its samples: labels, and the name of a number of the node ("stats") or of its workers.
GAUGES = (
    ("keys", "Keys whose value lives on this node", "keys_held"),
    ("keys_waiting", "Keys that were not used often enough to exist, about", "keys_waiting"),
    ("replicas", "Keys of other nodes with a replica here", "replicas_held"),
    ("copies", "Keys of other nodes of which this one keeps a copy", "copies_held"),
    ("copy_bytes", "Memory in use by such copies", "copy_bytes"),
    ("keys_lacking_copies", "Keys that live here and get copies again after a loss", "keys_lacking_copies"),
    ("keys_to_take_over", "Keys of lost nodes that are to live here, but do not yet", "keys_to_take_over"),
    ("memory_bytes", "Shared memory in use", "committed_bytes"),
    ("directory_bytes", "Shared memory in use for where keys are", "directory_bytes"),
    ("slab_bytes", "Shared memory in use for values, with room for more", "slab_bytes"),
    ("value_bytes", "Shared memory in use by values", "value_bytes"),
    ("workers", "Workers that have joined and not ended", "workers"),
    ("intents_active", "Intents that have begun and not ended", "intents_active"),
    ("intents_waiting", "Intents that have not begun", "intents_waiting"),
    ("operations_pending", "Operations of living workers on their way to other nodes", "operations_pending"),
    ("nodes_lost", "Lost nodes, as this node sees the cluster", "nodes_lost"),
)
COUNTERS = (
    ("replicas_made", "Replicas made here", "replicas_made"),
    ("keys_forwarded", "Keys of operations that were passed on to another node", "requests_forwarded"),
    (
        "intents_skipped",
        "Calls of intent and prepare_sample that did nothing, as that is faster",
        "intents_skipped",
    ),
    ("messages_received", "Messages that this node's server received", "messages_received"),
    ("messages_refused", "Messages that were wrong or not expected", "refused"),
    ("peers_refused", "Connections without the cluster's CURVE keys", "peers_refused"),
    (
        "keys_without_room",
        "Keys of intents that stayed where they were, as here was no room",
        "keys_without_room",
    ),
    ("keys_evicted", "Keys that went to make room for others", "keys_evicted"),
    ("keys_expired", "Keys that went because nobody used them for max_age", "keys_expired"),
    (
        "pushes_dropped",
        "Keys of pushes that were dropped, as they were not used often enough",
        "pushes_dropped",
    ),
    ("workers_joined", "Workers that have joined", "workers_joined"),
    ("workers_reclaimed", "Slots of dead workers that were freed", "workers_reclaimed"),
    ("latches_recovered", "Latches taken over from dead workers", "latches_recovered"),
    (
        "values_restored",
        "Values that dead workers had half written and that were put back",
        "values_restored",
    ),
)
OF_WORKERS = (
    ("latch_waits", "Waits for a key that another worker of this node held", "latch_waits"),
    ("remote_operations", "Operations that needed another node and have ended", "remote_operations"),
)
CALLS = {"pull": "pulls", "push": "pushes", "set": "sets", "localize": "localizes"}
KEYS = {"pull": "keys_pulled", "push": "keys_pushed", "set": "keys_set"}


def expose(reading: Reading) -> str:
    """Return all of a reading as text, each line with its end."""
    return "".join(f"{line}\n" for line in _lines(reading))


def _lines(reading: Reading) -> Iterator[str]:
    parts = {
        f'node="{reading.node}"' + (f',table="{name}"' if name else ""): part
        for name, part in reading.parts().items()
    }
    yield from _head("up", "gauge", "Whether the node works")
    for labels, part in parts.items():
        yield f"{PREFIX}up{{{labels}}} {int(part.is_open)}"
    yield from _head("cluster_nodes", "gauge", "Nodes of the cluster, lost ones too")
    for labels, part in parts.items():
        yield f"{PREFIX}cluster_nodes{{{labels}}} {part.num_nodes}"
    for name, text, source in GAUGES:
        yield from _head(name, "gauge", text)
        for labels, part in parts.items():
            yield f"{PREFIX}{name}{{{labels}}} {part.stats[source]}"
    for rows, of_whom in ((COUNTERS, "stats"), (OF_WORKERS, "workers")):
        for name, text, source in rows:
            yield from _head(f"{name}_total", "counter", text)
            for labels, part in parts.items():
                yield f"{PREFIX}{name}_total{{{labels}}} {getattr(part, of_whom)[source]}"
    yield from _head("relocations_total", "counter", "Keys that came from other nodes and went to them")
    for labels, part in parts.items():
        for direction in ("in", "out"):
            count = part.stats[f"relocations_{direction}"]
            yield f'{PREFIX}relocations_total{{{labels},direction="{direction}"}} {count}'
    yield from _head("operations_total", "counter", "Calls of all workers that this node has had")
    for labels, part in parts.items():
        for operation, source in CALLS.items():
            yield f'{PREFIX}operations_total{{{labels},operation="{operation}"}} {part.workers[source]}'
    yield from _head("operation_keys_total", "counter", "Keys of these calls, by where their values were")
    for labels, part in parts.items():
        for operation, source in KEYS.items():
            local = part.workers[f"{source}_local"]
            for place, count in (("local", local), ("remote", part.workers[source] - local)):
                yield f'{PREFIX}operation_keys_total{{{labels},operation="{operation}",place="{place}"}} {count}'
    yield from _head(
        "operation_seconds",
        "histogram",
        "How long calls took: all that needed another node, every 61st local one",
    )
    for labels, part in parts.items():
        yield from _histograms(part, labels)


def _histograms(reading: Reading, of: str) -> Iterator[str]:
    name = f"{PREFIX}operation_seconds"
    for (operation, place), found in reading.latencies.items():
        labels = f'{of},operation="{operation}",place="{place}"'
        below = 0
        for number, count in enumerate(found.counts[:-1]):
            below += count
            if number % PER_OCTAVE == 0:
                yield f'{name}_bucket{{{labels},le="{LIMITS[number] / 1e9!r}"}} {below}'
        yield f'{name}_bucket{{{labels},le="+Inf"}} {found.counted}'
        yield f"{name}_sum{{{labels}}} {found.total_ns / 1e9!r}"
        yield f"{name}_count{{{labels}}} {found.counted}"


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP {PREFIX}{name} {text}", f"# TYPE {PREFIX}{name} {kind}"
