"""Sources, sinks and viewers of the Python package."""
import os
import re
import subprocess
import threading
import time
import unittest
from fractions import Fraction

import framewire
import numpy as np
from helpers import PROGRAM, FolderTest, noise


class Media(FolderTest):
    def test_sources_read_what_sinks_write(self):
        path = self.path("a.y4m")
        frames = [noise(48, 64, seed=seed) for seed in range(3)]
        with framewire.Sink(path, rate=Fraction(30000, 1001)) as sink:
            for frame in frames:
                sink.write(frame)
            self.assertFalse(os.path.exists(path))
        with framewire.Source(path) as source:
            self.assertEqual((source.size, source.shape, source.frames, source.is_live, source.threshold),
                             ((64, 48), (48, 64), 3, False, None))
            self.assertEqual(source.rate, Fraction(30000, 1001))
            for number, frame in enumerate(source):
                self.assertLessEqual(np.abs(frame.astype(int) - frames[number]).max(), 1)  # limited range
                self.assertEqual(source.time.index, number)
            self.assertIsNone(source.read())
            source.seek(0)
            out = np.empty((48, 64), np.uint8)
            self.assertIs(source.read(out), out)
        with self.assertRaisesRegex(ValueError, "the Source is closed"):
            source.read()

    def test_unfinished_files_do_not_appear(self):
        path = self.path("a.y4m")
        with self.assertRaises(KeyError):
            with framewire.Sink(path) as sink:
                sink.write(noise(8, 8))
                raise KeyError
        self.assertFalse(os.path.exists(path))
        with self.assertRaisesRegex(ValueError, "the Sink is closed"):
            sink.write(noise(8, 8))

    def test_existing_files_are_replaced_on_request(self):
        path = self.path("a.png")
        for replace in (False, True):
            with framewire.Sink(path, replace=replace) as sink:
                sink.write(noise(8, 8))
        with self.assertRaises(framewire.Error):
            with framewire.Sink(path) as sink:
                sink.write(noise(8, 8))

    def test_ranges_and_errors(self):
        frames = list(framewire.Source("synth:size=64x48:fps=10:frames=20", start=0.5, duration=0.4))
        self.assertEqual(len(frames), 4)
        with self.assertRaisesRegex(framewire.NoInputError, "/nowhere/a.mp4"):
            framewire.Source("/nowhere/a.mp4")
        with self.assertRaisesRegex(framewire.ArgumentError, "start_seconds is -1"):
            framewire.Source("synth:size=64x48", start=-1)

    def test_other_threads_run_while_one_reads(self):
        source = framewire.Source("synth:size=64x48:frames=100000000")
        reads = []

        def read():
            for frame in source:
                reads.append(frame)
                del reads[:-1]

        thread = threading.Thread(target=read)
        thread.start()
        time.sleep(0.1)
        source.stop()
        thread.join(10)
        self.assertFalse(thread.is_alive())
        self.assertTrue(reads)
        source.close()


class Viewer(unittest.TestCase):
    def serve(self, *arguments):
        """Starts a server, and returns its URL."""
        server = subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:0", "--log-level", "info", *arguments],
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for line in server.stderr:
            if found := re.search(r"tcp://\S+", line):
                return found.group()
        self.fail("the server gave no address")

    def test_pictures_are_within_the_threshold(self):
        scene = "synth:size=160x120:objects=3:frames=12:fps=25:seed=2"
        url = self.serve("-i", scene, "--wait", "1", "--threshold", "9", "--detect")
        frames, seen = list(framewire.Source(scene)), 0
        with framewire.Viewer(url, timeout=20) as viewer:
            self.assertEqual((viewer.size, viewer.is_live, viewer.frames), ((160, 120), True, None))
            for picture in viewer:
                difference = np.abs(picture.astype(int) - frames[viewer.time.index])
                self.assertLessEqual(difference.max(), viewer.threshold)
                self.assertLessEqual(viewer.threshold, 9)
                self.assertIsInstance(viewer.boxes(), list)
                seen += 1
        self.assertGreater(seen, 0)
        self.assertEqual(viewer.time.index, 11)

    def test_stop_ends_a_wait(self):
        url = self.serve("-i", "synth:size=64x48:frames=3", "--wait", "2")  # a second viewer never comes
        viewer, results = framewire.Viewer(url), []
        thread = threading.Thread(target=lambda: results.append(list(viewer)))
        thread.start()
        time.sleep(0.2)
        viewer.close()
        thread.join(10)
        self.assertEqual(results, [[]])

    def test_errors(self):
        with self.assertRaises(framewire.NoInputError):
            framewire.Viewer("tcp://127.0.0.1:1/main")
        with self.assertRaisesRegex(framewire.ArgumentError, "tcp://"):
            framewire.Viewer("http://127.0.0.1:1/")
        with self.assertRaisesRegex(framewire.UnavailableError, "Viewer"):
            framewire.Source("tcp://127.0.0.1:1/main")
