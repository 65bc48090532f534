"""The protocol, the membership, barriers and messages in native programs, under random orders of events."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pytest

from tests.pyps.native import Programs, native, times

pytestmark = pytest.mark.slow


@native
@pytest.mark.parametrize(("values", "seeds"), [("plain", 200), ("memory", 30), ("tight", 100)])
def test_the_protocol_holds_in_any_order_of_messages(programs: Programs, values: str, seeds: int) -> None:
    assert programs.run("interleavings", "0", times(seeds), values) == "ok\n"


def exact_quantile(mean: str) -> int:
    """Return the 0.9999 quantile of a Poisson distribution, summed with sixty digits."""
    with localcontext() as context:
        context.prec = 60
        mass = total = (-Decimal(mean)).exp()
        k = 0
        while total < Decimal("0.9999"):
            k += 1
            mass *= Decimal(mean) / k
            total += mass
    return k


@native
def test_intents_are_acted_on_in_time(programs: Programs) -> None:
    assert programs.run("timing") == "ok\n"
    means = ["0.001", "0.01", "0.1", "0.5", "1", "2", "7.5", "20", "100", "745", "1000", "20000"]
    found = programs.run("timing", "quantile", *means).split()
    assert [int(number) for number in found] == [exact_quantile(mean) for mean in means]


@native
def test_it_is_found_by_trial_whether_intents_pay(programs: Programs) -> None:
    assert programs.run("trials", "0", "50") == "ok\n"


@native
def test_compressed_deltas_lose_nothing(programs: Programs) -> None:
    assert programs.run("compression", "0", times(800)) == "ok\n"


@native
def test_barriers_hold_in_any_order_of_messages(programs: Programs) -> None:
    assert programs.run("gates", "0", times(800)) == "ok\n"


@native
def test_nodes_agree_on_settings_whoever_changes_them_and_whoever_is_lost(programs: Programs) -> None:
    assert programs.run("settings", "0", times(800)) == "ok\n"


@native
def test_nodes_agree_on_tables_in_any_order_of_messages(programs: Programs) -> None:
    assert programs.run("board", "0", times(800)) == "ok\n"


@native
def test_declarations_of_tables_are_read_as_they_were_written(programs: Programs) -> None:
    assert programs.run("declarations", times(1000)) == "ok\n"


@native
def test_the_protocol_survives_lost_nodes(programs: Programs) -> None:
    assert programs.run("losses", "0", times(200)) == "ok\n"


@native
def test_deleted_keys_are_gone_in_any_order_of_messages(programs: Programs) -> None:
    assert programs.run("deletions", "0", times(200)) == "ok\n"


@native
def test_members_agree_whatever_is_killed_stopped_or_cut(programs: Programs) -> None:
    assert programs.run("members", "0", times(80)) == "ok\n"


@native
def test_many_nodes_have_more_threads_for_their_connections(programs: Programs) -> None:
    assert programs.run("carriers") == "ok\n"


@native
def test_many_nodes_give_signs_of_life_more_rarely(programs: Programs) -> None:
    assert programs.run("signs_of_life") == "ok\n"


@native
def test_a_mailbox_keeps_the_order_of_each_key(programs: Programs) -> None:
    assert programs.run("mailbox", "0", times(200)) == "ok\n"


@native
def test_a_replica_s_deltas_are_counted_beyond_32_bits(programs: Programs) -> None:
    assert programs.run("sequences") == "ok\n"


@native
def test_damaged_messages_are_refused(programs: Programs) -> None:
    assert programs.run("wire", times(20_000)) == "ok\n"
