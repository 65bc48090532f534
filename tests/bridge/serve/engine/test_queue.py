"""Requests wait in order of arrival, and go together where they can."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Hashable, Iterator

import pytest

from bridge.serve.engine.queue import Queue, Request


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def request(loop: asyncio.AbstractEventLoop, key: Hashable, rows: int = 1, arrived: float = 0.0) -> Request:
    return Request(None, [], key, rows, arrived, loop.create_future())


def test_requests_of_one_key_go_together(loop: asyncio.AbstractEventLoop) -> None:
    queue = Queue(8, 0.0)
    one, other, third = (request(loop, key, arrived=at) for at, key in enumerate("aba"))
    for each in (one, other, third):
        queue.add(each)
    assert queue.take(9.0) == [one, third]
    assert queue.take(9.0) == [other]
    assert queue.take(9.0) == []
    assert queue.due() is None


def test_requests_without_a_key_go_alone(loop: asyncio.AbstractEventLoop) -> None:
    queue = Queue(8, 1.0)
    requests = [request(loop, None, arrived=at) for at in range(3)]
    for each in requests:
        queue.add(each)
    assert [queue.take(0.0 + at) for at in range(3)] == [[each] for each in requests]


def test_a_batch_has_no_more_rows_than_it_may(loop: asyncio.AbstractEventLoop) -> None:
    queue = Queue(4, 0.0)
    for rows in (3, 2, 2, 9, 1):
        queue.add(request(loop, "a", rows))
    assert [[each.rows for each in queue.take(1.0)] for _ in range(4)] == [[3], [2, 2], [9], [1]]


def test_a_client_on_its_own_never_waits(loop: asyncio.AbstractEventLoop) -> None:
    queue = Queue(8, 1.0)
    for at in (0.0, 5.0):
        queue.add(request(loop, "a", arrived=at))
        assert queue.due() == at
        assert len(queue.take(at)) == 1


def test_one_waits_where_the_last_batch_had_others(loop: asyncio.AbstractEventLoop) -> None:
    queue = Queue(8, 1.0)
    for _ in range(2):
        queue.add(request(loop, "a"))
    assert len(queue.take(0.0)) == 2
    queue.add(request(loop, "a", arrived=5.0))
    assert queue.due() == 6.0
    assert queue.take(5.5) == []
    assert len(queue.take(6.0)) == 1


def test_a_stream_of_one_key_starves_no_other(loop: asyncio.AbstractEventLoop) -> None:
    queue = Queue(2, 0.0)
    other = request(loop, "b", arrived=2.5)
    for at in range(6):
        queue.add(request(loop, "a", arrived=at))
    queue.add(other)
    taken = []
    for at in range(6, 9):  # two arrive for each two that are taken
        taken.append(queue.take(at))
        for _ in range(2):
            queue.add(request(loop, "a", arrived=at))
    assert taken[2] == [other]


@pytest.mark.parametrize("seed", range(20))
def test_no_request_is_lost_or_given_twice(loop: asyncio.AbstractEventLoop, seed: int) -> None:
    chance = random.Random(seed)
    limit, wait, now = chance.randint(1, 6), 2.0, 0.0
    queue, waiting = Queue(limit, wait), list[Request]()
    for _ in range(400):
        now += chance.random()
        match chance.choice(["add", "add", "discard", "take"]):
            case "add":
                waiting.append(request(loop, chance.choice(["a", "b", None]), chance.randint(1, 4), now))
                queue.add(waiting[-1])
            case "discard" if waiting:
                given_up = waiting.pop(chance.randrange(len(waiting)))
                queue.discard(given_up)
                queue.discard(given_up)
            case "take":
                due, batch = queue.due(), queue.take(now)
                assert bool(batch) == (due is not None and due <= now)
                if batch:
                    first = min(waiting, key=lambda each: each.arrived)
                    alike = [each for each in waiting if each.key == first.key]
                    assert due is not None
                    assert first.arrived <= due <= first.arrived + wait
                    assert batch == alike[: len(batch)]
                    assert len(batch) == 1 or (
                        first.key is not None and sum(each.rows for each in batch) <= limit
                    )
                    waiting = [each for each in waiting if each not in batch]
                    queue.discard(batch[0])
        assert len(queue) == len(waiting)
    left = [each for batch in iter(lambda: queue.take(float("inf")), []) for each in batch]
    assert sorted(left, key=lambda each: each.arrived) == waiting
