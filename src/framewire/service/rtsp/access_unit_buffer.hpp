#pragma once

#include "framewire/media/live_video.hpp"
#include "framewire/service/rtsp/glib_pointers.hpp"

#include <gst/gst.h>

#include <cstdint>
#include <memory>

namespace framewire::service {

/// Owns a reference to capabilities.
using CapsPointer = std::unique_ptr<GstCaps, ReleasedBy<gst_caps_unref>>;

/// Returns a buffer that shares ownership of the `bytes` of an access unit or a packet of sound.
template <class Unit>
GstBuffer* buffer_of(const std::shared_ptr<const Unit>& unit) {
    auto* bytes = const_cast<char*>(unit->bytes.data());
    return gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, bytes, unit->bytes.size(), 0, unit->bytes.size(),
                                       Shared<const Unit>::make(unit), Shared<const Unit>::release);
}

/// Returns a time in ticks of video_clock_hz as GStreamer's.
inline GstClockTime time_of(std::int64_t ticks) {
    return gst_util_uint64_scale(static_cast<guint64>(ticks), GST_SECOND, video_clock_hz);
}

/// Returns the capabilities of access units.
inline CapsPointer caps_of(const VideoFormat& format) {
    return CapsPointer(gst_caps_new_simple("video/x-h264", "stream-format", G_TYPE_STRING, "byte-stream", "alignment",
                                           G_TYPE_STRING, "au", "width", G_TYPE_INT, format.width, "height", G_TYPE_INT,
                                           format.height, nullptr));
}

}  // namespace framewire::service
