"""The loaded library, and what all handles share."""
from __future__ import annotations

import os
import threading
from types import TracebackType
from typing import Any, Callable, Optional, Type, TypeVar

from framewire._cffi import ffi as ffi


def _load() -> Any:
    bundled = os.path.join(os.path.dirname(__file__), "lib", "libframewire.so.0")
    path = os.environ.get("FRAMEWIRE_LIBRARY") or (bundled if os.path.exists(bundled) else "libframewire.so.0")
    try:
        return ffi.dlopen(path)
    except OSError as error:
        raise ImportError(f"framewire's library cannot be loaded: {error}; FRAMEWIRE_LIBRARY names it") from None


lib = _load()


class Error(Exception):
    """An error of the library. `status` is its fw_status, and the message says what is wrong, where, and what is allowed."""

    status: int = 0


class ArgumentError(Error, ValueError):
    """An argument, or a part of a text, is not allowed."""

    status = lib.FW_ERROR_ARGUMENT


class NoInputError(Error):
    """The source or server does not exist, or is not a video."""

    status = lib.FW_ERROR_NO_INPUT


class SourceLostError(Error):
    """The source ended too early: truncated, broken or disconnected."""

    status = lib.FW_ERROR_SOURCE_LOST


class InternalError(Error):
    """A bug in framewire."""

    status = lib.FW_ERROR_INTERNAL


class WriteError(Error):
    """Writing failed."""

    status = lib.FW_ERROR_IO


class UnavailableError(Error, RuntimeError):
    """This machine or build cannot do it: no GPU, too little memory, no such codec."""

    status = lib.FW_ERROR_UNAVAILABLE


_errors = {kind.status: kind for kind in
           (ArgumentError, NoInputError, SourceLostError, InternalError, WriteError, UnavailableError)}


def text_of(pointer: Any) -> str:
    """Returns the text at a `const char *`."""
    return bytes(ffi.string(pointer)).decode("utf-8", "replace")


def check(status: int) -> bool:
    """Returns True for FW_OK and False for FW_END; raises the exception of an error."""
    if status == 0:
        return True
    if status == lib.FW_END:
        return False
    raise _errors.get(status, Error)(text_of(lib.fw_last_error()))


def new(kind: str, **members: Any) -> Any:
    """Returns a new struct with its size and these members set, all others 0."""
    struct = ffi.new(kind + " *")
    struct.size = ffi.sizeof(kind)
    for name, value in members.items():
        setattr(struct, name, value)
    return struct


def encoded(text: Any, name: str) -> bytes:
    """Returns a text argument as the library takes it."""
    if not isinstance(text, (str, os.PathLike)):
        raise TypeError(f"{name} is {type(text).__name__}; a str is required")
    data = os.fsencode(text)
    if b"\0" in data:
        raise ValueError(f"{name} contains a null character")
    return data


Self = TypeVar("Self", bound="Closable")


class Closable:
    """Base of objects that own a handle of the library. Several threads may use one: they take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handle: Any = None

    def _own(self, create: Callable[[Any], Any], kind: str, destroy: Any) -> None:
        """Replaces the handle by the one that create(pointer) stores."""
        pointer = ffi.new(kind + " **")
        check(create(pointer))
        self._handle = ffi.gc(pointer[0], destroy)

    def _opened(self) -> Any:
        """Returns the handle of an object that is open."""
        if self._handle is None:
            raise ValueError(f"the {type(self).__name__} is closed")
        return self._handle

    def _release(self) -> None:
        if self._handle is not None:
            ffi.release(self._handle)
            self._handle = None

    def close(self) -> None:
        """Frees everything that belongs to the object."""
        with self._lock:
            self._release()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def version() -> str:
    """Returns the version of the library, such as "0.1.0"."""
    return text_of(lib.fw_version())


def device_count() -> int:
    """Returns the number of GPUs that the library can use."""
    return int(lib.fw_device_count())


def filters_json() -> str:
    """Returns a JSON array that describes all filters: names, parameters, ranges and defaults."""
    return text_of(lib.fw_filters_json())


_levels = {"debug": lib.FW_LOG_DEBUG, "info": lib.FW_LOG_INFO, "warning": lib.FW_LOG_WARNING, "error": lib.FW_LOG_ERROR,
           "off": lib.FW_LOG_OFF}


def set_log_level(level: str) -> None:
    """Sends log lines of this process from `level` on to standard error: debug, info, warning (the default), error, off."""
    if level not in _levels:
        raise ValueError(f"log level {level!r}; allowed: {', '.join(_levels)}")
    check(lib.fw_set_log(_levels[level], ffi.NULL, ffi.NULL))
