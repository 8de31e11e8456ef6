"""Handles that process frames: each is made for the format of its first frame, and made again if the format changes."""
from __future__ import annotations

from typing import Any, Optional, Tuple

from framewire._arrays import DEFAULT_STREAM, DeviceArray, Image, Planes, Slot, View, device_number, view
from framewire._library import Closable, ffi, lib, new

Stream = Any  # an int, or CuPy's or PyTorch's


def stream_handle(stream: Stream, where: View, out: Any = None) -> Any:
    """Returns the stream on which the library works: the caller's, or else that of the image's library. A DeviceArray that
    is written remembers it."""
    handle = where.stream if stream is None else 0
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            handle = int(getattr(stream, name))
            break
    else:
        if stream is not None:
            handle = int(stream)
    if isinstance(out, (DeviceArray, Planes)):
        out._written(handle or DEFAULT_STREAM)
    return ffi.cast("void *", handle)


class FrameHandle(Closable):
    """Base of chains, detectors, descriptors and encoders."""

    def __init__(self, device: Optional[str], threads: int) -> None:
        super().__init__()
        self._wants_device = device is not None
        backend, number = device_number(device)
        self._settings = new("fw_settings", backend=backend, device=number, threads=threads)
        self._slot = Slot()
        self._is_open = True

    def _create(self) -> None:
        """Makes the handle for the format of the slot, with the settings."""
        raise NotImplementedError

    def _take(self, image: Image) -> View:
        """Points the slot to the frame, and makes the handle if there is none for its format."""
        if not self._is_open:
            raise ValueError(f"the {type(self).__name__} is closed")
        if isinstance(image, Planes):
            where = image._where()
            changed = self._slot.point_to_planes(image, "image")
        else:
            where = view(image)
            changed = self._slot.point_to(where, "image")
        if changed or self._handle is None:
            if not self._wants_device:  # where the frames are
                self._settings.backend = lib.FW_BACKEND_CPU if where.device < 0 else lib.FW_BACKEND_CUDA
                self._settings.device = max(where.device, 0)
            key = (*self._slot.format(), self._settings.backend, self._settings.device)
            if self._handle is None or key != self._key:
                self._release()
                self._create()
                self._key: Tuple[int, ...] = key
        return where

    def reset(self) -> None:
        """Forgets earlier frames: the next one is like the first one."""
        with self._lock:
            self._release()

    def close(self) -> None:
        """Frees everything that belongs to the object."""
        with self._lock:
            self._release()
            self._is_open = False
