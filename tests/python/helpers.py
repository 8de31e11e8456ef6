"""Helpers that the tests share."""
import os
import subprocess
import tempfile
import unittest

import numpy as np

PROGRAM = os.environ["FRAMEWIRE_PROGRAM"]
VTEST = "/usr/share/doc/opencv-doc/examples/data/vtest.avi"


def program(*arguments):
    """Runs the program, which must succeed."""
    subprocess.run([PROGRAM, *arguments, "--log-level", "warning"], check=True, stdin=subprocess.DEVNULL)


def noise(*shape, seed=1):
    """Returns an array of random bytes."""
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


class FolderTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def clip(self):
        """Returns the path of 20 frames of a real video in 4:2:0."""
        self.assertTrue(os.path.exists(VTEST), f"{VTEST} is missing (Debian: opencv-doc)")
        path = self.path("clip.mkv")
        if not os.path.exists(path):
            program("run", "-i", VTEST, "--frames", "20", "-o", path)
        return path
