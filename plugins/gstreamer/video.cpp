#include "gstreamer/video.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace framewire::plugins {
namespace {

static_assert(G_BYTE_ORDER == G_LITTLE_ENDIAN);  // as the samples of 10 bits below
constexpr PackedOrder as_it_is{0, 0, 0, 0, 0};
constexpr std::array formats{
    VideoFormat{GST_VIDEO_FORMAT_I420, FW_I420, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_NV12, FW_NV12, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_Y42B, FW_I422, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_Y444, FW_I444, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_BGR, FW_BGR, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_GRAY8, FW_GRAY, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_I420_10LE, FW_I010, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_P010_10LE, FW_P010, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_I422_10LE, FW_I210, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_Y444_10LE, FW_I410, as_it_is},
    VideoFormat{GST_VIDEO_FORMAT_RGB, FW_BGR, order_rgb},
    VideoFormat{GST_VIDEO_FORMAT_BGRx, FW_BGR, order_bgra},
    VideoFormat{GST_VIDEO_FORMAT_RGBx, FW_BGR, order_rgba},
    VideoFormat{GST_VIDEO_FORMAT_xRGB, FW_BGR, order_argb},
    VideoFormat{GST_VIDEO_FORMAT_xBGR, FW_BGR, order_abgr},
    VideoFormat{GST_VIDEO_FORMAT_BGRA, FW_BGR, order_bgra},
    VideoFormat{GST_VIDEO_FORMAT_RGBA, FW_BGR, order_rgba},
    VideoFormat{GST_VIDEO_FORMAT_ARGB, FW_BGR, order_argb},
    VideoFormat{GST_VIDEO_FORMAT_ABGR, FW_BGR, order_abgr},
};

std::optional<fw_matrix> matrix_of(GstVideoColorMatrix matrix) {
    switch (matrix) {
        case GST_VIDEO_COLOR_MATRIX_BT601: return FW_BT601;
        case GST_VIDEO_COLOR_MATRIX_BT709: return FW_BT709;
        case GST_VIDEO_COLOR_MATRIX_BT2020: return FW_BT2020;
        default: return {};
    }
}

int siting_of(GstVideoChromaSite site) {
    if (site & GST_VIDEO_CHROMA_SITE_NONE) return FW_SITING_CENTRE;
    const bool left = site & GST_VIDEO_CHROMA_SITE_H_COSITED, top = site & GST_VIDEO_CHROMA_SITE_V_COSITED;
    if (!left && !top) return FW_SITING_LEFT;  // unknown: as in MPEG-2
    return (left ? FW_SITING_LEFT : FW_SITING_CENTRE) | (top ? FW_SITING_TOP_LEFT : 0);
}

// GStreamer has no name for mirrored chroma, which is half a pixel away from where its caps say then.
GstVideoChromaSite site_of(int siting) {
    const int site = (siting & FW_SITING_CENTRE ? 0 : GST_VIDEO_CHROMA_SITE_H_COSITED) |
                     (siting & FW_SITING_TOP_LEFT ? GST_VIDEO_CHROMA_SITE_V_COSITED : 0);
    return static_cast<GstVideoChromaSite>(site ? site : GST_VIDEO_CHROMA_SITE_NONE);
}

Pixels<const std::uint8_t> pixels_of(const GstVideoFrame& frame) {
    return {static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)),
            GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0)};
}

}  // namespace

std::span<const VideoFormat> video_formats() { return formats; }

const VideoFormat* video_format(GstVideoFormat format) {
    const auto found = std::ranges::find(formats, format, &VideoFormat::gst);
    return found == formats.end() ? nullptr : &*found;
}

GstVideoFormat format_of_image(const fw_image& image, const VideoFormat* origin) {
    if (image.format == FW_BGR && origin && origin->is_converted()) return origin->gst;
    const auto found = std::ranges::find_if(
        formats, [&](const auto& format) { return format.image == image.format && !format.is_converted(); });
    return found == formats.end() ? GST_VIDEO_FORMAT_UNKNOWN : found->gst;
}

void add_pad_template(GstElementClass* element, GstPadDirection direction, bool (*accept)(const VideoFormat&)) {
    std::vector<GstVideoFormat> accepted;
    for (const auto& format : formats)
        if (accept(format)) accepted.push_back(format.gst);
    auto* caps = gst_video_make_raw_caps(accepted.data(), static_cast<guint>(accepted.size()));
    gst_caps_set_simple(caps, "width", GST_TYPE_INT_RANGE, 1, most_side_px, "height", GST_TYPE_INT_RANGE, 1,
                        most_side_px, nullptr);
    gst_element_class_add_pad_template(
        element, gst_pad_template_new(direction == GST_PAD_SINK ? "sink" : "src", direction, GST_PAD_ALWAYS, caps));
    gst_caps_unref(caps);
}

std::optional<fw_image> image_of(const GstVideoInfo& info, std::string& problem) {
    const auto* format = video_format(GST_VIDEO_INFO_FORMAT(&info));
    if (!format) {
        problem =
            std::string("the format ") + gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)) + " is not supported";
        return {};
    }
    if (GST_VIDEO_INFO_IS_INTERLACED(&info)) {
        problem = "the video is interlaced; put the element deinterlace before this one";
        return {};
    }
    fw_image image{};
    image.size = sizeof image;
    image.format = format->image;
    image.width = GST_VIDEO_INFO_WIDTH(&info);
    image.height = GST_VIDEO_INFO_HEIGHT(&info);
    if (!format->is_yuv()) return image;
    const auto matrix = matrix_of(info.colorimetry.matrix);
    if (!matrix) {
        problem =
            "the colour matrix of the video is not supported; allowed: bt601, bt709, bt2020. "
            "The element videoconvert changes it";
        return {};
    }
    image.matrix = *matrix;
    image.full_range = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
    if (format->image != FW_I444 && format->image != FW_I410)
        image.siting = siting_of(GST_VIDEO_INFO_CHROMA_SITE(&info));
    return image;
}

bool info_of(const fw_image& image, GstVideoInfo& info) {
    const auto format = format_of_image(image, nullptr);
    if (format == GST_VIDEO_FORMAT_UNKNOWN ||
        !gst_video_info_set_format(&info, format, static_cast<guint>(image.width), static_cast<guint>(image.height)))
        return false;
    if (!video_format(format)->is_yuv()) return true;
    constexpr std::array names{GST_VIDEO_COLORIMETRY_BT601, GST_VIDEO_COLORIMETRY_BT709, GST_VIDEO_COLORIMETRY_BT2020};
    gst_video_colorimetry_from_string(&info.colorimetry, names[static_cast<size_t>(image.matrix)]);
    info.colorimetry.range = image.full_range ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
    if (image.format != FW_I444 && image.format != FW_I410) GST_VIDEO_INFO_CHROMA_SITE(&info) = site_of(image.siting);
    return true;
}

FrameImage::FrameImage(const VideoFormat& format, const fw_image& image) : format_(&format), image_(image) {
    std::fill(std::begin(image_.stride), std::end(image_.stride), 0);
    if (!format.is_converted()) return;
    bgr_.resize(static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
    image_.data[0] = bgr_.data();
}

const fw_image& FrameImage::planes_of(const GstVideoFrame& frame) {
    for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&frame); ++plane) {
        image_.data[plane] = GST_VIDEO_FRAME_PLANE_DATA(&frame, plane);
        image_.stride[plane] = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
    }
    return image_;
}

const fw_image& FrameImage::read(const GstVideoFrame& frame) {
    if (!format_->is_converted()) return planes_of(frame);
    to_bgr(format_->order, size(), pixels_of(frame), {bgr_.data(), 3 * image_.width});
    return image_;
}

const fw_image& FrameImage::begin_write(const GstVideoFrame& frame) {
    return format_->is_converted() ? image_ : planes_of(frame);
}

void FrameImage::end_write(GstVideoFrame& frame, const GstVideoFrame* alpha) {
    if (!format_->is_converted()) return;
    const auto to = pixels_of(frame);
    from_bgr(format_->order, size(), {bgr_.data(), 3 * image_.width}, {const_cast<std::uint8_t*>(to.data), to.stride},
             alpha ? pixels_of(*alpha) : Pixels<const std::uint8_t>{nullptr, 0});
}

GType backend_type() {
    static const GType type = [] {
        static const GEnumValue values[] = {
            {FW_BACKEND_AUTO, "A GPU if there is one, otherwise the CPU", "auto"},
            {FW_BACKEND_CPU, "The CPU", "cpu"},
            {FW_BACKEND_CUDA, "A GPU; an error without one", "cuda"},
            {0, nullptr, nullptr},
        };
        return g_enum_register_static("FramewireBackend", values);
    }();
    return type;
}

void install_backend_properties(GObjectClass* object, guint first) {
    g_object_class_install_property(
        object, first,
        g_param_spec_enum("backend", "Backend", "Processor that does the work; results do not depend on it",
                          backend_type(), FW_BACKEND_AUTO, changed_when_ready));
    g_object_class_install_property(
        object, first + 1, g_param_spec_int("device", "Device", "Number of the GPU", 0, 1023, 0, changed_when_ready));
}

}  // namespace framewire::plugins
