"""Look at, check or export a checkpoint of a parameter server. Runs no code in it.

A directory with several checkpoints stands for the newest one in it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from moontide.errors import CommandError
from moontide.options import files

if TYPE_CHECKING:
    from pyps.checkpoint.stored import Stored

HELP = "inspect, verify or export a checkpoint of a parameter server"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is done, and with which checkpoint."""
    actions = parser.add_subparsers(title="actions", dest="action", metavar="ACTION", required=True)
    inspect = actions.add_parser("inspect", help="print what it has; reads the manifest only")
    inspect.add_argument("--json", action="store_true", help="print JSON")
    verify = actions.add_parser(
        "verify", help="compare all shards with their checksums, and look for missing keys"
    )
    export = actions.add_parser(
        "export", help="write one file: .npz, .safetensors or .parquet, by its ending"
    )
    for action in (inspect, verify, export):
        files(
            action.add_argument("path", help="a checkpoint, or a directory with checkpoints; or a URL of one")
        )
        action.add_argument(
            "--table", metavar="NAME", help="this table alone; '' stands for the server's own keys"
        )
    files(export.add_argument("file", type=Path, help="the file to write"))


def run(arguments: argparse.Namespace) -> int:
    """Do it; the status is 1 if the checkpoint is damaged."""
    import pyps
    from pyps.checkpoint.export import export
    from pyps.checkpoint.stored import Stored

    try:
        if arguments.action == "export":
            print(export(arguments.path, arguments.file, table=arguments.table))
            return 0
        stored = Stored(arguments.path)
        tables = stored.each() if arguments.table is None else [stored.named(arguments.table)]
        if arguments.action == "verify":
            for table in tables:
                table.require_whole()
                print(f"{table} is whole: {table.table.keys:,} keys in {len(table.table.shards)} shards")
        elif arguments.json:
            manifest = replace(stored.manifest, tables=tuple(one.table for one in tables))
            print(json.dumps({"path": str(stored.path), **asdict(manifest)}, indent=1))
        else:
            print("\n".join([described(stored), *map(described_table, tables)]))
    except (OSError, pyps.Error) as error:
        raise CommandError(str(error)) from error
    return 0


def described(stored: Stored) -> str:
    """Return what a checkpoint is, as lines."""
    return f"{stored.path}\nsaved      {stored.manifest.saved} by {stored.manifest.nodes} nodes"


def described_table(stored: Stored) -> str:
    """Return what a table of a checkpoint has, as lines."""
    table = stored.table
    space = "any numbers" if table.num_keys is None else f"0 to {table.num_keys - 1}"
    lengths = ", ".join(map(str, table.value_lengths)) or "none yet"
    return "\n".join(
        [
            *([f"\ntable      {table.name}"] if table.name else []),
            f"keys       {table.keys:,} ({space})",
            f"values     {table.dtype}, of length {lengths}",
            f"optimizer  {table.optimizer or 'none: pushes add'}",
            f"rows       {_origin(stored)}",
            f"shards     {len(table.shards)}, {sum(shard.nbytes for shard in table.shards):,} bytes",
        ]
    )


def _origin(stored: Stored) -> str:
    numbers = sorted({shard.checkpoint for shard in stored.table.shards} - {0})
    if not numbers:
        return "all are here"
    return f"those that have changed; the others are in {', '.join(f'checkpoint-{number:08d}' for number in numbers)}"
