from __future__ import annotations

import os
import threading
from fractions import Fraction
from types import TracebackType
from typing import Any, Iterator, Optional, Tuple, Type, Union

import numpy as np

from framewire._arrays import Bytes, DeviceArray, Image, Planes, Slot, device_number, view
from framewire._chain import Time
from framewire._detect import Box, boxes_from
from framewire._frames import Stream, stream_handle
from framewire._library import Closable, check, encoded, ffi, lib, new

Path = Union[str, "os.PathLike[str]"]


class Frames(Closable):
    """Base of what delivers frames: a source or a viewer."""

    _end: Any = None  # the library's function that ends a wait

    def __init__(self) -> None:
        super().__init__()
        self._life = threading.Lock()  # held while the handle is freed, and while another thread stops it

    def _release(self) -> None:
        with self._life:
            super()._release()

    def stop(self) -> None:
        """Ends the current read() and all later ones. For another thread than the one that reads."""
        with self._life:
            if self._handle is not None:
                check(type(self)._end(self._handle))

    def close(self) -> None:
        """Stops reading, and frees everything that belongs to the object."""
        self.stop()
        super().close()

    def _describe(self, info_of: Any) -> None:
        self._image, info = new("fw_image"), new("fw_info")
        check(info_of(self._handle, self._image, info))
        self._slot = Slot()
        #: Width and height of the frames.
        self.size: Tuple[int, int] = (self._image.width, self._image.height)
        #: Nominal number of frames per second.
        self.rate = Fraction(info.rate_numerator, info.rate_denominator)
        #: Number of frames, or None if it is unknown.
        self.frames: Optional[int] = info.frames if info.frames >= 0 else None
        #: True for cameras and the network.
        self.is_live = bool(info.live)
        #: Bound of each byte's error if the frames come from a difference stream, else None.
        self.threshold: Optional[int] = info.threshold if info.threshold >= 0 else None
        width, height = self.size
        #: Shape of the frames' arrays; of planes, that of an image in colour.
        self.shape: Tuple[int, ...] = (height, width) if self._image.format == lib.FW_GRAY else (height, width, 3)


class Source(Frames):
    """A source of frames: a file, a camera, a network address or the synthetic camera (docs/sources.md).

        >>> for frame in Source("clip.mp4"):
        ...     print(frame.shape)

    Frames are arrays of rows x columns (gray) or rows x columns x 3 (blue, green, red). With `native`, pictures in YUV stay
    as they are: Planes. With `device="cuda"`, frames are in the memory of the GPU, decoded there if it can. `start` and `duration`
    are a range in seconds; `timeout` is the longest wait for a camera or the network; `size` and `rate` are asked of a camera.
    """

    _end = lib.fw_source_stop

    def __init__(self, text: Path, *, device: Optional[str] = None, native: bool = False, loop: bool = False,
                 start: float = 0, duration: float = 0, timeout: float = 0, size: Tuple[int, int] = (0, 0),
                 rate: float = 0) -> None:
        super().__init__()
        backend, number = device_number(device)
        self._device = number if backend == lib.FW_BACKEND_CUDA else -1
        options = new("fw_source_options", native=int(native), on_device=int(self._device >= 0), device=number,
                      loop=int(loop), start_seconds=start, duration_seconds=duration, timeout_seconds=timeout,
                      width=size[0], height=size[1], rate=rate)
        data = encoded(text, "text")
        self._own(lambda source: lib.fw_source_open(source, data, options), "fw_source", lib.fw_source_close)
        self._describe(lib.fw_source_info)
        self._time = new("fw_time")
        #: Position of the frame that was read last.
        self.time = Time(-1, 0)

    def read(self, out: Optional[Image] = None, *, stream: Stream = None) -> Any:
        """Reads the next frame into `out` or a new array, and returns it; None at the end. Other threads run meanwhile."""
        with self._lock:
            handle = self._opened()
            if self._image.format > lib.FW_BGR:
                planes: Any = Planes.described(self._image, self._device) if out is None else out
                self._slot.point_to_planes(planes, "out", writes=True)
                out, where = planes, planes._where()
            else:
                if out is None:
                    out = (DeviceArray(self.shape, device=self._device) if self._device >= 0
                           else np.empty(self.shape, np.uint8))
                where = view(out, writes=True, name="out")
                self._slot.point_to(where, "out")
            if not check(lib.fw_source_read(handle, self._slot.image, self._time,
                                            stream_handle(stream, where, out))):
                return None
            self.time = Time(self._time.index, self._time.seconds, self._time.duration)
            return out

    def __iter__(self) -> Iterator[Any]:
        while (frame := self.read()) is not None:
            yield frame

    def seek(self, seconds: float) -> None:
        """Goes to the first frame at or after this time. Raises UnavailableError if the source cannot seek."""
        with self._lock:
            check(lib.fw_source_seek(self._opened(), seconds))


class Sink(Closable):
    """A destination of frames: a file, a sequence of images or a network address (docs/outputs.md).

        >>> with Sink("out.mp4", rate=25) as sink:
        ...     sink.write(frame)

    It opens with the first frame. An existing file is an error unless `replace` is true. The file gets its name at the end of
    the `with` block; if that ends by an exception, the file does not appear.
    """

    def __init__(self, text: Path, *, rate: Union[int, float, Fraction] = 25, replace: bool = False) -> None:
        super().__init__()
        self._text = encoded(text, "text")
        self._rate = Fraction(rate).limit_denominator(100_000)
        self._options = new("fw_sink_options", replace=int(replace))
        self._slot = Slot()
        self._is_open = True

    def write(self, frame: Image, time: Optional[Time] = None) -> None:
        """Writes a frame. Without `time`, it follows the previous one at the sink's rate."""
        with self._lock:
            if not self._is_open:
                raise ValueError("the Sink is closed")
            if isinstance(frame, Planes):
                self._slot.point_to_planes(frame, "frame")
            else:
                self._slot.point_to(view(frame, name="frame"), "frame")
            if self._handle is None:
                self._own(lambda sink: lib.fw_sink_open(sink, self._text, self._slot.image, self._rate.numerator,
                                                        self._rate.denominator, self._options),
                          "fw_sink", lib.fw_sink_close)
            at = ffi.NULL if time is None else new("fw_time", index=time.index, seconds=time.seconds,
                                                   duration=time.duration)
            check(lib.fw_sink_write(self._handle, self._slot.image, at))

    def finish(self) -> None:
        """Completes the output and gives the file its name."""
        with self._lock:
            if self._handle is not None:
                check(lib.fw_sink_finish(self._handle))
            self._release()
            self._is_open = False

    def close(self) -> None:
        """Closes the sink. Without finish(), the file does not appear."""
        with self._lock:
            self._release()
            self._is_open = False

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if kind is None:
            self.finish()
        else:
            self.close()


class Viewer(Frames):
    """A viewer of a difference stream of `framewire serve`: tcp://HOST:PORT/NAME, or with tls://, ws:// or wss://.

        >>> for picture in Viewer("tcp://127.0.0.1:7878/main"):
        ...     print(picture.shape)

    No byte of a picture differs by more than `threshold` from the server's frame. `token` and `fingerprint` are the server's;
    `reconnect` is how many seconds to try to reconnect after a loss.
    """

    _end = lib.fw_viewer_stop

    def __init__(self, url: str, *, token: Optional[str] = None, fingerprint: Optional[str] = None, timeout: float = 0,
                 reconnect: float = 0) -> None:
        super().__init__()
        texts = [ffi.new("char[]", encoded(text, "token or fingerprint")) if text is not None else ffi.NULL
                 for text in (token, fingerprint)]
        options = new("fw_viewer_options", token=texts[0], fingerprint=texts[1], timeout_seconds=timeout,
                      reconnect_seconds=reconnect)
        data = encoded(url, "url")
        self._own(lambda viewer: lib.fw_viewer_connect(viewer, data, options), "fw_viewer", lib.fw_viewer_close)
        self._describe(lib.fw_viewer_info)
        self._view = new("fw_view")
        #: Position of the last picture's frame in the server's source.
        self.time = Time(-1, 0)
        #: Seconds since the server captured that frame; None if unknown.
        self.age: Optional[float] = None

    def read(self, out: Optional[Bytes] = None) -> Optional[Bytes]:
        """Waits for the next picture, and returns it in `out` or a new array; None if the stream has ended."""
        with self._lock:
            handle = self._opened()
            if out is None:
                out = np.empty(self.shape, np.uint8)
            self._slot.point_to(view(out, writes=True, name="out"), "out")
            if not check(lib.fw_viewer_next(handle, self._slot.image, self._view)):
                return None
            state = self._view
            self.time = Time(state.index, state.seconds)
            self.age = state.age_seconds if state.age_seconds >= 0 else None
            self.threshold = state.threshold
            return out

    def __iter__(self) -> Iterator[Bytes]:
        while (picture := self.read()) is not None:
            yield picture

    def boxes(self) -> "list[Box]":
        """Returns the objects that the server detected in the last picture."""
        with self._lock:
            boxes, count = ffi.new("fw_box **"), ffi.new("size_t *")
            check(lib.fw_viewer_boxes(self._opened(), ffi.cast("const fw_box **", boxes), count))
            return boxes_from(boxes[0], count[0])
