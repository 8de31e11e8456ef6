"""Recipes in examples/python, beside their OpenCV versions."""
import os
import shutil
import sys
import unittest

import framewire
import numpy as np
from helpers import FolderTest

sys.path.insert(0, "examples/python")
try:
    import opencv_recipes
    import recipes
except ImportError:
    opencv_recipes = recipes = None


@unittest.skipUnless(recipes, "there is no cv2")
class Recipes(FolderTest):
    def frames(self, path):
        return list(framewire.Source(path))

    def test_videos_have_the_frames_of_their_source(self):
        shapes = {"blur": (20, (576, 768, 3)), "privacy": (20, (576, 768, 3)), "timelapse": (2, (288, 384, 3))}
        for name, (count, shape) in shapes.items():
            for module in (recipes, opencv_recipes):
                with self.subTest(f"{module.__name__}.{name}"):
                    out = self.path("out.mp4")
                    getattr(module, name)(self.clip(), out)
                    frames = self.frames(out)
                    self.assertEqual((len(frames), frames[0].shape), (count, shape))
                    os.remove(out)

    def test_blurred_videos_are_alike(self):
        for module in (recipes, opencv_recipes):
            module.blur(self.clip(), self.path(f"{module.__name__}.mp4"))
        one, other = (self.frames(self.path(f"{module.__name__}.mp4"))[5].astype(int) for module in (recipes, opencv_recipes))
        self.assertLess(np.abs(one - other).mean(), 4)  # two encoders

    def test_privacy_changes_what_moves(self):
        recipes.privacy(self.clip(), self.path("hidden.mp4"))
        hidden, frame = self.frames(self.path("hidden.mp4"))[15].astype(int), self.frames(self.clip())[15]
        changed = np.abs(hidden - frame).max(axis=2) > 60
        self.assertGreater(changed.sum(), 1000)
        self.assertLess(changed.mean(), 0.1)

    def test_objects_are_counted_and_followed(self):
        os.mkdir(self.path("clips"))
        shutil.copy(self.clip(), self.path("clips/one.mkv"))
        (number,) = recipes.count(self.path("clips")).values()
        self.assertIn(number, range(3, 15))
        paths = recipes.paths(self.clip())
        self.assertEqual(len(paths), number)
        self.assertGreater(max(map(len, paths.values())), 10)
        self.assertGreater(len(opencv_recipes.paths(self.clip())), 2)
        self.assertLess(recipes.first_motion(self.clip()), 1)
        still = self.path("still.y4m")
        with framewire.Sink(still) as sink:
            for _ in range(10):
                sink.write(self.frames(self.clip())[0])
        self.assertIsNone(recipes.first_motion(still))

    def test_features_have_the_size_of_opencvs(self):
        images = self.frames(self.clip())[:2]
        one, other = recipes.features(images), opencv_recipes.features(images)
        self.assertEqual(one.shape, other.shape)
        self.assertAlmostEqual(one.mean(), other.mean(), delta=0.02)

    def test_documents_equal_opencvs(self):
        with framewire.Sink(self.path("page.png")) as sink:
            sink.write(self.frames(self.clip())[0])
        for module in (recipes, opencv_recipes):
            module.document(self.path("page.png"), self.path(f"{module.__name__}.png"))
        one, other = (framewire.Source(self.path(f"{module.__name__}.png")).read().reshape(576, 768, -1)[13:-13, 13:-13, 0]
                      for module in (recipes, opencv_recipes))  # without the borders, which are extended in different ways
        self.assertGreater((one == other).mean(), 0.999)

    def test_heat_and_sheet_show_the_clip(self):
        heat = recipes.heat(self.clip())
        self.assertEqual(heat.shape, (576, 768))
        self.assertTrue(0.3 < heat.max() <= 1 and heat.mean() < 0.1)
        one, other = (module.sheet(self.clip(), 4, 2) for module in (recipes, opencv_recipes))
        self.assertEqual(one.shape, (240, 640, 3))
        self.assertLess(np.abs(one.astype(int) - other).mean(), 4)
