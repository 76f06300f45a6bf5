"""Build the LD_PRELOAD libraries and map the repository root to the package ``iotide``."""

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
from wrappers import build  # by its short name, as the package is not installed yet
from wrappers.sources import ALL_LAYERS, core_files

compiled = run_path("events/compiled.py")

WARNINGS = ["-Wall", "-Wextra", *(["-Werror"] if os.environ.get("CI") == "true" else [])]

PARTS = ("events", "results", "scheduling", "archive", "collectors", "analyzers", "daemon", "clients", "cli", "api")
PACKAGE = "iotide.collectors.preload"


class BuildModules(build_py):
    """Exclude this file from the wheel: it is in the package's root folder but is no module."""

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [row for row in found if row[:2] != ("iotide", "setup")]


class PlainWheel(bdist_wheel):
    """Tag the wheel for every Python 3: ctypes loads its shared libraries, which use no Python API."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class BuildTracer(build_ext):
    """Generate and compile the wrappers, and name the libraries for the dynamic linker instead of Python."""

    def initialize_options(self):
        super().initialize_options()
        self.parallel = True  # compiling a thousand wrappers takes half a minute

    def build_extensions(self):
        extensions = self.extensions
        linked = [extension for extension in extensions if extension.name.endswith(f"_{ALL_LAYERS}")]
        compiled_first = [extension for extension in extensions if extension not in linked]
        for self.extensions in (compiled_first, linked):  # the linked library uses objects of the others
            super().build_extensions()
        self.extensions = extensions

    def copy_file(self, infile, outfile, *args, **kwargs):
        """Replace a library in one step: a program that starts meanwhile would load a part of it."""
        source, target = Path(infile), Path(outfile)
        if not self.force and target.exists() and source.stat().st_mtime <= target.stat().st_mtime:
            return outfile, False
        partial = target.with_name(f"{target.name}.partial")
        super().copy_file(infile, str(partial), *args, **kwargs)
        partial.replace(target)
        return outfile, True

    def get_ext_filename(self, fullname):
        *folders, name = fullname.split(".")
        return "/".join([*folders, f"lib{name}.so"])

    def build_extension(self, ext):
        if not hasattr(ext, "signature"):
            super().build_extension(ext)
            return
        target = Path(self.get_ext_fullpath(ext.name)).parent
        scratch = Path("build", "wrappers").resolve()
        try:
            if ext.signature:
                build.compile_library(ext.signature, target, scratch=scratch)
            elif ext.name.endswith(f"_{ALL_LAYERS}"):
                build.compile_layers(target, scratch)
            else:
                build.compile_core(target, scratch)
        except build.BuildError as error:
            raise CompileError(str(error)) from error


def tracer(name, paths, signature=None):
    """Return the extension of one library. It is optional: without it the installed package still imports."""
    extension = Extension(
        f"{PACKAGE}.iotide_{name}", [str(path.relative_to(Path.cwd())) for path in paths], optional=True
    )
    extension.signature = signature
    return extension


def tracers():
    """Yield one library per signature file, the longest first, the core with libc's calls, and one with all layers."""
    for path in sorted(build.layer_files(), key=lambda path: path.stat().st_size, reverse=True):
        yield tracer(path.stem, build.hooks_of(path, path.stem)[1], path)
    yield tracer("preload", core_files())
    yield tracer(ALL_LAYERS, [])


def native(folder, name):
    """Return the extension of a compiled helper. Without it, the equivalent Python code runs."""
    sources, headers = (sorted(map(str, Path(folder).glob(f"*.{kind}"))) for kind in "ch")
    headers += [*sorted(map(str, Path("collectors/native").glob("*.h"))), "collectors/preload/ring.h"]
    options = ["-std=gnu11", "-O3", "-g0", "-fvisibility=hidden", *WARNINGS]  # -g0: paths of the build would be in it
    name_in_package = f"iotide.{folder.replace('/', '.')}.{name}"
    digest = Path("build", "digests", f"{name}.c")
    digest.parent.mkdir(parents=True, exist_ok=True)
    symbol, value = compiled["SYMBOL"], compiled["digest_of"](Path(folder))
    digest.write_text(f'__attribute__((visibility("default"))) const char *const {symbol} = "{value}";\n')
    return Extension(
        name_in_package,
        [*sources, str(digest)],
        depends=[*sources, *headers],
        extra_compile_args=options,
        libraries=["m"],
        optional=True,
    )


def natives():
    """Yield the compiled helpers: grouping, the archive's compressor, and the parsers of records and trace lines."""
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
