"""`python -m moontide` is the same as the `moontide` command."""

from __future__ import annotations

import sys

from moontide.cli import main

sys.exit(main())
