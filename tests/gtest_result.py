"""Results of unittest in the form of GoogleTest, for scripts/count-tests.sh."""
import sys
import time
import unittest


class GtestResult(unittest.TestResult):
    """Prints each result as GoogleTest does. Names of suites begin with `prefix`."""

    def __init__(self, prefix):
        super().__init__()
        self.prefix = prefix

    def name(self, test):
        _, suite, method = test.id().rsplit(".", 2)
        words = method.removeprefix("test_").split("_")
        return f"{self.prefix}{suite}.{''.join(word[:1].upper() + word[1:] for word in words)}"

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
        print(f"{test.id()}: Skipped\n{reason}")
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


def run_tests(prefix, folder, pattern=None):
    """Runs the tests of a folder whose names contain `pattern`, and returns the exit status: 1 if one fails or none ran."""
    sys.path.insert(0, folder)
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*"] if pattern else None
    result = GtestResult(prefix)
    loader.discover(folder, "*_test.py").run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1
