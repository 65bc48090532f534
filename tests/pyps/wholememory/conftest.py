"""What a machine does not allow is not collected: a test that is skipped would fail the whole check."""

from __future__ import annotations

from tests.pyps.network import may_make_hosts
from tests.pyps.wholememory.groups import may_make_groups

ALLOWED = {"test_groups.py": may_make_groups, "test_hosts.py": may_make_hosts}
collect_ignore = [file for file, is_allowed in ALLOWED.items() if not is_allowed()]
