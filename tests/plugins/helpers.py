"""Helpers that the tests share."""
import os
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["FRAMEWIRE_PROGRAM"]
BUILD = os.environ["FRAMEWIRE_BUILD"]
VTEST = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"
FRAMES = 6
SECONDS = 60  # longest time of a program
# Wrong calls of GLib and GStreamer end the programs. The pipelines of this process go on: appsink itself makes some.
STRICT = {**os.environ, "G_DEBUG": "fatal-criticals"}


def program(*arguments):
    """Runs framewire, which must succeed."""
    subprocess.run([PROGRAM, *arguments, "--log-level", "warning"], check=True, stdin=subprocess.DEVNULL, timeout=SECONDS)


def read(path):
    """Returns the bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


class PluginTest(unittest.TestCase):
    """A test of programs, in a folder of its own."""
    maxDiff = 2000

    @classmethod
    def needs(cls, *programs):
        """Skips the tests without the programs. scripts/deps.sh installs all of them, and the gate allows no such skip."""
        for name in programs:
            if not shutil.which(name):
                raise unittest.SkipTest(f"there is no {name}")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        """Returns the path of a file in the test's folder."""
        return os.path.join(self.folder, name)

    def run_in_folder(self, *command, seconds=SECONDS):
        """Runs a program that must succeed, and returns what it printed."""
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=STRICT, timeout=seconds, check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def fails_in_folder(self, *command):
        """Runs a program that must fail, and returns what it printed."""
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=STRICT, timeout=SECONDS, check=False)
        self.assertNotEqual(done.returncode, 0, " ".join(command))
        return done.stdout + done.stderr

    def expected(self, source, chain, name="want.bgr"):
        """Returns the bytes that the program makes of a source."""
        program("run", "-i", source, "-f", chain, "-o", self.path(name), "-y", "--backend", "cpu")
        return read(self.path(name))

    def clip(self, name="clip.mkv", frames=20):
        """Returns the path of a piece of a real video, without loss."""
        path = self.path(name)
        if not os.path.exists(path):
            program("run", "-i", VTEST, "--frames", str(frames), "-o", path)
        return path

    def assert_same_bytes(self, got, want):
        """Compares bytes without printing them all."""
        self.assertEqual(len(got), len(want))
        if got != want:
            first = next(i for i in range(len(got)) if got[i] != want[i])
            self.fail(f"{sum(a != b for a, b in zip(got, want))} of {len(got)} bytes differ, the first one at {first}")
