"""Detector, tracker, descriptors and codec of the Python package."""
import json
import unittest

import framewire
import numpy as np
from helpers import FolderTest, noise, program


class Detect(FolderTest):
    def test_boxes_and_tracks_equal_those_of_the_program(self):
        want = []
        for options in ([], ["--track"]):
            records = self.path("want.jsonl")
            program("detect", "-i", self.clip(), "--min-area", "200", "-o", records, "-y", *options)
            with open(records, encoding="utf-8") as file:
                frames = [json.loads(line)["objects"] for line in file]
            want.append([sorted(entry["track"] for entry in frame if "track" in entry) if options else
                         [(entry["box"], entry["area"]) for entry in frame] for frame in frames])
        source = framewire.Source(self.clip())
        detector = framewire.Detector("min-area=200", rate=source.rate)
        tracker = framewire.Tracker(source.size)
        found, tracked = [], []
        for frame in source:
            boxes = detector(frame)
            found.append([(list(box[:4]), box.area) for box in boxes])
            tracked.append([track.id for track in tracker(boxes, source.time.seconds) if track.unseen_s == 0])
        self.assertEqual([found, tracked], want)
        self.assertGreater(sum(map(len, tracked)), 10)

    def test_masks_show_what_moves(self):
        detector = framewire.Detector("background=first:min-area=1:morph=none:blur=1")
        with self.assertRaisesRegex(ValueError, "before the first frame"):
            detector.mask()
        frame = np.zeros((40, 60), np.uint8)
        self.assertEqual(detector(frame), [])
        frame[10:20, 30:45] = 200
        self.assertEqual(detector(frame), [framewire.Box(30, 10, 15, 10, 150, 37, 14.5)])
        mask = detector.mask()
        np.testing.assert_array_equal(mask, np.where(frame, 255, 0))
        out = np.zeros((40, 80), np.uint8)
        self.assertTrue(np.shares_memory(detector.mask(out[:, 5:65]), out))
        np.testing.assert_array_equal(out[:, 5:65], mask)
        detector.reset()
        self.assertEqual(detector(frame), [])
        with self.assertRaisesRegex(framewire.ArgumentError, "min-area"):
            framewire.Detector("min-aera=5")(frame)

    def test_regions_and_pictures_equal_those_of_the_program(self):
        room, records = self.path("room.png"), self.path("want.jsonl")
        program("run", "-i", self.clip(), "--frames", "1", "-o", room)
        program("detect", "-i", self.clip(), "--background", room, "--min-area", "200", "--roi", "300,100,400,400", "-o", records)
        with open(records, encoding="utf-8") as file:
            want = [[entry["box"] for entry in json.loads(line)["objects"]] for line in file]
        source = framewire.Source(self.clip())
        region = np.zeros(source.shape[:2], bool)
        region[100:500, 300:700] = True
        detector = framewire.Detector("min-area=200", rate=source.rate, background=framewire.Source(room).read(),
                                      region=region)
        for _ in range(2):
            self.assertEqual([[list(box[:4]) for box in detector(frame)] for frame in framewire.Source(self.clip())], want)
            detector.reset()
        self.assertGreater(sum(map(len, want)), 10)
        for wrong in ({"region": region[1:]}, {"background": noise(4, 4)},
                      {"text": "method=adaptive", "background": framewire.Source(room).read()}):
            with self.assertRaises(framewire.ArgumentError):
                framewire.Detector(**wrong)(source.read())

    def test_trackers_refuse_impossible_boxes(self):
        tracker = framewire.Tracker((60, 40))
        self.assertEqual(tracker([], 0), [])
        with self.assertRaisesRegex(framewire.ArgumentError, "boxes->width is 0"):
            tracker([framewire.Box(1, 1, 0, 5, 5)], 0.1)
        with self.assertRaisesRegex(framewire.ArgumentError, "width is -1"):
            framewire.Tracker((-1, 5))
        tracker.close()
        with self.assertRaisesRegex(ValueError, "the Tracker is closed"):
            tracker([], 0.2)


class Hog(FolderTest):
    def test_descriptors_equal_those_of_the_program(self):
        path = self.path("hog.npy")
        program("hog", "-i", self.clip(), "--frames", "3", "--norm", "l2hys", "-o", path, "--backend", "cpu")
        want = np.load(path)
        hog, source = framewire.Hog("norm=l2hys"), framewire.Source(self.clip())
        for descriptors in want:
            np.testing.assert_array_equal(hog(source.read()), descriptors)

    def test_out_must_fit(self):
        hog, image = framewire.Hog(), noise(32, 48)
        out = np.empty((4, 6, 9), np.float32)
        self.assertIs(hog(image, out), out)
        np.testing.assert_array_equal(out, hog(image))
        for wrong in (np.empty((4, 6, 8), np.float32), np.empty((4, 6, 18), np.float32)[:, :, ::2]):
            with self.assertRaises(ValueError):
                hog(image, wrong)
        with self.assertRaises(TypeError):
            hog(image, np.empty((4, 6, 9)))

    def test_people_equal_those_of_the_program(self):
        model, records, image = self.path("model.npy"), self.path("people.jsonl"), self.path("image.png")
        np.save(model, np.random.default_rng(2).normal(size=15 * 7 * 36 + 1).astype(np.float32))
        program("run", "-i", self.clip(), "--frames", "1", "-o", image)
        program("hog", "--people", model, "-i", image, "--threshold", "7", "--group", "overlap", "-o", records,
                "--backend", "cpu")
        with open(records, encoding="utf-8") as file:
            want = json.loads(file.readline())["objects"]
        people = framewire.People(model, "threshold=7:group=overlap")
        found = people(framewire.Source(image).read())
        self.assertEqual([list(person[:4]) for person in found], [person["box"] for person in want])
        for person, wanted in zip(found, want):
            self.assertAlmostEqual(person.score, wanted["score"], places=4)
        self.assertGreater(len(found), 3)
        with self.assertRaisesRegex(framewire.NoInputError, "none.npy"):
            framewire.People(self.path("none.npy"))(noise(200, 100))
        with self.assertRaisesRegex(framewire.ArgumentError, "smaller than the smallest window"):
            people(noise(60, 60))


class Codec(unittest.TestCase):
    def test_pictures_stay_within_the_threshold(self):
        for text, bound in (("threshold=12", 12), ("mode=lossless", 0), ("mode=bounded:threshold=6", 6)):
            with self.subTest(text):
                encoder, decoder = framewire.Encoder(text), framewire.Decoder((48, 64, 3))
                for frame in framewire.Source("synth:size=64x48:objects=2:noise=4:frames=10"):
                    packed = encoder(frame)
                    picture = decoder(packed)
                    self.assertLessEqual(np.abs(picture.astype(int) - frame).max(), bound)
                    self.assertLess(len(packed), frame.size)

    def test_damaged_bytes_are_an_error(self):
        encoder, decoder = framewire.Encoder(), framewire.Decoder((48, 64, 3))
        packed = encoder(noise(48, 64, 3))
        for wrong in (b"", packed[:1], packed[:-20], encoder(noise(48, 64, 3, seed=2))):
            with self.assertRaises(framewire.SourceLostError):
                decoder(wrong)
        np.testing.assert_array_equal(decoder(bytearray(packed)), noise(48, 64, 3))
        out = np.empty((48, 64, 3), np.uint8)
        self.assertIs(decoder(encoder(noise(48, 64, 3, seed=3), keyframe=True), out), out)
        np.testing.assert_array_equal(out, noise(48, 64, 3, seed=3))
        with self.assertRaises(TypeError):
            decoder("text")
