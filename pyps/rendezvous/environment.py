"""The environment variables that describe the cluster of this process. Only this module reads the environment."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Torchrun:
    """The variables that torchrun sets, or another launcher for torch.distributed's ``env://``.

    Attributes
    ----------
    rank, world_size, local_rank, local_world_size : int
        This process's number among all processes, and among those of this host, and how many there are.
    group_rank, group_world_size : int
        This host's number, and how many hosts there are.
    host, port
        Where the store is.
    has_store : bool
        torchrun's agent serves the store; otherwise rank 0 does.
    restart : str
        How often the processes were restarted.
    nodes_per_host : int
        ``PYPS_NODES_PER_HOST``.
    """

    rank: int
    world_size: int
    local_rank: int
    local_world_size: int
    group_rank: int
    group_world_size: int
    host: str
    port: int
    has_store: bool
    restart: str
    nodes_per_host: int


@dataclass(frozen=True)
class Dmlc:
    """The DMLC_* variables: this process is one of `num_servers` nodes, or their scheduler."""

    is_scheduler: bool
    num_servers: int
    host: str
    port: int


@dataclass(frozen=True)
class Environment:
    """Everything that was read; None for what is not set.

    Attributes
    ----------
    interface : str or None
        ``DMLC_NODE_HOST``, or else ``DMLC_INTERFACE``.
    curve : tuple of str or None
        ``PYPS_CURVE_PUBLIC`` and ``PYPS_CURVE_SECRET``.
    metrics_port : int or None
        ``PYPS_METRICS_PORT``.
    join : str or None
        ``PYPS_JOIN``.
    """

    torchrun: Torchrun | None
    dmlc: Dmlc | None
    interface: str | None
    curve: tuple[str, str] | None
    metrics_port: int | None = None
    join: str | None = None


def read_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """Read the environment, or another mapping.

    Raises
    ------
    ValueError
        A variable is missing though others are set, or has a wrong value.
    """
    reader = _Reader(os.environ if variables is None else variables)
    torchrun = _torchrun(reader) if reader.has("RANK") and reader.has("WORLD_SIZE") else None
    dmlc = _dmlc(reader) if reader.has("DMLC_ROLE") and reader.has("DMLC_PS_ROOT_URI") else None
    curve = None
    if reader.has("PYPS_CURVE_PUBLIC") or reader.has("PYPS_CURVE_SECRET"):
        curve = reader.text("PYPS_CURVE_PUBLIC"), reader.text("PYPS_CURVE_SECRET")
    named = [name for name in ("DMLC_NODE_HOST", "DMLC_INTERFACE") if reader.has(name)]
    metrics_port = reader.number("PYPS_METRICS_PORT", 0) if reader.has("PYPS_METRICS_PORT") else None
    interface = reader.text(named[0]) if named else None
    join = reader.text("PYPS_JOIN") if reader.has("PYPS_JOIN") else None
    return Environment(torchrun, dmlc, interface, curve, metrics_port, join)


def read_variables(*prefixes: str, names: Collection[str] = ()) -> dict[str, str]:
    """Return the variables whose names begin with one of the prefixes, or are among `names`."""
    return {name: text for name, text in os.environ.items() if name.startswith(prefixes) or name in names}


class _Reader:
    """Typed access to variables, with errors that name them."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def has(self, name: str) -> bool:
        return bool(self._variables.get(name))

    def text(self, name: str, default: str | None = None) -> str:
        value = self._variables.get(name) or default
        if value is None:
            raise ValueError(
                f"the environment has no {name}, which belongs to the other variables that are set"
            )
        return value

    def number(self, name: str, least: int, default: int | None = None) -> int:
        text = self.text(name, None if default is None else str(default))
        try:
            number = int(text)
        except ValueError:
            raise ValueError(f"{name} is {text!r} in the environment; it must be a whole number") from None
        if number < least:
            raise ValueError(f"{name} is {number} in the environment; it must be at least {least}")
        return number


def _torchrun(reader: _Reader) -> Torchrun:
    rank, world_size = reader.number("RANK", 0), reader.number("WORLD_SIZE", 1)
    local_world_size = reader.number("LOCAL_WORLD_SIZE", 1, 1)
    found = Torchrun(
        rank=rank,
        world_size=world_size,
        local_rank=reader.number("LOCAL_RANK", 0, rank % local_world_size),
        local_world_size=local_world_size,
        group_rank=reader.number("GROUP_RANK", 0, rank // local_world_size),
        group_world_size=reader.number("GROUP_WORLD_SIZE", 1, max(1, world_size // local_world_size)),
        host=reader.text("MASTER_ADDR"),
        port=reader.number("MASTER_PORT", 1),
        has_store=reader.text("TORCHELASTIC_USE_AGENT_STORE", "False") == "True",
        restart=reader.text("TORCHELASTIC_RESTART_COUNT", "0"),
        nodes_per_host=reader.number("PYPS_NODES_PER_HOST", 1, 1),
    )
    for name, number, limit in (
        ("RANK", found.rank, found.world_size),
        ("LOCAL_RANK", found.local_rank, found.local_world_size),
        ("GROUP_RANK", found.group_rank, found.group_world_size),
    ):
        if number >= limit:
            raise ValueError(f"{name} is {number} in the environment; it must be below {limit}")
    return found


def _dmlc(reader: _Reader) -> Dmlc:
    role = reader.text("DMLC_ROLE")
    if role not in ("scheduler", "server"):
        raise ValueError(f"DMLC_ROLE is {role!r} in the environment; it must be 'scheduler' or 'server'")
    return Dmlc(
        is_scheduler=role == "scheduler",
        num_servers=reader.number("DMLC_NUM_SERVER", 1),
        host=reader.text("DMLC_PS_ROOT_URI"),
        port=reader.number("DMLC_PS_ROOT_PORT", 1),
    )
