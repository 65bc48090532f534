"""docs/nn.md says what is so: which names of nn exist, and what of each is tested."""

from __future__ import annotations

import pytest

from tests.torch7 import nn_table


@pytest.fixture(scope="module")
def rows() -> list[nn_table.Name]:
    return nn_table.table()


def test_the_document_is_what_the_code_and_the_tests_say(rows: list[nn_table.Name]) -> None:
    made = nn_table.document(rows)
    assert nn_table.DOCUMENT.read_text() == made, "run: python -m tests.torch7.nn_table"


def test_every_name_of_torch7_exists(rows: list[nn_table.Name]) -> None:
    assert [row.name for row in rows if not row.exists] == []


def test_every_gradient_is_checked_or_there_is_a_reason(rows: list[nn_table.Name]) -> None:
    assert [row.name for row in rows if not row.gradient] == []


def test_everything_is_compared_with_torch_or_there_is_a_reason(rows: list[nn_table.Name]) -> None:
    assert [row.name for row in rows if not row.peer] == []


def test_no_reason_is_given_for_what_is_tested() -> None:
    assert not nn_table.NO_GRADIENT.keys() & nn_table.gradient_checked()
    assert not nn_table.NO_PEER.keys() & nn_table.compared_with_torch()


def test_reasons_are_given_for_names_of_torch7() -> None:
    names = {name for kind in nn_table.listed() for name in kind}
    assert nn_table.NO_GRADIENT.keys() | nn_table.NO_PEER.keys() <= names
