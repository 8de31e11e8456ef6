"""DLPack capsules (https://dmlc.github.io/dlpack/latest), read and made through Python's C interface."""
from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
UINT, FLOAT = 1, 2


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("number", ctypes.c_int)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", _Device), ("dimensions", ctypes.c_int), ("dtype", _DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _ManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_ManagedTensor))
_ManagedTensor._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]

_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_python.PyCapsule_IsValid.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_python.PyCapsule_SetName.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_new, _used = b"dltensor", b"used_dltensor"

# Tensors that other libraries hold: their memory by the address of the tensor.
_lent: Dict[int, Tuple[Any, ...]] = {}


def _returned(tensor: Any) -> None:
    _lent.pop(ctypes.addressof(tensor.contents), None)


def _discarded(capsule: int) -> None:
    if _python.PyCapsule_IsValid(capsule, _new):  # nobody took the tensor
        _lent.pop(_python.PyCapsule_GetPointer(capsule, _new), None)


_give_back, _discard = _Deleter(_returned), _Destructor(_discarded)


def lend(owner: Any, address: int, shape: Tuple[int, ...], code: int, bits: int, device: int) -> Any:
    """Returns a capsule of memory of a GPU, without gaps. `owner` lives until its user gives it back."""
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    managed = _ManagedTensor()
    managed.tensor.data = address
    managed.tensor.device = _Device(CUDA, device)
    managed.tensor.dimensions = len(shape)
    managed.tensor.dtype = _DataType(code, bits, 1)
    managed.tensor.shape = ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64))
    managed.deleter = _give_back
    _lent[ctypes.addressof(managed)] = (owner, sizes, managed)
    return _python.PyCapsule_New(ctypes.addressof(managed), _new, _discard)


class Borrowed(NamedTuple):
    """A tensor of another library. `keep` keeps it alive."""

    address: int
    shape: Tuple[int, ...]
    strides: Optional[Tuple[int, ...]]  # in bytes; None: no gaps
    code: int
    bits: int
    kind: int
    device: int
    keep: Any


class _Keep:
    """Calls the deleter of a tensor when it is no longer used."""

    def __init__(self, managed: Any) -> None:
        self._managed = managed

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing() and self._managed.contents.deleter:
            self._managed.contents.deleter(self._managed)


def borrow(capsule: Any) -> Borrowed:
    """Takes the tensor of a capsule. Raises ValueError if it was taken before."""
    identity = id(capsule)  # the address of the object, in CPython
    if not _python.PyCapsule_IsValid(identity, _new):
        raise ValueError("the DLPack capsule holds no tensor, or was used before")
    managed = ctypes.cast(_python.PyCapsule_GetPointer(identity, _new), ctypes.POINTER(_ManagedTensor))
    _python.PyCapsule_SetName(identity, _used)
    keep = _Keep(managed)
    tensor = managed.contents.tensor
    size = tensor.dtype.bits // 8
    shape: List[int] = [tensor.shape[i] for i in range(tensor.dimensions)]
    strides = tuple(tensor.strides[i] * size for i in range(tensor.dimensions)) if tensor.strides else None
    return Borrowed((tensor.data or 0) + tensor.byte_offset, tuple(shape), strides, tensor.dtype.code,
                    tensor.dtype.bits * tensor.dtype.lanes, tensor.device.type, tensor.device.number, keep)
