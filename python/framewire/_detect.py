from __future__ import annotations

from fractions import Fraction
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from framewire._arrays import Bytes, Image, Slot, view
from framewire._frames import FrameHandle, Stream, stream_handle
from framewire._library import Closable, check, encoded, ffi, lib


class Box(NamedTuple):
    """A moving object: its bounding box in pixels, the number of its pixels, and its centroid."""

    x: int
    y: int
    width: int
    height: int
    area: int
    centre_x: float = 0
    centre_y: float = 0


class Track(NamedTuple):
    """A tracked object. `box` is the index of its box in the frame, or None."""

    id: int
    x: float
    y: float
    width: float
    height: float
    velocity_x: float
    velocity_y: float
    age_s: float
    unseen_s: float
    box: Optional[int]


def boxes_from(boxes: Any, count: int) -> List[Box]:
    """Returns the boxes that the library lends."""
    return [Box(box.x, box.y, box.width, box.height, box.area, box.centre_x, box.centre_y)
            for box in (boxes[i] for i in range(count))]


class Detector(FrameHandle):
    """A detector of moving objects, which learns the background from the frames of one camera.

        >>> boxes = Detector("min-area=400", rate=25)(frame)

    `text` has the options of `framewire detect` without dashes. `rate` is the number of frames per second, if it is known.
    `background` is a picture to compare frames with, instead of learning one; the method is then `report`. `region` has a
    byte for each pixel: objects are searched where it is not 0. `device` and `threads` are as for Chain.
    """

    def __init__(self, text: str = "", *, rate: Union[float, Fraction] = 0, background: Optional[Bytes] = None,
                 region: Optional[Any] = None, device: Optional[str] = None, threads: int = 0) -> None:
        super().__init__(device, threads)
        if background is not None and "method=" not in text:
            text = f"method=report:{text}" if text else "method=report"
        self._text, self._rate = encoded(text, "text"), float(rate)
        self._background = None if background is None else np.array(background)
        self._region = None if region is None else np.array(np.asarray(region) != 0, np.uint8)
        self._boxes, self._count = ffi.new("fw_box **"), ffi.new("size_t *")

    def _create(self) -> None:
        self._own(lambda detector: lib.fw_detector_create(detector, self._text, self._slot.image, self._rate,
                                                          self._settings), "fw_detector", lib.fw_detector_destroy)
        for array, name, set_it in ((self._region, "region", lib.fw_detector_set_region),
                                    (self._background, "background", lib.fw_detector_set_background)):
            if array is not None:
                slot = Slot()
                slot.point_to(view(array, name=name), name)
                check(set_it(self._handle, slot.image))

    def __call__(self, image: Image, *, stream: Stream = None) -> List[Box]:
        """Detects the objects of the next frame, in the order of their first pixels."""
        with self._lock:
            where = self._take(image)
            check(lib.fw_detector_process(self._handle, self._slot.image, stream_handle(stream, where),
                                          ffi.cast("const fw_box **", self._boxes), self._count))
            return boxes_from(self._boxes[0], self._count[0])

    def mask(self, out: Optional[Bytes] = None) -> Bytes:
        """Returns the mask of the last frame: 255 for pixels that move, else 0. With `out`, writes it there."""
        with self._lock:
            if self._handle is None:
                raise ValueError("there is no mask before the first frame")
            if out is None:
                out = np.empty((self._slot.image.height, self._slot.image.width), np.uint8)
            slot = Slot()
            slot.point_to(view(out, writes=True, name="out"), "out")
            check(lib.fw_detector_mask(self._handle, slot.image))
            return out


class Tracker(Closable):
    """Gives the boxes of consecutive frames of this size an identity. `text` is that of `--track`."""

    def __init__(self, size: Tuple[int, int], text: str = "") -> None:
        super().__init__()
        data, (width, height) = encoded(text, "text"), size
        self._own(lambda tracker: lib.fw_tracker_create(tracker, data, width, height), "fw_tracker",
                  lib.fw_tracker_destroy)

    def __call__(self, boxes: Sequence[Box], seconds: float) -> List[Track]:
        """Returns the confirmed tracks of the frame at `seconds`, in the order of their ids."""
        with self._lock:
            given = ffi.new("fw_box[]", [(*box[:5], 0, *box[5:]) for box in boxes])
            tracks, count = ffi.new("fw_track **"), ffi.new("size_t *")
            check(lib.fw_tracker_update(self._opened(), given, len(boxes), seconds,
                                        ffi.cast("const fw_track **", tracks), count))
            return [Track(track.id, track.x, track.y, track.width, track.height, track.velocity_x, track.velocity_y,
                          track.age_s, track.unseen_s, track.box if track.box >= 0 else None)
                    for track in (tracks[0][i] for i in range(count[0]))]
