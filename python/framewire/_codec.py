from __future__ import annotations

from typing import Optional, Tuple

import numpy as np

from framewire._arrays import Bytes, Image, Slot, view
from framewire._frames import FrameHandle, Stream, stream_handle
from framewire._library import Closable, check, encoded, ffi, lib, new


class Encoder(FrameHandle):
    """An encoder of the difference codec. Of each frame it keeps what has changed by more than a threshold.

        >>> encoder, decoder = Encoder("threshold=10"), Decoder((height, width, 3))
        >>> picture = decoder(encoder(frame))  # no byte differs by more than 10

    `text` has the options of `framewire serve` without dashes: threshold, mode and effort. `device` and `threads` are as for
    Chain.
    """

    def __init__(self, text: str = "", *, device: Optional[str] = None, threads: int = 0) -> None:
        super().__init__(device, threads)
        self._text = encoded(text, "text")
        self._bytes, self._count = ffi.new("uint8_t **"), ffi.new("size_t *")

    def _create(self) -> None:
        self._own(lambda encoder: lib.fw_encoder_create(encoder, self._text, self._slot.image, self._settings),
                  "fw_encoder", lib.fw_encoder_destroy)

    def __call__(self, image: Image, *, keyframe: bool = False, stream: Stream = None) -> bytes:
        """Encodes the next frame, as a keyframe if it is the first one or `keyframe` is true."""
        with self._lock:
            where = self._take(image)
            check(lib.fw_encoder_encode(self._handle, self._slot.image, int(keyframe), stream_handle(stream, where),
                                        ffi.cast("const uint8_t **", self._bytes), self._count))
            return bytes(ffi.buffer(self._bytes[0], self._count[0]))


class Decoder(Closable):
    """A decoder of the difference codec for frames of this shape: rows x columns, or rows x columns x 3."""

    def __init__(self, shape: Tuple[int, ...], *, threads: int = 0) -> None:
        super().__init__()
        self._shape = tuple(shape)
        self._slot = Slot()
        self._slot.point_to(view(np.empty(self._shape, np.uint8)), "shape")
        settings = new("fw_settings", threads=threads)
        self._own(lambda decoder: lib.fw_decoder_create(decoder, self._slot.image, settings), "fw_decoder",
                  lib.fw_decoder_destroy)

    def __call__(self, packed: bytes, out: Optional[Bytes] = None) -> Bytes:
        """Decodes the next frame, and returns the picture: a new array, or `out`. Raises SourceLostError if the bytes are
        damaged."""
        with self._lock:
            handle = self._opened()
            if out is None:
                out = np.empty(self._shape, np.uint8)
            self._slot.point_to(view(out, writes=True, name="out"), "out")
            data = ffi.from_buffer(packed)
            check(lib.fw_decoder_decode(handle, ffi.cast("uint8_t *", data), len(data), self._slot.image))
            return out
