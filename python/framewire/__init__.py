"""framewire: filters, detection, descriptors, a difference codec, sources and viewers of video, for arrays of NumPy, CuPy,
PyTorch and others. docs/python.md is a tutorial."""
from framewire._arrays import DeviceArray, Planes
from framewire._chain import Chain, Time
from framewire._codec import Decoder, Encoder
from framewire._detect import Box, Detector, Track, Tracker
from framewire._hog import Hog, People, Person
from framewire._library import (ArgumentError, Error, InternalError, NoInputError, SourceLostError, UnavailableError,
                                WriteError, device_count, filters_json, set_log_level, version)
from framewire._media import Sink, Source, Viewer

for _public in (ArgumentError, Box, Chain, Decoder, Detector, DeviceArray, Encoder, Error, Hog, InternalError, NoInputError,
                People, Person, Planes, Sink, Source, SourceLostError, Time, Track, Tracker, UnavailableError, Viewer,
                WriteError):
    _public.__module__ = __name__  # for messages and help()

__version__ = version()
__all__ = ["ArgumentError", "Box", "Chain", "Decoder", "Detector", "DeviceArray", "Encoder", "Error", "Hog",
           "InternalError", "NoInputError", "People", "Person", "Planes", "Sink", "Source", "SourceLostError", "Time",
           "Track", "Tracker", "UnavailableError", "Viewer", "WriteError", "device_count", "filters_json",
           "set_log_level", "version"]
