#!/usr/bin/python3
"""Makes the Python package as a wheel, unpacks it, and runs the tests in tests/python and the blocks of docs/python.md with it.
Reports the way GoogleTest does.

    tests/python_test.py [BUILD [PATTERN]]    default: build/dev, and all tests
"""
import glob
import os
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build/dev")
os.chdir(ROOT)


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        wheel = subprocess.run(["scripts/python-wheel.sh", BUILD, folder], check=True, capture_output=True,
                               text=True).stdout.split()[-1]
        with zipfile.ZipFile(wheel) as file:
            file.extractall(os.path.join(folder, "site"))
        sys.path.insert(0, os.path.join(folder, "site"))
        sys.path.insert(0, os.path.join(ROOT, "tests/python"))
        os.environ.update(FRAMEWIRE_PROGRAM=os.path.join(BUILD, "framewire"), FRAMEWIRE_WHEEL=wheel,
                          FRAMEWIRE_SITE=os.path.join(folder, "site"))
        loader = unittest.TestLoader()
        loader.testNamePatterns = [f"*{sys.argv[2]}*"] if len(sys.argv) > 2 else None
        tests = loader.discover("tests/python", "*_test.py")
        result = Result()
        tests.run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1


sys.exit(main())
