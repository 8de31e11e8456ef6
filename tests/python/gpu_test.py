"""Arrays in the memory of a GPU: bytes equal those of the CPU, and nothing is copied."""
import importlib
import os
import tempfile
import time
import unittest

import framewire
import numpy as np
from helpers import noise


def library(name):
    """Returns a library of arrays, and skips the test without it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"there is no {name}") from None


@unittest.skipUnless(framewire.device_count(), "no GPU on this machine: or no driver")
class Gpu(unittest.TestCase):
    def upload(self, image):
        """Returns a DeviceArray with the bytes of an array."""
        copy = framewire.Chain("", device="cuda")
        return copy(image, framewire.DeviceArray(image.shape))

    def test_device_arrays_are_filtered_on_the_gpu(self):
        for text in ("gaussian=5,mosaic=16", "median=9", "noise"):
            with self.subTest(text):
                on_gpu, on_cpu = framewire.Chain(text), framewire.Chain(text)
                for seed in range(4):
                    image = noise(121, 77, 3, seed=seed)
                    there = self.upload(image)
                    np.testing.assert_array_equal(there.numpy(), image)
                    result = on_gpu(there)
                    self.assertIsInstance(result, framewire.DeviceArray)
                    np.testing.assert_array_equal(result.numpy(), on_cpu(image))

    def test_host_arrays_go_there_and_back(self):
        image = noise(50, 60, 3)
        result = framewire.Chain("median=5", device="cuda:0")(image)
        np.testing.assert_array_equal(result, framewire.Chain("median=5")(image))

    def test_detectors_descriptors_and_encoders_read_device_arrays(self):
        detectors, encoders = [framewire.Detector(rate=25) for _ in "ab"], [framewire.Encoder() for _ in "ab"]
        source = framewire.Source("synth:size=160x120:objects=3:frames=10")
        for frame in source:
            there = self.upload(frame)
            self.assertEqual(detectors[0](there), detectors[1](frame))
            self.assertEqual(encoders[0](there), encoders[1](frame))
        want = framewire.Hog()(frame)
        np.testing.assert_allclose(framewire.Hog()(there).numpy(), want, rtol=0, atol=1e-4 * want.max())

    def test_sources_read_into_device_memory(self):
        text = "synth:size=98x66:objects=2:frames=4"
        for there, here in zip(framewire.Source(text, device="cuda"), framewire.Source(text)):
            np.testing.assert_array_equal(there.numpy(), here)

    def test_planes_stay_on_the_gpu(self):
        for kind in ("i420", "nv12", "p010"):
            here = framewire.Planes(kind, 97, 51)
            for plane in here.planes:
                plane[:] = noise(*plane.shape)
                if kind == "p010":
                    plane <<= 6
            there = here.to("cuda")
            self.assertIsInstance(there.planes[0], framewire.DeviceArray)
            for one, other, wanted in zip(there.planes, there.to("cpu").planes, here.planes):
                np.testing.assert_array_equal(one.numpy(), wanted)
                np.testing.assert_array_equal(other, wanted)
            for text in ("gaussian=5", "flip=horizontal", "median=3"):
                with self.subTest(kind + text):
                    got, want = framewire.Chain(text)(there), framewire.Chain(text)(here)
                    if kind != "i420" or text == "median=3":
                        got, want = [got], [want]  # they are in BGR
                    else:
                        got, want = got.planes, want.planes
                    for one, wanted in zip(got, want):
                        self.assertIsInstance(one, framewire.DeviceArray)
                        np.testing.assert_array_equal(one.numpy(), wanted)
        text = "synth:size=98x66:objects=2:frames=4"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "clip.y4m")
            with framewire.Sink(path) as sink:
                for frame in framewire.Source(text):
                    sink.write(frame)
            frames = zip(framewire.Source(path, device="cuda", native=True), framewire.Source(path, native=True))
            for there, here in frames:
                for one, wanted in zip(there.planes, here.planes):
                    np.testing.assert_array_equal(one.numpy(), wanted)

    def test_planes_of_other_libraries_are_not_copied(self):
        torch = library("torch")
        planes = [torch.from_numpy(noise(*shape)).cuda() for shape in ((50, 98), (25, 49), (25, 49))]
        given = framewire.Planes("i420", 98, 50, planes=planes)
        results = [torch.empty_like(plane) for plane in planes]
        framewire.Chain("gaussian=5")(given, framewire.Planes("i420", 98, 50, planes=results))
        want = framewire.Chain("gaussian=5")(given.to("cpu"))
        for result, wanted in zip(results, want.planes):
            np.testing.assert_array_equal(result.cpu().numpy(), wanted)
        for plane in framewire.Planes("i420", 98, 50, device="cuda").planes:
            self.assertEqual(torch.from_dlpack(plane).data_ptr(), plane.__cuda_array_interface__["data"][0])

    def test_people_are_found_on_the_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "model.npy")
            np.save(model, np.random.default_rng(2).normal(size=15 * 7 * 36 + 1).astype(np.float32))
            image = framewire.Source("synth:size=320x240:objects=5").read()
            text = "threshold=7:group=overlap"
            want, got = (framewire.People(model, text)(where) for where in (image, self.upload(image)))
            self.assertGreater(len(want), 1)
            self.assertEqual([person[:4] for person in got], [person[:4] for person in want])

    def test_calls_only_queue_their_work(self):
        for shape in ((8, 8, 3), (1080, 1920, 3)):
            there = self.upload(noise(*shape))
            out, chain, calls = framewire.DeviceArray(shape), framewire.Chain("gaussian=5"), 500
            for _ in range(5):
                chain(there, out)
            out.numpy()
            began = time.perf_counter()
            for _ in range(calls):
                chain(there, out)
            queued = time.perf_counter()
            out.numpy()
            done = time.perf_counter()
            call_us, frame_us = (1e6 * (end - began) / calls for end in (queued, done))
            print(f"{shape}: a call takes {call_us:.1f} us, a frame {frame_us:.1f} us")
            self.assertLess((queued - began) / calls, 100e-6)

    def check(self, make, back, pointer):
        """Filters arrays of a library, from `make`, where they are. `back` returns them as NumPy's."""
        chain, image = framewire.Chain("gaussian=5"), noise(121, 77, 3)
        want = framewire.Chain("gaussian=5")(image)
        there = make(image)
        result = chain(there)
        self.assertIs(type(result), type(there))
        np.testing.assert_array_equal(back(result), want)
        out = make(np.zeros_like(image))
        address = pointer(out)
        self.assertIs(chain(there, out), out)
        self.assertEqual(pointer(out), address)
        np.testing.assert_array_equal(back(out), want)

    def test_cupy_arrays(self):
        cupy = library("cupy")
        self.check(cupy.asarray, cupy.asnumpy, lambda array: array.data.ptr)
        with cupy.cuda.Stream(non_blocking=True):
            self.check(cupy.asarray, cupy.asnumpy, lambda array: array.data.ptr)
        lent = self.upload(noise(12, 20))
        for taken in (cupy.asarray(lent), cupy.from_dlpack(lent)):
            self.assertEqual(taken.data.ptr, lent.__cuda_array_interface__["data"][0])
            np.testing.assert_array_equal(cupy.asnumpy(taken), noise(12, 20))

    def test_torch_tensors(self):
        torch = library("torch")
        self.check(lambda image: torch.from_numpy(image).cuda(), lambda tensor: tensor.cpu().numpy(),
                   lambda tensor: tensor.data_ptr())
        with torch.cuda.stream(torch.cuda.Stream()):
            self.check(lambda image: torch.from_numpy(image).cuda(), lambda tensor: tensor.cpu().numpy(),
                       lambda tensor: tensor.data_ptr())
        lent = self.upload(noise(12, 20))
        taken = torch.from_dlpack(lent)
        self.assertEqual(taken.data_ptr(), lent.__cuda_array_interface__["data"][0])
        np.testing.assert_array_equal(taken.cpu().numpy(), noise(12, 20))
        tensor = torch.from_numpy(noise(12, 20))
        self.assertIs(type(framewire.Chain("median=3")(tensor)), torch.Tensor)
