"""DLPack capsules, without a GPU: memory is only described."""
import gc
import unittest
import weakref

from framewire import _dlpack


class Owner:
    pass


class Dlpack(unittest.TestCase):
    def lend(self):
        owner = Owner()
        return _dlpack.lend(owner, 4096, (3, 5, 3), _dlpack.UINT, 8, 2), weakref.ref(owner)

    def test_tensors_arrive_as_lent_and_go_back(self):
        capsule, owner = self.lend()
        self.assertIn('"dltensor"', repr(capsule))
        tensor = _dlpack.borrow(capsule)
        self.assertEqual(tensor[:7], (4096, (3, 5, 3), None, _dlpack.UINT, 8, _dlpack.CUDA, 2))
        with self.assertRaisesRegex(ValueError, "used before"):
            _dlpack.borrow(capsule)
        del capsule
        gc.collect()
        self.assertIsNotNone(owner())
        del tensor
        gc.collect()
        self.assertIsNone(owner())

    def test_tensors_that_nobody_takes_are_freed(self):
        capsule, owner = self.lend()
        del capsule
        gc.collect()
        self.assertIsNone(owner())

    def test_other_objects_are_refused(self):
        with self.assertRaises(ValueError):
            _dlpack.borrow(object())
