from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from framewire._arrays import Image, Planes, empty_like, view
from framewire._frames import FrameHandle, Stream, stream_handle
from framewire._library import check, encoded, ffi, lib
from framewire._media import Path


class Hog(FrameHandle):
    """Histograms of oriented gradients.

        >>> descriptors = Hog("cell=8:norm=l2hys")(image)  # rows x columns x values, float32

    `text` has the options of `framewire hog` without dashes. `device` and `threads` are as for Chain.
    """

    def __init__(self, text: str = "", *, device: Optional[str] = None, threads: int = 0) -> None:
        super().__init__(device, threads)
        self._text = encoded(text, "text")

    def _create(self) -> None:
        self._own(lambda hog: lib.fw_hog_create(hog, self._text, self._slot.image, self._settings), "fw_hog",
                  lib.fw_hog_destroy)
        shape = [ffi.new("int32_t *") for _ in range(3)]
        check(lib.fw_hog_shape(self._handle, *shape))
        self._shape: Tuple[int, ...] = tuple(size[0] for size in shape)

    def __call__(self, image: Image, out: Any = None, *, stream: Stream = None) -> Any:
        """Returns the descriptors of an image: a new array of the same library, in the same memory, or `out`."""
        with self._lock:
            if isinstance(image, Planes):
                raise TypeError("image is Planes; an array of gray or BGR is required")
            where = self._take(image)
            if out is None:
                out = empty_like(image, where, self._shape, np.float32)
            to = view(out, "<f4", writes=True, name="out")
            if to.shape != self._shape:
                raise ValueError(f"out has the shape {to.shape}; {self._shape} is required")
            if to.strides is not None and np.empty(self._shape, np.float32).strides != to.strides:
                raise ValueError("out has gaps between its values")
            if to.device != where.device:
                raise ValueError("image and out are in different memories")
            check(lib.fw_hog_compute(self._handle, self._slot.image, ffi.cast("float *", to.address),
                                     int(np.prod(self._shape)), stream_handle(stream, where, out)))
            return out


class Person(NamedTuple):
    """A person in an image, or what else a model was trained to find: a window in pixels, and its score."""

    x: int
    y: int
    width: int
    height: int
    score: float


class People(FrameHandle):
    """A detector of people, by a model of `framewire hog --train` or OpenCV.

        >>> found = People("model.npy", "threshold=0.5")(image)

    `text` has the options of `framewire hog --people` without dashes. `device` and `threads` are as for Chain.
    """

    def __init__(self, model: Path, text: str = "", *, device: Optional[str] = None, threads: int = 0) -> None:
        super().__init__(device, threads)
        self._model, self._text = encoded(model, "model"), encoded(text, "text")
        self._found, self._count = ffi.new("fw_person **"), ffi.new("size_t *")

    def _create(self) -> None:
        self._own(lambda people: lib.fw_people_create(people, self._model, self._text, self._slot.image, self._settings),
                  "fw_people", lib.fw_people_destroy)

    def __call__(self, image: Image, *, stream: Stream = None) -> List[Person]:
        """Finds the people in an image, best first."""
        with self._lock:
            where = self._take(image)
            check(lib.fw_people_process(self._handle, self._slot.image, stream_handle(stream, where),
                                        ffi.cast("const fw_person **", self._found), self._count))
            return [Person(one.x, one.y, one.width, one.height, one.score)
                    for one in (self._found[0][i] for i in range(self._count[0]))]
