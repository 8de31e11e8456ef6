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
import time
import unittest
import zipfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(FOLDER, "../build/dev"))


class Result(unittest.TestResult):
    """Prints each result as GoogleTest does."""

    def name(self, test):
        _, suite, method = test.id().rsplit(".", 2)
        words = method.removeprefix("test_").split("_")
        return f"Python{suite}.{''.join(word[:1].upper() + word[1:] for word in words)}"

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def report(self, word, test):
        print(f"[{word:>9} ] {self.name(test)} ({1000 * (time.monotonic() - self.began):.0f} ms)", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.report("OK", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"{__file__}: Skipped\n{reason}")
        self.report("SKIPPED", test)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        print(self.failures[-1][1])
        self.report("FAILED ", test)

    def addError(self, test, error):
        super().addError(test, error)
        if not hasattr(test, "_testMethodName"):  # a module that cannot be imported
            self.began = time.monotonic()
        print(self.errors[-1][1])
        self.report("FAILED ", test)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            print(subtest, self.failures[-1][1] if self.failures else self.errors[-1][1])
            self.report("FAILED ", test)


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
        sys.path[:0] = [os.path.join(FOLDER, "python"), site]
        loader = unittest.TestLoader()
        loader.testNamePatterns = [f"*{sys.argv[2]}*"] if len(sys.argv) > 2 else None
        result = Result()
        loader.discover(os.path.join(FOLDER, "python"), "*_test.py").run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1


sys.exit(main())
