"""`python -m bridge.th`: the `th` command without its installed script."""

import sys

from bridge.th import main

sys.exit(main())
