#pragma once

#include "framewire/media/media.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framewire {

/// A video file (.mp4, .mkv, .avi), HLS (.m3u8) or an address on the network as a Sink. Throws as open_sink() does.
std::unique_ptr<Sink> open_ffmpeg_sink(const std::string& text, const Shape& frame, Rational rate,
                                       const SinkOptions& options);

/// One image as the bytes of a JPEG file, 4:4:4.
std::vector<std::uint8_t> encode_jpeg(HostView<const std::uint8_t> image);

}  // namespace framewire
