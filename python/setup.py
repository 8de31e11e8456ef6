"""Makes the wheel, whose only compiled part is the shared library: it suits every Python 3, but one kind of machine. For
scripts/python-wheel.sh, which puts the library and the declarations beside this file."""
import os
import platform

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class Package(Distribution):
    """A package that depends on the kind of machine, although nothing is compiled here."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    """A wheel for any Python 3 on this kind of machine."""

    def get_tag(self):
        libc = "_".join(platform.libc_ver()[1].split(".")[:2])  # the oldest that the library is known to run with
        return "py3", "none", f"manylinux_{libc}_{platform.machine()}"


setup(version=os.environ["FRAMEWIRE_VERSION"], distclass=Package, cmdclass={"bdist_wheel": Wheel})
