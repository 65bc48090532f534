"""The options of Lapse and AdaPM (keywords, arguments of programs, environment variables), and what they do here.

`pyps.adapm` and `pyps.lapse` use this table; docs/options.md shows it.
"""

from __future__ import annotations

import difflib
import math
import random
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Place = Literal["setup", "argument", "variable", "compiler"]


@dataclass(frozen=True)
class Option:
    """An option of Lapse or AdaPM.

    Attributes
    ----------
    place : str
        Where it is set: as a keyword of setup, an argument of a program, an environment variable, or a macro for the
        compiler, which a user may set in the environment as well.
    name : str
    here : str
        What it does here, or why it does nothing.
    read : callable, optional
        Converts the option's text to its value. None: the option does nothing here.
    usual : tuple of str
        Values that ask for what is done anyway, so there is no warning for them.
    """

    place: Place
    name: str
    here: str
    read: Callable[[str], Any] | None = None
    usual: tuple[str, ...] = ()


YES, NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")  # as in Boost's program_options
RANDOM_KEYS = re.compile(r"random-(\d+)-seed-(\d+)-range-(\d+)-(\d+)")


def read_flag(text: str) -> bool:
    """Read a yes or no."""
    if text.lower() not in YES + NO:
        raise ValueError("it must be true or false")
    return text.lower() in YES


def read_whole(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("it must be a whole number, at least 1")
    return int(text)


def read_channels(text: str) -> int | None:
    """Read a number of channels; None for -1, which means that it is set elsewhere."""
    return None if text == "-1" else read_whole(text)


def read_seconds(text: str) -> float:
    """Read a number of seconds; 0 means the default."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError("it must be a number of seconds, or 0")
    return number


def read_keys(text: str) -> str | list[int]:
    """Read the keys to trace: "all", "12,34", or "random-10-seed-7-range-0-100" for ten keys from [0, 100)."""
    if text in ("all", ""):
        return text or []
    chosen = RANDOM_KEYS.fullmatch(text)
    if chosen is None:
        parts = text.split(",")
        if not all(part.isdecimal() for part in parts):
            raise ValueError("it must be keys like 12,34, or all, or random-10-seed-7-range-0-100")
        return [int(part) for part in parts]
    count, seed, first, stop = map(int, chosen.groups())
    if not 0 < count <= stop - first:
        raise ValueError(f"it must be a range of at least {count} keys, and a key at least")
    return sorted(random.Random(seed).sample(range(first, stop), count))


NO_ROUNDS = (
    "nodes exchange every millisecond, or less often if many, while something has changed, and else not"
)
NO_TUNING = "how long ahead an intent begins follows from the clocks' measured rates"
TCP = "TCP delivers what is sent, and a connection that breaks is a lost node"
LAYOUT = "values lie in shared memory, one latch per key, whatever this says"

OPTIONS = (
    Option("setup", "use_techniques", "the same", str),
    Option("setup", "num_channels", "`server_threads` of `pyps.Server`; -1: 1", read_channels),
    Option("argument", "sys.techniques", "what `use_techniques` says, if that does not", str),
    Option("argument", "sys.channels", "what `num_channels` says, if that is -1", read_channels),
    Option(
        "argument",
        "sys.zmq_threads",
        "a node has as many threads that send and receive as `server_threads`, or more with many nodes",
        usual=("1",),
    ),
    Option(
        "argument",
        "sys.time_intent_actions",
        "the same: if false, intents begin when they are told",
        read_flag,
    ),
    Option(
        "argument",
        "sys.location_caches",
        "where a key was last is always remembered, in memory that its entry has anyway",
        usual=YES,
    ),
    Option("argument", "sys.trace.keys", "the keys that `server.node.trace()` tells of", read_keys),
    Option("argument", "sys.stats.out", "the directory that `traces.RANK.tsv` is written to at the end", str),
    Option("argument", "sys.sync.max_per_sec", NO_ROUNDS, usual=("1000",)),
    Option("argument", "sys.sync.pause", NO_ROUNDS, usual=("0",)),
    Option(
        "argument",
        "sys.sync.threshold",
        "every change is exchanged, however small, and nothing else",
        usual=("0",),
    ),
    Option("argument", "sys.timing.initial_estimate", NO_TUNING, usual=("10",)),
    Option("argument", "sys.timing.autotune", NO_TUNING, usual=YES),
    Option("argument", "sys.timing.smoothing_factor", NO_TUNING, usual=("0.1",)),
    Option("argument", "sys.timing.buffer_quantile", NO_TUNING, usual=("0.9999",)),
    Option("argument", "sampling.scheme", "what `enable_sampling_support(scheme=None, ...)` takes", str),
    Option(
        "argument",
        "sampling.with_replacement",
        "what `enable_sampling_support(with_replacement=None, ...)` takes",
        read_flag,
    ),
    Option("argument", "sampling.pool_size", "the same", read_whole),
    Option("argument", "sampling.reuse", "the same: how often each draw of a pool is used", read_whole),
    Option("argument", "sampling.batch_size", "keys are drawn when a sample is prepared", usual=("10000",)),
    Option("variable", "DMLC_ROLE", "the same: scheduler or server", str),
    Option("variable", "DMLC_NUM_SERVER", "the same", read_whole),
    Option("variable", "DMLC_PS_ROOT_URI", "the same", str),
    Option("variable", "DMLC_PS_ROOT_PORT", "the same", read_whole),
    Option("variable", "DMLC_NODE_HOST", "the same", str),
    Option("variable", "DMLC_INTERFACE", "the same", str),
    Option(
        "variable",
        "DMLC_NUM_WORKER",
        "workers are threads or processes of the nodes: `num_threads`",
        usual=("0",),
    ),
    Option("variable", "DMLC_LOCAL", "nodes of one host speak over its loopback", usual=NO),
    Option("variable", "DMLC_RANK", "a node's number is `server.my_rank()`, in the order they came"),
    Option(
        "variable",
        "DMLC_USE_KUBERNETES",
        "the scheduler listens at DMLC_PS_ROOT_URI, never at all interfaces",
        usual=NO,
    ),
    Option("variable", "PORT", "a node takes a free port, which the scheduler tells the others"),
    Option("variable", "PS_VERBOSE", 'what happens is logged: `logging.getLogger("pyps")`', usual=NO),
    Option(
        "variable",
        "PS_HEARTBEAT_INTERVAL",
        "the same: `heartbeat` of `pyps.Server`; 0 leaves it at its default",
        read_seconds,
    ),
    Option(
        "variable",
        "PS_HEARTBEAT_TIMEOUT",
        "the same: `lost_after` of `pyps.Server`; 0 leaves it at its default",
        read_seconds,
    ),
    Option("variable", "PS_RESEND", TCP, usual=NO),
    Option("variable", "PS_RESEND_TIMEOUT", TCP, usual=("1000",)),
    Option("variable", "PS_DROP_MSG", "no message is thrown away", usual=NO),
    Option(
        "compiler",
        "PS_TRACE_KEYS",
        "tracing is always there: `sys.trace.keys` alone begins it",
        usual=(*YES, *NO),
    ),
    Option(
        "compiler",
        "PS_LOCALITY_STATS",
        "each worker counts the keys that it found here and elsewhere, and `pyps.Periods` writes them down; counting "
        "for each key would slow down each pull",
        usual=NO,
    ),
    Option("compiler", "PS_KEY_TYPE", "keys are int64", usual=("int64_t", "uint64_t")),
    Option("compiler", "PS_BACKEND", LAYOUT, usual=("14",)),
    Option("compiler", "PS_BACKEND_NUM_LOCKS", LAYOUT),
    Option("compiler", "PS_BACKEND_LOCK_STRATEGY", LAYOUT),
)


def read(place: Place, name: str, value: object) -> Any:
    """Return an option's value. If it does nothing here, return None, and warn with the reason.

    Raises
    ------
    ValueError
        There is no such option (the message names the nearest one), or the value is wrong.
    """
    known = {option.name: option for option in OPTIONS if option.place == place}
    if name not in known:
        nearest = difflib.get_close_matches(name, known, 1, 0)[0]
        raise ValueError(f"{name} is no option of AdaPM; the nearest one is {nearest}")
    option, text = known[name], str(value)
    if option.read is None:
        if text.lower() not in option.usual and _number(text) not in map(_number, option.usual):
            _warn(f"{name} is {text!r}, which does nothing here: {option.here}")
        return None
    try:
        return option.read(text)
    except ValueError as error:
        raise ValueError(f"{name} is {text!r}: {error}") from None


def read_variables(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the variables that have a meaning here; warn about known ones that have none, and about misspelled ones.

    Other variables are ignored, as the environment belongs to other programs as well.
    """
    known = {option.name: option for option in OPTIONS if option.place in ("variable", "compiler")}
    found: dict[str, Any] = {}
    for name, text in variables.items():
        if not text:
            continue
        if name in known:
            found[name] = read(known[name].place, name, text)
        elif name.startswith(("DMLC_", "PS_")) and (near := difflib.get_close_matches(name, known, 1, 0.9)):
            _warn(f"{name} is {text!r}, which nobody reads: is it {near[0]}?")
    return {name: value for name, value in found.items() if value is not None}


def split_arguments(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Divide a command line into AdaPM's options, for `setup`, and the program's own arguments.

    Parameters
    ----------
    arguments : sequence of str
        Like ``sys.argv[1:]``. Options begin with ``--sys.`` or ``--sampling.``, and are written as
        ``--sys.channels=4`` or ``--sys.channels 4``.

    Returns
    -------
    options : dict of str to str
    rest : list of str

    Raises
    ------
    ValueError
        An option has no value, or is given twice.

    Examples
    --------
    >>> split_arguments(["--sys.techniques", "all", "--epochs", "3"])
    ({'sys.techniques': 'all'}, ['--epochs', '3'])
    """
    options: dict[str, str] = {}
    rest: list[str] = []
    left = iter(arguments)
    for argument in left:
        if not argument.startswith(("--sys.", "--sampling.")):
            rest.append(argument)
            continue
        name, is_there, value = argument[2:].partition("=")
        value = value if is_there else next(left, "--")
        if not is_there and value.startswith("--"):
            raise ValueError(f"--{name} has no value; write --{name}=VALUE")
        if name in options:
            raise ValueError(f"--{name} is there twice: {options[name]!r} and {value!r}")
        options[name] = value
    return options, rest


def _warn(message: str) -> None:
    """Warn, with the line of the program that called this package."""
    frame, depth = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pyps."):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, UserWarning, stacklevel=depth)


def _number(text: str) -> float:
    """Return a number however it is written, or a NaN, which equals nothing."""
    try:
        return float(text)
    except ValueError:
        return math.nan
