"""What each node tells the others about itself when a cluster starts, and the check that all of it fits together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pyps.rendezvous.interfaces import is_loopback

Agreed = dict[str, "str | float | None"]


@dataclass(frozen=True)
class Offer:
    """What one node tells.

    Attributes
    ----------
    node : int
    host : str
        Identifies its host: equal for two nodes if, and only if, they share a host.
    endpoint : str
        Where other nodes reach it.
    address : str
        Where processes of its host attach; empty if none will.
    guests : str
        Where these processes connect to, so that the node's creator knows of them.
    agreed : dict
        What must be the same on all nodes, with names for error messages.
    metrics : str
        Where its statistics can be read over HTTP; empty if nowhere.
    """

    node: int
    host: str
    endpoint: str
    address: str
    guests: str
    agreed: Agreed
    metrics: str = ""

    def encode(self) -> str:
        """Return the text that `decode` reads."""
        return json.dumps(asdict(self))

    @classmethod
    def decode(cls, text: str | bytes) -> Offer:
        """Read what `encode` wrote."""
        return cls(**json.loads(text))


def describe(
    num_nodes: int,
    num_keys: int | None,
    lengths: NDArray[np.int64],
    dtype: str,
    curve: str | None,
    options: Mapping[str, str | float],
) -> Agreed:
    """Return what must be the same on all nodes.

    Parameters
    ----------
    lengths : array of int64, shape (n,)
        One length for all values, one for each key, or one for each class of keys.
    curve : str or None
        The public key.
    options : mapping
        More that must be the same, by names.
    """
    is_for_keys = num_keys is not None
    if len(lengths) == 1 or (is_for_keys and len(lengths) > 0 and bool((lengths == lengths[0]).all())):
        length = str(lengths[0])
    else:
        digest = hashlib.sha256(np.ascontiguousarray(lengths).tobytes()).hexdigest()[:12]
        length = f"{len(lengths)} lengths, {int(lengths.sum())} in all (digest {digest})"
    return {
        "num_nodes": num_nodes,
        "num_keys": num_keys,
        "value_length": length,
        "dtype": dtype,
        "version": _version(),
        "CURVE key": curve,
        **options,
    }


def name_of_host() -> str:
    """Return a text that no two running hosts have in common."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    network = Path("/proc/self/ns/net").readlink()  # a network namespace has a loopback of its own
    return f"{boot} {network}"


def find_metrics(offers: Sequence[Offer], host: str) -> tuple[str, ...]:
    """Return where the statistics of all nodes can be read from a host; empty where they cannot."""
    return tuple(
        offer.metrics if offer.metrics and (offer.host == host or not is_loopback(offer.metrics)) else ""
        for offer in offers
    )


def find_disagreement(offers: Sequence[Offer]) -> str | None:
    """Return what is wrong with the offers of all nodes; None if they fit together."""
    found = []
    for name in offers[0].agreed:
        values = [offer.agreed.get(name) for offer in offers]
        if any(value != values[0] for value in values):
            found.append(f"{name} is " + ", but ".join(_grouped(values)))
    if found:
        return "the nodes disagree: " + "; ".join(found)
    return _unreachable(offers)


def find_difference(agreed: Agreed, others: Agreed, where: str) -> str | None:
    """Return how this process differs from what was agreed on elsewhere; None if it does not."""
    found = [
        f"{name} is {agreed.get(name)} here and {value} at {where}"
        for name, value in others.items()
        if agreed.get(name) != value
    ]
    return "; ".join(found) if found else None


def _grouped(values: Sequence[str | float | None]) -> list[str]:
    """Return texts that say which nodes have which value; the most frequent value comes first."""
    nodes: dict[str | float | None, list[int]] = {}
    for node, value in enumerate(values):
        nodes.setdefault(value, []).append(node)
    parts = []
    for value, having in sorted(nodes.items(), key=lambda item: -len(item[1])):
        some = ", ".join(map(str, having[:8])) + (f" and {len(having) - 8} more" if len(having) > 8 else "")
        parts.append(f"{value} at node{'s' if len(having) > 1 else ''} {some}")
    return parts


def _unreachable(offers: Sequence[Offer]) -> str | None:
    for offer in offers:
        elsewhere = [other.node for other in offers if other.host != offer.host]
        if elsewhere and is_loopback(offer.endpoint):
            return (
                f"node {offer.node} listens at {offer.endpoint}, which node {elsewhere[0]} on another host cannot "
                "reach: name an interface or address (interface=..., DMLC_INTERFACE or DMLC_NODE_HOST)"
            )
    return None


def _version() -> str:
    try:
        return version("moontide")
    except PackageNotFoundError:
        return "not installed"
