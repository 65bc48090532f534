"""One file per command: HELP, add_arguments(parser) and run(arguments); the table is in moontide/cli.py."""

from __future__ import annotations
