"""Arrays of other libraries as images: NumPy and what is like it on the host, CuPy, PyTorch and what is like them on a GPU."""
from __future__ import annotations

import sys
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from framewire import _dlpack
from framewire._library import check, ffi, lib, new

Bytes = NDArray[np.uint8]

# CUDA's number of the default stream in `__cuda_array_interface__` and DLPack.
DEFAULT_STREAM = 1


class View(NamedTuple):
    """Position of an array in memory."""

    address: int
    shape: Tuple[int, ...]
    strides: Optional[Tuple[int, ...]]  # in bytes; None: no gaps
    device: int  # number of the GPU, or -1 for the host
    stream: int  # on which the array's owner has queued work
    keep: Any


def _device_of(array: Any) -> int:
    """Returns the number of the GPU that holds an array with `__cuda_array_interface__`."""
    device = getattr(array, "device", 0)
    for name in ("id", "index"):
        number = getattr(device, name, None)
        if isinstance(number, int):
            return number
    return device if isinstance(device, int) else 0


def _module_of(array: Any) -> str:
    """Returns the name of the library that made an array."""
    return type(array).__module__.split(".")[0]


def _is_torch(array: Any) -> bool:
    return _module_of(array) == "torch"


def _current_stream(array: Any, device: int) -> int:
    """Returns the stream on which the array's library queues work at the moment."""
    if _is_torch(array):
        return int(sys.modules["torch"].cuda.current_stream(device).cuda_stream)
    return 0


def _address(interface: Dict[str, Any], typestr: str, writes: bool, name: str) -> int:
    """Returns the address of an array's memory after checking the type of its elements."""
    if interface["typestr"] != typestr:
        raise TypeError(f"{name} has elements of type {np.dtype(interface['typestr'])}; {np.dtype(typestr)} is required")
    address, is_read_only = interface["data"]
    if writes and is_read_only:
        raise ValueError(f"{name} is read-only")
    return int(address)


def view(array: Any, typestr: str = "|u1", writes: bool = False, name: str = "image") -> View:
    """Returns where `array` is, without copying it. Raises TypeError for other types of objects and of elements."""
    interface: Any
    if isinstance(array, np.ndarray):
        interface = array.__array_interface__
        address = _address(interface, typestr, writes, name)
        return View(address, array.shape, interface["strides"], -1, 0, array)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        address = _address(interface, typestr, writes, name)
        device = _device_of(array)
        stream = interface.get("stream")
        return View(address, tuple(interface["shape"]), interface.get("strides"), device,
                    stream if stream is not None else _current_stream(array, device), array)
    if hasattr(array, "__dlpack__") and array.__dlpack_device__()[0] in (_dlpack.CUDA, _dlpack.CUDA_MANAGED):
        tensor = _dlpack.borrow(array.__dlpack__(stream=DEFAULT_STREAM))
        wanted = np.dtype(typestr)
        if (tensor.code, tensor.bits) != (_dlpack.UINT if wanted.kind == "u" else _dlpack.FLOAT, 8 * wanted.itemsize):
            raise TypeError(f"{name} has elements of another type; {wanted} is required")
        return View(tensor.address, tensor.shape, tensor.strides, tensor.device, DEFAULT_STREAM, tensor.keep)
    # NumPy may copy what has only `__array__`, which is no use for results; PyTorch does not.
    if hasattr(array, "__array_interface__") or (hasattr(array, "__array__") and not (writes and not _is_torch(array))):
        return view(np.asarray(array), typestr, writes, name)
    try:
        return view(np.asarray(memoryview(array)), typestr, writes, name)
    except TypeError:
        raise TypeError(f"{name} is {type(array).__name__}; an array of rows x columns or rows x columns x 3 bytes is "
                        "required, of NumPy, CuPy, PyTorch or another library") from None


class DeviceArray:
    """An array in the memory of a GPU, for programs without another library for such. CuPy, PyTorch and others read it by
    `__cuda_array_interface__` or DLPack, without a copy and in order with the work that fills it. `stream` is the handle of
    the CUDA stream on which that work is queued."""

    def __init__(self, shape: Sequence[int], dtype: Any = np.uint8, device: int = 0) -> None:
        self.shape = tuple(int(size) for size in shape)
        self.dtype = np.dtype(dtype)
        self.device = device
        self.stream = DEFAULT_STREAM
        buffer = ffi.new("fw_buffer **")
        check(lib.fw_buffer_create(buffer, int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize, device))
        self._buffer = ffi.gc(buffer[0], lib.fw_buffer_destroy)
        self._address = int(ffi.cast("intptr_t", lib.fw_buffer_data(self._buffer)))

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._address, False), "strides": None,
                "stream": self.stream, "version": 3}

    def __dlpack__(self, *, stream: Optional[int] = None, **_: Any) -> Any:
        wanted = DEFAULT_STREAM if stream in (None, 0) else stream
        if wanted not in (-1, self.stream):
            check(lib.fw_stream_order(self.device, ffi.cast("void *", self.stream), ffi.cast("void *", wanted)))
        code = _dlpack.UINT if self.dtype.kind == "u" else _dlpack.FLOAT
        return _dlpack.lend(self, self._address, self.shape, code, 8 * self.dtype.itemsize, self.device)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _dlpack.CUDA, self.device

    def _part(self, begin: int, shape: Tuple[int, ...], dtype: Any) -> "DeviceArray":
        """Returns an array that shares this one's memory from byte `begin` on."""
        part = DeviceArray.__new__(DeviceArray)
        part.shape, part.dtype, part.device, part.stream = shape, np.dtype(dtype), self.device, self.stream
        part._buffer, part._address = self._buffer, self._address + begin
        return part

    def _written(self, stream: int) -> None:
        self.stream = stream

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device})"

    def numpy(self) -> NDArray[Any]:
        """Returns a copy in host memory."""
        copy = np.empty(self.shape, self.dtype)
        rows = copy.reshape(copy.shape[0], -1).view(np.uint8)
        most = 16384  # widest image
        for begin in range(0, rows.shape[1], most):
            part = rows[:, begin:begin + most]
            height, width = part.shape
            there = new("fw_image", format=lib.FW_GRAY, width=width, height=height, memory=lib.FW_DEVICE,
                        device=self.device)
            there.data[0] = ffi.cast("void *", self._address + begin)
            there.stride[0] = rows.shape[1]
            here = new("fw_image", format=lib.FW_GRAY, width=width, height=height)
            here.data[0] = ffi.cast("void *", part.__array_interface__["data"][0])
            here.stride[0] = rows.shape[1]
            check(lib.fw_image_copy(there, here, ffi.cast("void *", self.stream)))
        return copy


def empty_like(array: Any, where: View, shape: Tuple[int, ...], dtype: Any = np.uint8) -> Any:
    """Returns a new array of the library that made `array`, in the same memory; a DeviceArray if it is unknown."""
    module = _module_of(array)
    if where.device < 0:
        if module == "torch":
            torch = sys.modules["torch"]
            return torch.empty(shape, dtype=getattr(torch, np.dtype(dtype).name))
        return np.empty(shape, dtype)
    if module == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(where.device):
            return cupy.empty(shape, dtype)
    if module == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, np.dtype(dtype).name), device=array.device)
    return DeviceArray(shape, dtype, where.device)


class Planes:
    """A picture in YUV, as cameras and files have it. `planes` are arrays of rows x samples, of 8 bits, or of 16 bits for
    formats of 10 bits; in NV12 and P010, U and V alternate in the second one. They are new arrays, in the memory of a GPU
    with `device="cuda"`, or those that are given, which are not copied."""

    formats = {"i420": lib.FW_I420, "i422": lib.FW_I422, "i444": lib.FW_I444, "nv12": lib.FW_NV12, "i010": lib.FW_I010,
               "i210": lib.FW_I210, "i410": lib.FW_I410, "p010": lib.FW_P010}
    matrices = ("bt601", "bt709", "bt2020")

    def __init__(self, format: str, width: int, height: int, *, matrix: str = "bt601", full_range: bool = False,
                 siting: int = 0, device: Optional[str] = None, planes: Optional[Sequence[Any]] = None) -> None:
        if format not in self.formats:
            raise ValueError(f"format {format!r}; allowed: {', '.join(self.formats)}")
        if matrix not in self.matrices:
            raise ValueError(f"matrix {matrix!r}; allowed: {', '.join(self.matrices)}")
        self.format, self.width, self.height = format, width, height
        self.matrix, self.full_range, self.siting = matrix, full_range, siting
        self._typestr = "<u2" if format in ("i010", "i210", "i410", "p010") else "|u1"
        self._image = new("fw_image", format=self.formats[format], width=width, height=height,
                          matrix=self.matrices.index(matrix), full_range=int(full_range), siting=siting)
        size = ffi.new("size_t *")
        base = 4096  # an address that is not used: it only tells where planes without gaps begin
        check(lib.fw_image_layout(self._image, ffi.cast("void *", base), size))
        begins = [int(ffi.cast("intptr_t", data)) - base for data in self._image.data if data]
        dtype = np.dtype(self._typestr)
        shapes = [((end - begin) // stride, stride // dtype.itemsize)
                  for begin, end, stride in zip(begins, [*begins[1:], size[0]], self._image.stride)]
        self._is_given, self._device = planes is not None, -1
        if planes is None:
            backend, number = device_number(device)
            if backend == lib.FW_BACKEND_CUDA:
                there = DeviceArray((size[0],), device=number)
                planes = [there._part(begin, shape, dtype) for begin, shape in zip(begins, shapes)]
            else:
                here = np.empty(size[0], np.uint8)
                planes = [here[begin:begin + rows * samples * dtype.itemsize].view(dtype).reshape(rows, samples)
                          for begin, (rows, samples) in zip(begins, shapes)]
        elif len(planes) != len(shapes):
            raise ValueError(f"there are {len(planes)} planes; {format} has {len(shapes)}")
        self.planes = list(planes)
        for plane, shape in enumerate(shapes):
            self._point_to(plane, self._view(plane), shape)

    def _view(self, plane: int, writes: bool = False) -> View:
        return view(self.planes[plane], self._typestr, writes, f"planes[{plane}]")

    def _point_to(self, plane: int, where: View, shape: Tuple[int, ...]) -> None:
        image, strides, bytes_each = self._image, where.strides, int(self._typestr[2])
        if where.shape != shape:
            raise ValueError(f"planes[{plane}] has the shape {where.shape}; {shape} is required")
        if strides is not None and (strides[1] != bytes_each or strides[0] < shape[1] * bytes_each):
            raise ValueError(f"planes[{plane}] has strides {strides}; samples must follow each other within a row, and rows "
                             "must not be mirrored or overlap")
        if plane > 0 and where.device != self._device:
            raise ValueError(f"planes[{plane}] and planes[0] are in different memories")
        self._device = where.device
        image.memory, image.device = (lib.FW_HOST, 0) if where.device < 0 else (lib.FW_DEVICE, where.device)
        image.data[plane] = ffi.cast("void *", where.address)
        image.stride[plane] = strides[0] if strides is not None else shape[1] * bytes_each

    def _where(self) -> View:
        """Returns the memory of the planes, and the stream on which the owner of the first one works."""
        return View(0, (), None, self._device, self._view(0).stream if self._device >= 0 else 0, self)

    def _written(self, stream: int) -> None:
        for plane in self.planes:
            if isinstance(plane, DeviceArray):
                plane.stream = stream

    def to(self, device: str) -> "Planes":
        """Returns a copy in the memory of "cpu", "cuda" or "cuda:N"."""
        backend, number = device_number(device)
        copy = Planes.described(self._image, number if backend == lib.FW_BACKEND_CUDA else -1)
        stream = self._where().stream
        check(lib.fw_image_copy(self._image, copy._image, ffi.cast("void *", stream)))
        copy._written(stream or DEFAULT_STREAM)
        return copy

    @classmethod
    def described(cls, image: Any, device: int = -1) -> "Planes":
        """Returns a new picture with the format and size of an fw_image, on a GPU or, with -1, on the host."""
        name = next(name for name, number in cls.formats.items() if number == image.format)
        return cls(name, image.width, image.height, matrix=cls.matrices[image.matrix], full_range=bool(image.full_range),
                   siting=image.siting, device=None if device < 0 else f"cuda:{device}")


Image = Union[Bytes, DeviceArray, Planes, Any]


class Slot:
    """The fw_image that a handle passes for one of its arguments, kept from call to call."""

    def __init__(self) -> None:
        self.image = new("fw_image")
        self._shape: Optional[Tuple[int, ...]] = None
        self._strides: Optional[Tuple[int, ...]] = None
        self._device = -2
        self._was_planes = False

    def point_to(self, where: View, name: str) -> bool:
        """Makes the image that of an array, and returns true if it has changed by more than its address. Raises ValueError
        if an image cannot have its shape or strides."""
        changed = (where.shape != self._shape or where.strides != self._strides or where.device != self._device
                   or self._was_planes)
        if changed:
            self._describe(where, name)
        self.image.data[0] = ffi.cast("void *", where.address)
        return changed

    def _describe(self, where: View, name: str) -> None:
        shape, strides = where.shape, where.strides
        if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (1, 3)) or 0 in shape:
            raise ValueError(f"{name} has the shape {shape}; rows x columns, rows x columns x 1 (gray) or rows x columns "
                             "x 3 (BGR) is required")
        channels = shape[2] if len(shape) == 3 else 1
        if strides is not None and ((shape[1] > 1 and strides[1] != channels) or (channels > 1 and strides[2] != 1)
                                    or strides[0] < shape[1] * channels and shape[0] > 1):
            raise ValueError(f"{name} has strides {strides}; pixels must follow each other within a row, and rows must not "
                             "be mirrored or overlap: pass numpy.ascontiguousarray(image)")
        image = self.image
        image.format = lib.FW_BGR if channels == 3 else lib.FW_GRAY
        image.height, image.width = shape[0], shape[1]
        image.matrix = image.full_range = image.siting = 0
        image.memory = lib.FW_HOST if where.device < 0 else lib.FW_DEVICE
        image.device = max(where.device, 0)
        image.stride[0] = strides[0] if strides is not None and shape[0] > 1 else shape[1] * channels
        self._shape, self._strides, self._device, self._was_planes = shape, strides, where.device, False

    def point_to_planes(self, planes: Image, name: str, writes: bool = False) -> bool:
        """Makes the image that of a picture in planes, and returns true if it has changed by more than its addresses."""
        if not isinstance(planes, Planes):
            raise TypeError(f"{name} is {type(planes).__name__}; Planes are required")
        if writes and planes._is_given:
            for plane in range(len(planes.planes)):
                planes._view(plane, writes=True)
        before = (self._was_planes, self._device, self.format())
        ffi.memmove(self.image, planes._image, ffi.sizeof("fw_image"))
        self._was_planes, self._device = True, planes._device
        return before != (True, self._device, self.format())

    def format(self) -> Tuple[int, ...]:
        """Returns what a handle is made for."""
        image = self.image
        return (image.format, image.width, image.height, image.matrix, image.full_range, image.siting)


def device_number(device: Optional[str]) -> Tuple[int, int]:
    """Returns backend and number of the GPU for "cpu", "cuda" or "cuda:N"."""
    if device in (None, "cpu"):
        return lib.FW_BACKEND_CPU, 0
    kind, _, number = str(device).partition(":")
    if kind != "cuda" or (number and not number.isdecimal()):
        raise ValueError(f"device {device!r}; allowed: 'cpu', 'cuda' and 'cuda:N'")
    return lib.FW_BACKEND_CUDA, int(number or 0)
