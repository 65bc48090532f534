"""Dependencies point one way, and an import alone has no effect on the process."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What the files of a place may use of the project; a place that is missing here may use nothing but itself.
ALLOWED = {
    "bridge": {"bridge"},
    "pyps": {"pyps"},
    "moontide": {"moontide", "bridge", "pyps", "luaps"},
    "examples": {"bridge", "pyps", "luaps"},
    "benchmarks": {"benchmarks", "bridge", "pyps", "luaps", "moontide"},
}
OURS = {"bridge", "pyps", "luaps", "moontide"}
LUA_REQUIRE = re.compile(r"""\brequire\s*\(?\s*['"]([^'"]+)['"]""")
CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import|c?import\s+([\w.]+))", re.MULTILINE)
C_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def files(place: str, *suffixes: str) -> list[Path]:
    return sorted(p for p in (ROOT / place).rglob("*") if p.suffix in suffixes)


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def python_imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def cython_imports(path: Path) -> set[str]:
    return {a or b for a, b in CYTHON_IMPORT.findall(path.read_text())}


def lua_requires(path: Path) -> set[str]:
    return set(LUA_REQUIRE.findall(path.read_text()))


def top(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


@pytest.mark.parametrize("place", sorted(ALLOWED))
def test_python_and_cython_imports_point_one_way(place: str) -> None:
    wrong = []
    for path in files(place, ".py", ".pyi", ".pyx", ".pxd"):
        imports = cython_imports(path) if path.suffix in {".pyx", ".pxd"} else python_imports(path)
        wrong += [f"{shown(path)}: {name}" for name in imports if top(name) in OURS - ALLOWED[place]]
    assert wrong == []


@pytest.mark.slow
def test_only_the_part_for_spark_imports_it() -> None:
    inside = ROOT / "bridge" / "spark"
    engines = {"dask", "pandas", "pyarrow", "pyspark", "ray"}
    wrong = [
        f"{shown(path)}: {name}"
        for path in files("bridge", ".py")
        if inside not in path.parents
        for name in python_imports(path)
        if top(name) in engines
    ]
    assert wrong == []


def test_commands_do_not_import_each_other() -> None:
    commands = files("moontide/commands", ".py")
    names = {f"moontide.commands.{path.stem}" for path in commands}
    assert [shown(path) for path in commands if python_imports(path) & names] == []


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules_imported(path: Path, known: set[str]) -> set[str]:
    """Which of the known modules a file imports, inside functions and for type checkers too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else str(node.module) for name in inner}
    return found & known


def circles(imports: dict[str, set[str]]) -> set[str]:
    """What is left when those are taken away, again and again, that import nothing that is left."""
    left = dict(imports)
    while done := {name for name, imported in left.items() if not imported & left.keys()}:
        left = {name: imported for name, imported in left.items() if name not in done}
    return set(left)


def test_circles_are_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set(), "e": {"d"}}) == {"a", "b", "c"}


@pytest.mark.parametrize("place", ["bridge", "moontide", "pyps"])
def test_no_module_imports_one_that_imports_it(place: str) -> None:
    """Nor by way of others; inside a function would only put off the circle."""
    modules = {module_of(path): path for path in files(place, ".py", ".pyx")}
    imports = {
        name: modules_imported(path, set(modules)) - {name} if path.suffix == ".py" else set()
        for name, path in modules.items()
    }
    assert circles(imports) == set()


def test_no_file_of_luaps_requires_one_that_requires_it() -> None:
    requires = {f"luaps.{path.stem}": lua_requires(path) for path in files("luaps", ".lua")}
    assert requires["luaps.worker"]
    assert circles(requires) == set()


def includes(place: str) -> dict[str, set[str]]:
    """Which files of a place each of its files includes, by their paths in it."""
    found = files(place, ".c", ".cpp", ".h")
    known = {str(path.relative_to(ROOT / place)) for path in found}
    result = {}
    for path in found:
        own = path.relative_to(ROOT / place)
        named = re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.MULTILINE)
        result[str(own)] = {name if name in known else str(own.with_name(name)) for name in named} & known
    return result


@pytest.mark.parametrize("place", ["bridge/core", "pyps/core"])
def test_no_header_includes_one_that_includes_it(place: str) -> None:
    found = includes(place)
    assert any(found.values())
    assert circles(found) == set()


@pytest.mark.parametrize("place", ["bridge/core", "pyps/core"])
def test_no_part_of_a_core_needs_one_that_needs_it(place: str) -> None:
    """A part is a header with the file of its name, so what a header declares needs no more than its includes say."""
    parts: dict[str, set[str]] = {}
    for name, included in includes(place).items():
        part = str(Path(name).with_suffix(""))
        parts.setdefault(part, set()).update(str(Path(other).with_suffix("")) for other in included)
    for part, needed in parts.items():
        needed.discard(part)
    assert circles(parts) == set()


def test_luaps_requires_only_itself_ffi_and_an_optional_torch() -> None:
    allowed = {"luaps", "ffi", "bit", "jit", "torch"}
    wrong = [
        f"{shown(path)}: {name}"
        for path in files("luaps", ".lua")
        for name in lua_requires(path)
        if top(name) not in allowed
    ]
    assert wrong == []


def test_the_bridge_knows_nothing_of_the_parameter_server() -> None:
    """Nor does anything of it; what `require` says of packages that there are not names it."""
    code = files("bridge", ".lua", ".py", ".pyi", ".pyx", ".pxi", ".c", ".h")
    wrong = [shown(path) for path in code if re.search(r"\b(luaps|pyps)\b", path.read_text())]
    assert wrong == ["bridge/runtime/absent.lua"]


def test_native_code_includes_no_headers_of_torch_lua_zmq_or_the_other_half() -> None:
    foreign = re.compile(r"torch/|ATen/|c10/|lua\.h|lauxlib\.h|lualib\.h|luajit\.h|zmq\.h|zmq\.hpp")
    wrong = []
    for place, other in (("bridge", "pyps"), ("pyps", "bridge")):
        for path in files(place, ".c", ".cpp", ".h", ".hpp", ".pyx", ".pxd"):
            included = C_INCLUDE.findall(path.read_text())
            included += re.findall(r"""cdef extern from ["']<?([^"'>]+)""", path.read_text())
            found = [name for name in included if foreign.search(name) or name.startswith(f"{other}/")]
            wrong += [f"{shown(path)}: {name}" for name in found]
    assert wrong == []


# The rooms of the bridge's core, and what each may include of the others; what lies beside them may include all.
BRIDGE_ROOMS: dict[str, tuple[str, ...]] = {
    "lua": (),
    "tensors": (),
    "loops": ("tensors",),
    "files": ("lua", "loops", "tensors"),
    "threads": ("tensors",),
    "tds": ("tensors",),
}


@pytest.mark.parametrize("room", BRIDGE_ROOMS)
def test_a_room_of_the_bridges_core_includes_those_below_it(room: str) -> None:
    found = files(f"bridge/core/{room}", ".c", ".h")
    wrong = [
        f"{shown(path)}: {name}"
        for path in found
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
        if top(name.replace("/", ".")) not in (room, *BRIDGE_ROOMS[room])
    ]
    assert found
    assert wrong == []


def test_every_room_of_the_bridges_core_is_known() -> None:
    beside = [shown(path) for path in files("bridge/core", ".c", ".h") if path.parent.name == "core"]
    assert {path.name for path in (ROOT / "bridge/core").iterdir() if path.is_dir()} == set(BRIDGE_ROOMS)
    assert beside == ["bridge/core/module.c", "bridge/core/module.h"]


def test_the_core_of_the_parameter_server_is_free_of_python() -> None:
    core = files("pyps/core", ".cpp", ".h", ".hpp")
    assert [shown(path) for path in core if "Python.h" in C_INCLUDE.findall(path.read_text())] == []


# The rooms of the core that decide without sockets, threads and clocks, and what each may include of the others.
PURE_ROOMS = {
    "protocol": ["divisor.h", "flat_map.h", "mixing.h"],
    "membership": ["protocol/"],
    "wire": ["protocol/", "membership/"],
    "requests": ["flat_map.h", "errors.h", "ps.h", "protocol/", "wire/"],
}


@pytest.mark.parametrize("room", PURE_ROOMS)
def test_what_decides_does_no_input_or_output(room: str) -> None:
    place = ROOT / "pyps/core" / room
    own = {name for path in files(f"pyps/core/{room}", ".h") for name in (path.name, f"{room}/{path.name}")}
    standard = {
        "algorithm",
        "array",
        "cmath",
        "cstddef",
        "cstdint",
        "cstring",
        "deque",
        "functional",
        "iterator",
        "limits",
        "map",
        "memory",
        "optional",
        "set",
        "stdexcept",
        "string",
        "tuple",
        "unordered_map",
        "unordered_set",
        "utility",
        "variant",
        "vector",
    }
    included = {
        name
        for path in [*place.glob("*.cpp"), *place.glob("*.h")]
        for name in C_INCLUDE.findall(path.read_text())
        if not name.startswith(tuple(PURE_ROOMS[room]))
    }
    assert included - own <= standard


# What may be included of a transport, and where: by the table of transports, and by the function that loads a library.
TRANSPORT = re.compile(r"net/(\w+)/")
KNOWN = {
    "pyps/core/net/schemes.cpp": {"net/zeromq/transport.h", "net/memory/transport.h"},
    "pyps/core/abi_node.cpp": {"net/zeromq/library.h"},
}


def test_what_sends_and_receives_knows_no_transport_but_by_its_port() -> None:
    wrong = []
    for path in files("pyps/core", ".cpp", ".h"):
        for name in C_INCLUDE.findall(path.read_text()):
            found = TRANSPORT.match(name)
            if (
                found
                and path.parent != ROOT / "pyps/core/net" / found[1]
                and name not in KNOWN.get(shown(path), ())
            ):
                wrong.append(f"{shown(path)}: {name}")
    assert wrong == []


@pytest.mark.parametrize("transport", ["zeromq", "memory"])
def test_a_transport_knows_no_store_and_no_server(transport: str) -> None:
    allowed = ("net/", "protocol/messages.h", "segment/process.h", "segment/doorbell.h", "errors.h", "ps.h")
    wrong = [
        f"{shown(path)}: {name}"
        for path in files(f"pyps/core/net/{transport}", ".cpp", ".h")
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
        if not name.startswith(allowed)
    ]
    assert wrong == []


IMPORT_PROBE = """
import importlib, os, sys, threading
import numpy, torch, lupa, zmq

package, flags = sys.argv[1], sys.getdlopenflags()
def sockets():
    return {t for f in os.listdir('/proc/self/fd') if (t := _link(f)).startswith(('socket:', '/memfd:'))}
def _link(fd):
    try:
        return os.readlink('/proc/self/fd/' + fd)
    except OSError:
        return ''
def tasks():
    return len(os.listdir('/proc/self/task'))
def global_lua():
    import ctypes
    return hasattr(ctypes.CDLL(None), 'lua_newuserdata')

before = tasks(), sockets(), threading.active_count(), global_lua()
importlib.import_module(package)
after = tasks(), sockets(), threading.active_count(), global_lua()
assert before == after, (before, after)
assert sys.getdlopenflags() == flags
"""

LUAJIT_PROBE = """
import sys
import pyps
loaded = [m for m in sys.modules if m == 'bridge' or m.startswith(('bridge.', 'lupa'))]
loaded += [line for line in open('/proc/self/maps') if 'luajit' in line or '/lupa/' in line]
assert not loaded, loaded
"""

SERVER_PROBE = """
import sys
import bridge
loaded = [m for m in sys.modules if m == 'pyps' or m.startswith('pyps.')]
loaded += [line for line in open('/proc/self/maps') if 'libps.so' in line]
assert not loaded, loaded
"""


def run_python(code: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("package", ["bridge", "pyps", "pyps.nn", "moontide"])
def test_an_import_starts_no_thread_opens_no_socket_and_promotes_no_symbols(package: str) -> None:
    run_python(IMPORT_PROBE, package)


def test_pyps_loads_no_lua() -> None:
    run_python(LUAJIT_PROBE)


@pytest.mark.slow
def test_bridge_loads_no_parameter_server() -> None:
    run_python(SERVER_PROBE)
