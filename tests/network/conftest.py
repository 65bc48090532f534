"""What a machine does not allow is not collected: a test that is skipped would fail the whole check."""

from __future__ import annotations

from tests.network.allowed import may_make_them

collect_ignore = [] if may_make_them() else ["test_hosts.py", "test_shares.py"]
