"""`python -m bridge.th`: the `th` command without its installed script."""

from __future__ import annotations

import sys

from bridge.th import main

sys.exit(main())
