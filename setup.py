"""The compiled parts of Moontide; everything static is in pyproject.toml.

Nothing here needs the headers of torch, Lua or ZeroMQ: those libraries are reached by dlsym at run time. New
sources are found by their place: `bridge/**/_*.pyx`, `bridge/core/**/*.c`, `pyps/_*.pyx`, `pyps/core/**/*.cpp`,
`pyps/wholememory/_*.pyx`.
MOONTIDE_SANITIZE=address (or thread, undefined, a list with commas) builds with those sanitizers.
"""

from __future__ import annotations

import os
import platform
import shutil
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path
from typing import Any

from setuptools import Extension, find_namespace_packages, find_packages, setup
from setuptools.command.build_ext import build_ext

LIBPS = "pyps.libps"
SANITIZE = os.environ.get("MOONTIDE_SANITIZE", "")
# Nobody looks at the floating-point flags, or at errno after a root: results stay the same, and loops with a choice or
# a root in them become vector code.
FLAGS = ["-fvisibility=hidden", "-pthread", "-fno-trapping-math", "-fno-math-errno"]
if "-O" not in os.environ.get("CFLAGS", ""):  # else the level is the builder's choice
    FLAGS.append("-O1" if SANITIZE else "-O3")
LINK_FLAGS = ["-pthread", "-Wl,--exclude-libs,ALL"]  # also a C++ library that is linked in exports nothing
if SANITIZE:
    FLAGS += ["-g", "-fno-omit-frame-pointer", f"-fsanitize={SANITIZE}"]
    LINK_FLAGS += [f"-fsanitize={SANITIZE}"]
    FLAGS += (
        ["-Wno-tsan"] if "thread" in SANITIZE else []
    )  # fences: what they order is atomic or under a latch
# A short loop that crosses a cache line takes twice as long.
C_FLAGS = ["-std=gnu11", *FLAGS, "-falign-loops=32"]
CXX_FLAGS = ["-std=c++17", *FLAGS]
if platform.machine() == "x86_64":
    # A prefetch for writing takes a line from other processors at once. Processors that do not know it skip it.
    CXX_FLAGS.append("-mprfchw")


def sources(pattern: str) -> list[str]:
    return sorted(glob(pattern, recursive=True))


def headers(package: str) -> list[str]:
    kinds = ("h", "hpp", "pxd", "pxi")
    return [path for kind in kinds for path in sorted(glob(f"{package}/**/*.{kind}", recursive=True))]


def bridge_extension(pyx: str) -> Extension:
    """`bridge._boundary` carries the C core; any other module is its own pyx file alone."""
    name = ".".join(Path(pyx).with_suffix("").parts)
    core = sources("bridge/core/**/*.c") if name == "bridge._boundary" else []
    return Extension(
        name,
        [pyx, *core],
        include_dirs=[".", "bridge", "bridge/core"],
        depends=headers("bridge"),
        libraries=["dl"],
        extra_compile_args=C_FLAGS,
        extra_link_args=LINK_FLAGS,
    )


def pyps_extension(pyx: str) -> Extension:
    """Link to the libps that lies beside the module, found at run time by $ORIGIN."""
    return Extension(
        "pyps." + Path(pyx).stem,
        [pyx],
        language="c++",
        include_dirs=[".", "pyps", "pyps/core"],
        depends=headers("pyps"),
        libraries=[":libps.so"],
        extra_compile_args=CXX_FLAGS,
        extra_link_args=[*LINK_FLAGS, "-Wl,-rpath,$ORIGIN"],
    )


def wholememory_extension(pyx: str) -> Extension:
    """Each module is its own pyx file and the C++ that lies beside it under its name, if there is any."""
    return Extension(
        "pyps.wholememory." + Path(pyx).stem,
        [pyx, *sources(f"pyps/wholememory/{Path(pyx).stem[1:]}.cpp")],
        language="c++",
        include_dirs=[".", "pyps/wholememory"],
        depends=headers("pyps/wholememory"),
        extra_compile_args=CXX_FLAGS,
        extra_link_args=LINK_FLAGS,
    )


def libps() -> list[Extension]:
    """Return the plain shared library: no Python.h, no PyInit, every symbol resolved at link time."""
    core = sources("pyps/core/**/*.cpp")
    if not core:
        return []
    closed = [] if SANITIZE else ["-Wl,--no-undefined"]
    library = Extension(
        LIBPS,
        core,
        language="c++",
        include_dirs=["pyps/core"],
        depends=headers("pyps"),
        libraries=["dl", "rt"],
        extra_compile_args=[*CXX_FLAGS, "-Wall", "-Wextra"],
        extra_link_args=[*LINK_FLAGS, "-Wl,-soname,libps.so", *closed],
    )
    return [library]


def translate(modules: list[Extension]) -> None:
    """Replace the Cython files among the modules' sources by the C and C++ made of them below build/."""
    from Cython.Build import cythonize

    directives = {"language_level": 3, "auto_pickle": False, "autotestdict": False}
    made = cythonize(modules, build_dir="build/cython", compiler_directives=directives) if modules else []
    for module, translated in zip(modules, made, strict=True):
        module.sources = translated.sources


class BuildExt(build_ext):
    """Build libps under its own name and before the modules that link to it; compile on all cores."""

    def get_ext_filename(self, fullname: str) -> str:
        """Return the file of a module, named with or without its package; libps has no Python suffix."""
        *packages, name = fullname.split(".")
        if name == "libps":
            return str(Path(*packages, "libps.so"))
        return str(super().get_ext_filename(fullname))

    def build_extensions(self) -> None:
        """Build libps first, its files in parallel, then the modules in parallel."""
        libraries = [extension for extension in self.extensions if extension.name == LIBPS]
        modules = [extension for extension in self.extensions if extension.name != LIBPS]
        translate(modules)
        here = self.inplace or self.editable_mode
        if not here and not SANITIZE:  # in a wheel symbols would be two thirds of all bytes
            for extension in self.extensions:
                extension.extra_link_args = [*extension.extra_link_args, "-Wl,--strip-all"]
        cores = os.cpu_count() or 1
        compile_files = self.compiler.compile

        def compile_in_parallel(files: list[str], *args: Any, **options: Any) -> list[str]:
            with ThreadPoolExecutor(cores) as pool:
                objects = pool.map(lambda file: compile_files([file], *args, **options), files)
                return [name for names in objects for name in names]

        self.compiler.compile = compile_in_parallel
        library_dir = str(Path(self.build_lib) / "pyps")
        with ThreadPoolExecutor(cores) as pool:
            for library in libraries:
                self.build_extension(library)
            for module in modules:
                module.library_dirs.append(library_dir)
            list(pool.map(self.build_extension, modules))

    def copy_extensions_to_source(self) -> None:
        """Replace a module by a new file: overwriting one that is loaded would crash its process."""
        build_py = self.get_finalized_command("build_py")
        for extension in self.extensions:
            in_place, built = (Path(p) for p in self._get_inplace_equivalent(build_py, extension))
            if built.exists():
                fresh = in_place.with_name(f".{in_place.name}.{os.getpid()}")
                shutil.copy2(built, fresh)
                fresh.replace(in_place)


# luaps holds Lua alone, so it has no __init__.py; the demo's Lua files travel inside the moontide package.
setup(
    packages=[
        *find_packages(include=["bridge", "bridge.*", "pyps", "pyps.*", "moontide", "moontide.*"]),
        *find_namespace_packages(include=["luaps"]),
        "moontide.examples.digits",
    ],
    package_dir={"moontide.examples.digits": "examples/digits"},
    ext_modules=[
        *libps(),
        *map(bridge_extension, sources("bridge/**/_*.pyx")),
        *map(pyps_extension, sources("pyps/_*.pyx")),
        *map(wholememory_extension, sources("pyps/wholememory/_*.pyx")),
    ],
    cmdclass={"build_ext": BuildExt},
)
