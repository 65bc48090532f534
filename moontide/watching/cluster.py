"""All nodes of a cluster, found from one or some of them and read at the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from moontide.errors import CommandError
from moontide.watching.sources import WAYS, Http, Source, Unreadable, source_of
from pyps.watching.reading import Reading

MOST_AT_ONCE = 32


@dataclass(frozen=True)
class Missing:
    """A node that could not be read.

    Attributes
    ----------
    node : int or None
        Its number, if that is known.
    address, reason : str
    """

    node: int | None
    address: str
    reason: str


class Cluster:
    """The nodes at some addresses and the others that these know of; a context manager.

    Parameters
    ----------
    addresses : sequence of str
        As `source_of` takes them.
    timeout : float
        Seconds for each reading of a node.

    Raises
    ------
    CommandError
        One of these is no address.
    """

    def __init__(self, addresses: Sequence[str], timeout: float) -> None:
        self._timeout = timeout
        self._sources: list[Source] = [source_of(address, timeout) for address in dict.fromkeys(addresses)]
        self._numbers: dict[str, int] = {}  # of nodes, by their addresses
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="moontide watching")

    def read(self) -> list[Reading | Missing]:
        """Read all nodes that are known, and those that they know of, in the order of their numbers.

        Raises
        ------
        CommandError
            None of them was ever read, or two are the same node.
        """
        found = self._read(self._sources)
        more = self._unknown(found)
        self._sources += more
        found += self._read(more)
        if not self._numbers:
            reasons = "; ".join(f"{one.address}: {one.reason}" for one in found if isinstance(one, Missing))
            raise CommandError(f"no node can be read. {reasons}. Is it running? If so, {WAYS}")
        twice = [number for number, times in Counter(self._numbers.values()).items() if times > 1]
        if twice:
            given = [source.address for source in self._sources]  # in this order, whichever answered first
            places = " and ".join(address for address in given if self._numbers.get(address) == twice[0])
            raise CommandError(
                f"{places} are both node {twice[0]}: give addresses of one cluster, each node once"
            )
        return sorted(found, key=lambda one: (one.node is None, one.node or 0))

    def _read(self, sources: Sequence[Source]) -> list[Reading | Missing]:
        return list(self._threads.map(self._read_one, sources))

    def _read_one(self, source: Source) -> Reading | Missing:
        try:
            found = source.read()
            if self._numbers.setdefault(source.address, found.node) != found.node:
                raise Unreadable(f"node {found.node} answers there")
        except Unreadable as error:
            return Missing(self._numbers.get(source.address), source.address, str(error))
        return found

    def _unknown(self, found: Sequence[Reading | Missing]) -> list[Source]:
        """Return the nodes that others know of."""
        new: list[Source] = []
        given = {source.address for source in self._sources}
        known = set(self._numbers.values())
        for reading in found:
            for number, address in enumerate(reading.nodes if isinstance(reading, Reading) else ()):
                if address.startswith("http://") and address.isprintable() and number not in known:
                    known.add(number)
                    self._numbers[address] = number
                    if address not in given:
                        new.append(Http(address, self._timeout))
        return new

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()
        for source in self._sources:
            source.close()
