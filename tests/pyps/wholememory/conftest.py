"""What a machine does not allow is not collected: a test that is skipped would fail the whole check."""

from __future__ import annotations

from tests.pyps.wholememory.groups import may_make_groups

collect_ignore = [] if may_make_groups() else ["test_groups.py"]
