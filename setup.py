"""Builds the LD_PRELOAD library and maps the repository root to the package ``iotide``."""

from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

PARTS = ("events", "collectors", "analyzers", "daemon", "clients", "cli")


class BuildModules(build_py):
    """Leaves this file out of the wheel, although it lies in the package's root folder."""

    def find_package_modules(self, package, package_dir):
        found = super().find_package_modules(package, package_dir)
        return [row for row in found if row[:2] != ("iotide", "setup")]


class BuildTracer(build_ext):
    """Names the tracer as the dynamic linker expects it: it is no Python extension."""

    def get_ext_filename(self, fullname):
        *folders, name = fullname.split(".")
        return "/".join([*folders, f"lib{name}.so"])


subpackages = find_packages(include=[*PARTS, *(f"{part}.*" for part in PARTS)])
setup(
    packages=["iotide", *(f"iotide.{name}" for name in subpackages)],
    ext_modules=[
        Extension(
            "iotide.collectors.preload.iotide_preload",
            sorted(map(str, Path("collectors/preload").glob("*.c"))),
            depends=sorted(map(str, Path("collectors/preload").glob("*.h"))),
            extra_compile_args=[
                "-std=gnu11",
                "-O2",
                "-fno-builtin",
                "-U_FORTIFY_SOURCE",
                "-fvisibility=hidden",
                "-ftls-model=initial-exec",
                "-Wall",
                "-Wextra",
                "-Werror",
            ],
            libraries=["dl", "pthread"],
            optional=True,
        )
    ],
    cmdclass={"build_py": BuildModules, "build_ext": BuildTracer},
)
