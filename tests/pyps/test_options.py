"""What users of Lapse and AdaPM set: taken, or named in a warning with the reason; docs/options.md has all of it."""

from __future__ import annotations

import re
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import adapm, lapse, originals
from pyps.options import OPTIONS, Option, read, read_variables, split_arguments
from pyps.rendezvous import dmlc
from pyps.rendezvous.environment import Environment
from tests.pages import ROOT
from tests.pyps.test_originals import Start, environment, fresh, start

__all__ = ["environment", "fresh", "start"]  # fixtures

NODES = [
    *("DMLC_ROLE", "DMLC_NUM_SERVER", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"),
    *("DMLC_NODE_HOST", "DMLC_INTERFACE"),
]


def names(options: list[Option]) -> Any:
    return pytest.mark.parametrize("option", options, ids=[option.name for option in options])


def use(option: Option, value: str, patch: pytest.MonkeyPatch) -> None:
    """Set an option as its users do, without a node."""
    if option.place == "setup":
        adapm.setup(20, 1, num_channels=int(value))
    elif option.place == "argument":
        options, rest = adapm.split_arguments([f"--{option.name}", value, "--epochs", "3"])
        assert rest == ["--epochs", "3"]
        adapm.setup(20, 1, options=options)
    else:
        patch.setenv(option.name, value)
        read_variables({option.name: value})


NOTHING = [option for option in OPTIONS if option.read is None]


@names(NOTHING)
def test_what_does_nothing_is_named_with_its_value_and_the_reason(
    option: Option, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = f"{option.name} is '77', which does nothing here: {option.here}"
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}$") as caught:
        use(option, "77", monkeypatch)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@names([option for option in NOTHING if option.usual])
def test_who_asks_for_what_is_done_anyway_is_told_nothing(
    option: Option, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in option.usual:
            use(option, value, monkeypatch)


def test_a_number_is_the_usual_one_however_it_is_written() -> None:
    adapm.setup(
        20, 1, options={"sys.sync.max_per_sec": 1e3, "sys.timing.autotune": True, "sys.sync.pause": "0.0"}
    )


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("sys.technique", "sys.techniques"),
        ("sys.pause", "sys.sync.pause"),
        ("sampling.resue", "sampling.reuse"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} is no option of AdaPM; the nearest one is {nearest}$"):
        adapm.setup(20, 1, options={name: "1"})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sys.time_intent_actions", "maybe", "'maybe': it must be true or false"),
        ("sys.trace.keys", "1;2", "'1;2': it must be keys like 12,34, or all"),
        (
            "sys.trace.keys",
            "random-10-seed-7-range-0-9",
            "'random-10-seed-7-range-0-9': it must be a range of at least 10 keys",
        ),
        ("sampling.pool_size", "0", "'0': it must be a whole number, at least 1"),
        ("sampling.reuse", "-1", "'-1': it must be a whole number"),
        ("sys.techniques", "both", "'both'; it must be one of all, replication_only, relocation_only"),
    ],
)
def test_a_value_that_is_none_is_refused(name: str, value: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} is {re.escape(message)}"):
        adapm.setup(20, 1, options={name: value})


def test_a_command_line_is_divided_into_options_and_the_rest() -> None:
    options, rest = split_arguments(
        [
            "-v",
            "5",
            "--sys.channels=4",
            "data",
            "--sampling.scheme",
            "pool",
            "--sys.trace.keys=1,2=",
            "--sync",
        ]
    )
    assert options == {"sys.channels": "4", "sampling.scheme": "pool", "sys.trace.keys": "1,2="}
    assert rest == ["-v", "5", "data", "--sync"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sys.channels"], "--sys.channels has no value; write --sys.channels=VALUE"),
        (["--sys.channels", "--sys.techniques", "all"], "--sys.channels has no value"),
        (["--sys.channels=1", "--sys.channels", "2"], "--sys.channels is there twice: '1' and '2'"),
    ],
)
def test_a_command_line_with_half_an_option_is_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split_arguments(arguments)


def test_the_traced_keys_are_a_list_all_or_a_sample_that_the_seed_decides() -> None:
    def keys(text: str) -> Any:
        return read("argument", "sys.trace.keys", text)

    assert (keys("12,3421,37892"), keys("all"), keys("")) == ([12, 3421, 37892], "all", [])
    sample = keys("random-10-seed-7-range-50-100")
    assert len(set(sample)) == 10
    assert all(50 <= key < 100 for key in sample)
    assert sample == keys("random-10-seed-7-range-50-100") != keys("random-10-seed-8-range-50-100")


@pytest.mark.parametrize("technique", ["replication_only", "relocation_only"])
def test_the_techniques_may_come_as_an_option(start: Start, technique: str) -> None:
    adapm.setup(20, 1, options={"sys.techniques": technique})
    first, _ = start(2, lambda: adapm.Server(1))
    with adapm.Worker(0, first) as kv:
        kv.intent([1], 0, 5)
        kv.wait_sync()
        stats = first.node.stats()
    assert (stats["relocations_in"], stats["replicas_made"]) == (
        (0, 1) if technique == "replication_only" else (1, 0)
    )


def test_what_setup_is_told_counts_before_the_option(start: Start) -> None:
    adapm.setup(20, 1, "relocation_only", options={"sys.techniques": "replication_only"})
    first, _ = start(2, lambda: adapm.Server(1))
    with adapm.Worker(0, first) as kv:
        kv.intent([1], 0, 5)
        kv.wait_sync()
        assert first.node.stats()["relocations_in"] == 1


@pytest.mark.parametrize("in_time", ["true", "0"])
def test_intents_begin_at_once_if_they_are_not_timed(start: Start, in_time: str) -> None:
    adapm.setup(20, 1, options={"sys.time_intent_actions": in_time})
    first, second = start(2, lambda: adapm.Server(1))
    for server in (first, second):
        server.enable_sampling_support("preloc", True, "uniform", 3, 4)
    with adapm.Worker(0, first) as kv, adapm.Worker(0, second):
        kv.intent([1], 1000, 2000)
        sample = kv.prepare_sample(1, 1000, 2000)
        kv.wait_sync()
        out = np.zeros(1, np.float32)
        assert [kv.pull_if_local([key], out) for key in (1, 3)] == [in_time == "0"] * 2
        assert first.node.stats()["intents_active" if in_time == "0" else "intents_waiting"] == 2
        kv.finish_sample(sample)


@pytest.mark.parametrize("bad", [(-5, 0), (5, 4), (5, 5)])
def test_intents_that_are_no_interval_are_refused_also_if_they_are_not_timed(
    start: Start, bad: tuple[int, int]
) -> None:
    adapm.setup(20, 1, options={"sys.time_intent_actions": False})
    (server,) = start(1, lambda: adapm.Server(1))
    with adapm.Worker(0, server) as kv, pytest.raises(ValueError, match="clock"):
        kv.intent([1], *bad)


def test_traced_keys_are_written_where_statistics_go(start: Start, tmp_path: Any) -> None:
    folder = tmp_path / "new" / "stats"
    adapm.setup(20, 1, options={"sys.trace.keys": "1,3", "sys.stats.out": str(folder)})
    before = time.time()
    servers = start(2, lambda: adapm.Server(1))
    with adapm.Worker(0, servers[0]) as kv:
        kv.intent([1], 0, 1)
        kv.wait_sync()
        kv.localize([3, 5])
        kv.advance_clock()
        kv.quiesce()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda server: server.shutdown(), servers))
    lines = [
        [line.split("\t") for line in (folder / f"traces.{rank}.tsv").read_text().splitlines()]
        for rank in range(2)
    ]
    assert all(before * 1000 - 1 <= int(row[0]) <= time.time() * 1000 + 1 for rows in lines for row in rows)
    assert [row[1:] for row in lines[1]] == [
        ["1", "1", "alloc"],
        ["3", "1", "alloc"],
        ["1", "1", "dealloc"],
        ["3", "1", "dealloc"],
    ]
    story = [row[1:] for row in lines[0]]
    assert [row for row in story if row[0] == "1"] == [
        ["1", "0", event] for event in ("intent_start", "alloc", "intent_stop")
    ]
    assert [row for row in story if row[0] == "3"] == [["3", "0", "alloc"]]


def test_samples_are_drawn_as_the_options_say_where_the_call_does_not(start: Start) -> None:
    adapm.setup(
        1_000_000,
        1,
        options=split_arguments(
            ["--sampling.scheme=pool", "--sampling.with_replacement=false", "--sampling.pool_size=20"]
        )[0],
    )
    (server,) = start(1, lambda: adapm.Server(1))
    server.enable_sampling_support(None, None, "uniform", 0, 30)
    with adapm.Worker(0, server) as kv:
        with pytest.raises(ValueError, match="31"):
            kv.prepare_sample(31, 0)  # all are different, and there are 30
        kv.prepare_sample(30, 0)


def test_a_pool_is_as_large_as_the_option_says(start: Start) -> None:
    """Two pools of five draws are in use at a time, and each serves for longer than this."""
    adapm.setup(1_000_000, 1, options={"sampling.pool_size": 5, "sampling.reuse": 1000})
    (server,) = start(1, lambda: adapm.Server(1))
    server.enable_sampling_support("pool", True, "uniform", 0, 1_000_000)
    drawn = np.zeros((50, 2), np.int64)
    with adapm.Worker(0, server) as kv:
        for keys in drawn:
            kv.pull_sample(kv.prepare_sample(2, 0), keys, np.zeros(2, np.float32))
    assert len(np.unique(drawn)) <= 10


@pytest.mark.slow
def test_an_unknown_scheme_of_an_option_is_refused(start: Start) -> None:
    adapm.setup(20, 1, options={"sampling.scheme": "random"})
    (server,) = start(1, lambda: adapm.Server(1))
    with pytest.raises(ValueError, match="'random'"):
        server.enable_sampling_support(None, True, "uniform", 0, 20)


@pytest.fixture(params=["lapse", "adapm"])
def kind(request: pytest.FixtureRequest) -> Any:
    module = {"lapse": lapse, "adapm": adapm}[request.param]
    module.setup(20, 1)
    return module


@pytest.mark.slow
def test_a_variable_that_does_nothing_is_named_when_a_server_starts(
    kind: Any, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PS_VERBOSE", "2")
    with pytest.warns(
        UserWarning, match="PS_VERBOSE is '2', which does nothing here: what happens is logged"
    ):
        start(1, lambda: kind.Server(np.ones(20)))


@pytest.mark.parametrize(
    ("interval", "timeout", "heartbeat", "lost_after"),
    [
        (None, None, 0.5, 3.0),
        ("0", "0", 0.5, 3.0),
        ("2", None, 2.0, 6.0),
        (None, "12", 0.5, 12.0),
        (None, "1", 1 / 3, 1.0),  # three signs of life at least
        ("1", "4", 1.0, 4.0),
    ],
)
def test_heartbeats_are_as_the_variables_say(
    interval: str | None, timeout: str | None, heartbeat: float, lost_after: float
) -> None:
    variables = {
        f"PS_HEARTBEAT_{name}": text for name, text in (("INTERVAL", interval), ("TIMEOUT", timeout)) if text
    }
    found = {"heartbeat": 0.5, "lost_after": 3.0, **originals.signs_of_life(read_variables(variables))}
    assert found == {"heartbeat": heartbeat, "lost_after": lost_after}
    pyps.Server(1, num_nodes=2, **found).shutdown()  # which takes them


@pytest.mark.slow
def test_heartbeats_too_far_apart_are_refused_where_the_server_starts(
    kind: Any, environment: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Environment(None, environment(1), None, None)
    with ThreadPoolExecutor(1) as pool:
        over = pool.submit(dmlc.scheduler, environment=place)
        monkeypatch.setenv("PS_HEARTBEAT_INTERVAL", "2")
        monkeypatch.setenv("PS_HEARTBEAT_TIMEOUT", "3")
        with pytest.raises(
            ValueError, match="lost_after is 3; it must be at least three times heartbeat, which is 2"
        ):
            kind.Server(np.ones(20))
        with pytest.raises(pyps.StartError, match="lost_after"):
            over.result(50)


def test_a_misspelled_variable_is_told_and_what_is_nobodys_is_left_alone() -> None:
    with pytest.warns(
        UserWarning, match="DMLC_NUM_SERVERS is '4', which nobody reads: is it DMLC_NUM_SERVER"
    ):
        assert read_variables({"DMLC_NUM_SERVERS": "4"}) == {}
    others = {"DMLC_NUM_ATTEMPT": "0", "DMLC_TASK_ID": "1", "PS_FORMAT": "pid", "PS_VERBOSE": ""}
    assert read_variables({**others, "PS_HEARTBEAT_TIMEOUT": "4"}) == {"PS_HEARTBEAT_TIMEOUT": 4.0}


def test_the_variables_that_place_a_node_are_taken() -> None:
    assert [option.name for option in OPTIONS if option.place == "variable" and option.read][:6] == NODES


PLACES = {
    "argument": "Arguments",
    "setup": "Keywords of `setup`",
    "variable": "Variables of the environment",
    "compiler": "Variables of the compiler",
}


def table(place: str) -> str:
    """Return the rows of a place as the page has them."""
    shown = [
        (
            f"`{'--' if option.place == 'argument' else ''}{option.name}`",
            option.here
            if option.read
            else f"nothing: {option.here}"
            + (f" ({', '.join(option.usual)}: no warning)" if option.usual else ""),
        )
        for option in OPTIONS
        if option.place == place
    ]
    return "| there | here |\n|---|---|\n" + "".join(f"| {name} | {here} |\n" for name, here in shown)


@pytest.mark.parametrize("place", PLACES)
def test_the_page_has_what_the_code_has(place: str) -> None:
    page = (ROOT / "docs/options.md").read_text()
    section = page.split(f"\n## {PLACES[place]}\n")[1].split("\n## ")[0]
    assert table(place) in section
