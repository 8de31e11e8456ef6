#!/usr/bin/python3
"""Makes the Python package as a wheel, unpacks it, and runs the tests in tests/python and the blocks of docs/python.md with it.
Reports the way GoogleTest does.

    tests/python_test.py [BUILD [PATTERN]]    default: build/dev, and all tests

FRAMEWIRE_SITE names a folder with the package, which is then tested instead.
"""
import glob
import os
import subprocess
import sys
import tempfile
import zipfile

from gtest_result import run_tests

FOLDER = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(FOLDER, "../build/dev"))


def make_package(folder):
    """Makes the wheel, and returns the folder in which it is unpacked."""
    os.chdir(os.path.dirname(FOLDER))
    wheel = subprocess.run(["scripts/python-wheel.sh", BUILD, folder], check=True, capture_output=True,
                           text=True).stdout.split()[-1]
    os.environ["FRAMEWIRE_WHEEL"] = wheel
    with zipfile.ZipFile(wheel) as file:
        file.extractall(os.path.join(folder, "site"))
    return os.path.join(folder, "site")


def main():
    with tempfile.TemporaryDirectory() as folder:
        site = os.environ.get("FRAMEWIRE_SITE") or make_package(folder)
        os.environ["FRAMEWIRE_SITE"] = site
        os.environ.setdefault("FRAMEWIRE_PROGRAM", os.path.join(BUILD, "framewire"))
        sys.path.insert(0, site)
        return run_tests("Python", os.path.join(FOLDER, "python"), sys.argv[2] if len(sys.argv) > 2 else None)


sys.exit(main())
