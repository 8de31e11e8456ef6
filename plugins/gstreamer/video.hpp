#pragma once

#include "packed_pixels.hpp"

#include <framewire/framewire.h>
#include <gst/video/video.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Raw video of GStreamer as images of the C interface: formats, caps and frames.

namespace framewire::plugins {

/// A format of raw video, and the image of the C interface that its frames are or become.
struct VideoFormat {
    GstVideoFormat gst;
    fw_format image;
    PackedOrder order;  ///< of pixels that are converted to BGR; `bytes` is 0 if frames are used where they are

    /// Returns true if frames are converted.
    bool is_converted() const { return order.bytes > 0; }
    /// Returns true if an image has brightness and chroma in planes of their own.
    bool is_yuv() const { return image != FW_GRAY && image != FW_BGR; }
};

/// Returns all formats, those that are not converted first.
std::span<const VideoFormat> video_formats();
/// Returns a format, or null if it is not one of video_formats().
const VideoFormat* video_format(GstVideoFormat format);
/// Returns the format of an image that was made of frames of the format `origin`, or of any other image if that is
/// null.
GstVideoFormat format_of_image(const fw_image& image, const VideoFormat* origin);

/// Largest width and height of images.
inline constexpr int most_side_px = 16384;

/// Adds an always present pad to a class, whose video has any rate, any size that
/// images can have, and one of the formats that `accept`
/// returns true for.
void add_pad_template(GstElementClass* element, GstPadDirection direction, bool (*accept)(const VideoFormat&));

/// Describes the frames of `info` as an image without memory; empty if that is impossible, with the reason in
/// `problem`.
std::optional<fw_image> image_of(const GstVideoInfo& info, std::string& problem);
/// Stores format, size and colours of an image in `info`, whose other members are set to their defaults.
bool info_of(const fw_image& image, GstVideoInfo& info);

/// The images of frames of one format. Converted ones have memory here, others are the frame itself.
class FrameImage {
public:
    FrameImage() = default;
    FrameImage(const VideoFormat& format, const fw_image& image);

    /// Returns a mapped frame as an image, which is valid as long as the frame is mapped.
    const fw_image& read(const GstVideoFrame& frame);
    /// Returns an image for the contents of a mapped frame.
    const fw_image& begin_write(const GstVideoFrame& frame);
    /// Copies what was written to the frame, unless it was written there. `alpha` is null, or a frame of the same
    /// format and size from which alpha is taken; otherwise pixels are opaque.
    void end_write(GstVideoFrame& frame, const GstVideoFrame* alpha);

private:
    const fw_image& planes_of(const GstVideoFrame& frame);
    ImageSize size() const { return {image_.width, image_.height}; }

    const VideoFormat* format_ = nullptr;
    fw_image image_{};
    std::vector<std::uint8_t> bgr_;
};

/// A mapped frame of a buffer, unmapped at the end of its life.
class MappedFrame {
public:
    MappedFrame(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags)
        : is_mapped_(gst_video_frame_map(&frame_, &info, buffer, flags)) {}
    ~MappedFrame() {
        if (is_mapped_) gst_video_frame_unmap(&frame_);
    }
    MappedFrame(const MappedFrame&) = delete;

    /// Returns false if the memory cannot be mapped.
    explicit operator bool() const { return is_mapped_; }
    /// Returns the frame.
    GstVideoFrame& operator*() { return frame_; }

private:
    GstVideoFrame frame_;
    bool is_mapped_;
};

/// Returns the type of the property `backend`: auto, cpu or cuda, with the values of fw_backend.
GType backend_type();

/// Installs the properties `backend` and `device`, with two consecutive numbers.
void install_backend_properties(GObjectClass* object, guint first);

/// Flags of properties that can be changed in the states NULL and READY, and in all states.
inline constexpr auto changed_when_ready =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
inline constexpr auto changed_any_time =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);

}  // namespace framewire::plugins
