"""Builds the LD_PRELOAD libraries and maps the repository root to the package ``iotide``."""

import os
import sys
from pathlib import Path
from runpy import run_path

from setuptools import Extension, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError

sys.path.insert(0, str(Path("collectors").resolve()))
from wrappers import build  # the package is not installed yet, so not by its whole name
from wrappers.sources import ALL_LAYERS, core_files

compiled = run_path("events/compiled.py")

WARNINGS = ["-Wall", "-Wextra", *(["-Werror"] if os.environ.get("CI") == "true" else [])]

PARTS = ("events", "results", "scheduling", "archive", "collectors", "analyzers", "daemon", "clients", "cli", "api")
PACKAGE = "iotide.collectors.preload"


class BuildModules(build_py):
    """Leaves this file out of the wheel, although it lies in the package's root folder."""

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [row for row in found if row[:2] != ("iotide", "setup")]


class PlainWheel(bdist_wheel):
    """Tags the wheel for every Python 3: its shared libraries are loaded by ctypes and know nothing of Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class BuildTracer(build_ext):
    """Writes and compiles wrappers, and names libraries as the dynamic linker expects them: no Python extensions."""

    def initialize_options(self):
        super().initialize_options()
        self.parallel = True  # a thousand wrappers are half a minute's work

    def build_extensions(self):
        whole = self.extensions
        links = [extension for extension in whole if extension.name.endswith(f"_{ALL_LAYERS}")]
        for some in ([extension for extension in whole if extension not in links], links):  # of what those compile
            self.extensions = some
            super().build_extensions()
        self.extensions = whole

    def get_ext_filename(self, fullname):
        *folders, name = fullname.split(".")
        return "/".join([*folders, f"lib{name}.so"])

    def build_extension(self, ext):
        if not hasattr(ext, "signature"):
            super().build_extension(ext)
            return
        to = Path(self.get_ext_fullpath(ext.name)).parent
        scratch = Path("build", "wrappers").resolve()
        try:
            if ext.signature:
                build.compile_library(ext.signature, to, scratch=scratch)
            elif ext.name.endswith(f"_{ALL_LAYERS}"):
                build.compile_layers(to, scratch)
            else:
                build.compile_core(to, scratch)
        except build.BuildError as error:
            raise CompileError(str(error)) from error


def tracer(name, paths, signature=None):
    """One library; where it cannot be compiled, what is installed can be imported all the same."""
    extension = Extension(
        f"{PACKAGE}.iotide_{name}", [str(path.relative_to(Path.cwd())) for path in paths], optional=True
    )
    extension.signature = signature
    return extension


def tracers():
    """The core library, which has libc's calls, one a signature file else, the longest first, and one of all these."""
    for path in sorted(build.layer_files(), key=lambda path: path.stat().st_size, reverse=True):
        yield tracer(path.stem, build.hooks_of(path, path.stem)[1], path)
    yield tracer("preload", core_files())
    yield tracer(ALL_LAYERS, [])


def native(folder, name):
    """A part that Python is too slow for; without it a fallback in Python does the same."""
    sources, headers = (sorted(map(str, Path(folder).glob(f"*.{kind}"))) for kind in "ch")
    headers += sorted(map(str, Path("collectors/native").glob("*.h")))
    options = ["-std=gnu11", "-O3", "-g0", "-fvisibility=hidden", *WARNINGS]  # -g0: paths of the build would be in it
    place = f"iotide.{folder.replace('/', '.')}.{name}"
    digest = Path("build", "digests", f"{name}.c")
    digest.parent.mkdir(parents=True, exist_ok=True)
    symbol, value = compiled["SYMBOL"], compiled["digest_of"](Path(folder))
    digest.write_text(f'__attribute__((visibility("default"))) const char *const {symbol} = "{value}";\n')
    return Extension(
        place, [*sources, str(digest)], depends=[*sources, *headers], extra_compile_args=options, optional=True
    )


def natives():
    """The sequential part of the archive's compressor, and what takes records and lines of traces apart."""
    yield native("analyzers/common/native", "iotide_grouping")
    yield native("archive/native", "iotide_archive")
    yield native("collectors/sources/preload/records/native", "iotide_records")
    yield native("collectors/sources/strace/native", "iotide_strace")
    yield native("collectors/sources/kernel_traces/lexing/native", "iotide_traces")


subpackages = find_packages(include=[*PARTS, *(f"{part}.*" for part in PARTS)])
setup(
    packages=["iotide", *(f"iotide.{name}" for name in subpackages)],
    ext_modules=[*tracers(), *natives()],
    cmdclass={"bdist_wheel": PlainWheel, "build_py": BuildModules, "build_ext": BuildTracer},
)
