from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple

from framewire._arrays import Image, Planes, Slot, empty_like, view
from framewire._frames import FrameHandle, Stream, stream_handle
from framewire._library import check, encoded, ffi, lib, new, text_of


@dataclass(frozen=True)
class Time:
    """Position of a frame in its source: its number, its time, and for how long it is shown (0 if unknown)."""

    index: int
    seconds: float
    duration: float = 0


class Chain(FrameHandle):
    """A chain of filters, such as "gaussian=5,mosaic=32".

        >>> blurred = Chain("gaussian=5")(image)

    Images are arrays of bytes: rows x columns for gray, rows x columns x 3 for blue, green and red; or Planes. Results are
    those of `framewire run`. Frames on the host are filtered on the CPU and frames on a GPU there, unless `device` says
    "cpu", "cuda" or "cuda:N". Filters may use earlier frames, so use one chain per camera. `threads` are those of the CPU;
    0: one per processor.
    """

    def __init__(self, text: str, *, device: Optional[str] = None, threads: int = 0) -> None:
        super().__init__(device, threads)
        self.text = text
        self._text = encoded(text, "text")
        check(lib.fw_chain_check(self._text))
        self._out = Slot()

    def _create(self) -> None:
        self._own(lambda chain: lib.fw_chain_create(chain, self._text, self._slot.image, self._settings), "fw_chain",
                  lib.fw_chain_destroy)
        self._result = new("fw_image")
        check(lib.fw_chain_output(self._handle, self._result))
        result = self._result
        self._shape: Tuple[int, ...] = ((result.height, result.width) if result.format == lib.FW_GRAY
                                        else (result.height, result.width, 3))

    def __call__(self, image: Image, out: Optional[Image] = None, *, stream: Stream = None,
                 time: Optional[Time] = None) -> Any:
        """Filters the next frame. The result is a new array of the same library, in the same memory, or `out`. If both are
        on a GPU, the work is queued on `stream`, by default the current one of the array's library, and nothing waits.
        `time` is what the filter `text` shows."""
        with self._lock:
            where = self._take(image)
            if self._result.format > lib.FW_BGR:
                if out is None:
                    out = Planes.described(self._result, where.device)
                self._out.point_to_planes(out, "out", writes=True)
            else:
                if out is None:
                    shape = self._shape
                    if len(where.shape) == 3 and len(shape) == 2:
                        shape = (*shape, 1) if where.shape[2] == 1 else shape
                    out = empty_like(image, where, shape)
                self._out.point_to(view(out, writes=True, name="out"), "out")
            if time is not None:
                check(lib.fw_chain_set_time(self._handle, time.index, time.seconds))
            check(lib.fw_chain_run(self._handle, self._slot.image, self._out.image,
                                   stream_handle(stream, where, out)))
            return out

    def explain(self) -> str:
        """Returns a line for each filter and conversion, with the format in which it runs. After the first frame."""
        with self._lock:
            if self._handle is None:
                raise ValueError("the chain is planned with its first frame: call it first")
            text = ffi.new("char **")
            check(lib.fw_chain_explain(self._handle, ffi.cast("const char **", text)))
            return text_of(text[0])
