#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/view.hpp"
#include "framewire/plan/device_picture.hpp"
#include "framewire/plan/source.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

// Owning pointers for libavutil's frames. ffmpeg/libav.hpp has the types that need FFmpeg's other libraries.

extern "C" {
#include <libavutil/frame.h>
}

#include <memory>

namespace framewire {

/// Deleter for AVFrame.
struct FreeFrame {
    void operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }
};
/// Owned AVFrame.
using FramePointer = std::unique_ptr<AVFrame, FreeFrame>;

/// Allocates a frame without a picture. Throws Error{config} if memory is exhausted.
inline FramePointer make_frame() {
    FramePointer frame(av_frame_alloc());
    if (!frame) fail(ErrorCode::config, "not enough memory for a frame");
    return frame;
}

/// Allocates a frame with memory for its picture; rows are padded as FFmpeg's functions require. Throws Error{config}
/// if memory is exhausted.
inline FramePointer make_frame(AVPixelFormat format, int width, int height) {
    auto frame = make_frame();
    frame->format = format;
    frame->width = width;
    frame->height = height;
    if (av_frame_get_buffer(frame.get(), 0) < 0)
        fail(ErrorCode::config, "not enough memory for a picture of {}x{}", width, height);
    return frame;
}

}  // namespace framewire

struct SwsContext;

namespace framewire {

/// Returns the coding that is assumed for an untagged picture: limited range, BT.601 below 720 rows and BT.709 from 720
/// rows.
YuvCoding assumed_coding(int height);

/// Returns the coding of a frame according to its tags. Properties without a tag are assumed from the size and
/// described in `assumed`, which stays empty for RGB and for frames with all tags. YUVJ formats and gray have full
/// range unless tagged otherwise.
YuvCoding coding_of(const AVFrame& frame, std::string& assumed);

/// Describes a frame of `coding` for framewire::colour; nullopt for formats that it does not convert, such as RGB.
std::optional<YuvInfo> yuv_info(const AVFrame& frame, const YuvCoding& coding);

/// Returns a view of a frame's planes for framewire::colour, valid as long as the frame; nullopt for other formats and
/// for rows stored bottom-up.
std::optional<HostYuv<const std::uint8_t>> planes_of(const AVFrame& frame, const YuvCoding& coding);

/// Describes the planes that PictureConverter::to_frame() produces for this frame with ImageToYuv, according to the
/// frame's tags; nullopt if to_frame() uses another path.
std::optional<YuvInfo> planes_made_for(const AVFrame& frame);

/// Writes the colour tags of `coding` to a frame.
void tag(AVFrame& frame, const YuvCoding& coding);

/// Returns true for luma-only formats: gray at any depth, with or without alpha, and 1-bit black and white.
bool is_gray(AVPixelFormat format);

/// Converts between FFmpeg's pictures and framewire's images. Planar YUV, gray, NV12, P010 and BGR use
/// framewire::colour on all cores. Rarer formats, and pictures whose size differs from the image's, use libswscale;
/// its context is reused while the formats stay the same. Use an object from one thread.
class PictureConverter {
public:
    PictureConverter();
    ~PictureConverter();
    PictureConverter(PictureConverter&&) noexcept;
    PictureConverter& operator=(PictureConverter&&) noexcept;

    /// Fills `image` (1 frame; 1 channel takes the luma) from `frame`, scaled if the sizes differ; transparent pixels
    /// are composited on black (lay_on_black()). framewire's own loops are exact to within 1 of 255. libswscale is
    /// exact to within 2 for all colours up to twice as bright as white. Its arithmetic overflows for brighter YUV
    /// values, which do not result from any RGB colour. Throws Error{no_input} if the pixel format cannot be converted.
    void to_image(const AVFrame& frame, const YuvCoding& coding, HostView<std::uint8_t> image);

    /// Fills `frame`, which must have a format, memory and the size of `image`, according to the frame's own colour
    /// tags.
    void to_frame(HostView<const std::uint8_t> image, AVFrame& frame);

private:
    // Format, size and coding of one side of a libswscale conversion.
    struct Side;
    // Converts with libswscale.
    void scale_to_image(const AVFrame& frame, const YuvCoding& coding, HostView<std::uint8_t> image);
    void scale_to_frame(HostView<const std::uint8_t> image, AVFrame& frame, const YuvCoding& coding);
    // Creates the libswscale context for a conversion.
    void prepare(const Side& from, const Side& to);
    void scale(const AVFrame& from, std::uint8_t* const planes[4], const int strides_bytes[4]);

    struct State;
    std::unique_ptr<State> state_;
};

/// Picture that a GPU decoded, with the pool that owns its memory.
struct GpuPicture {
    std::shared_ptr<const DevicePicture> picture;
    DevicePicturePool pool;
};

/// Makes `frame`, which keeps its size and properties, stand for a picture in GPU memory: it then has the pixel format
/// of its planes, but no samples that the host can read. Throws Error{config} if memory is exhausted.
void set_gpu_picture(AVFrame& frame, AVPixelFormat format, GpuPicture picture);

/// Returns the picture in GPU memory for which `frame` stands; null if the frame has samples of its own. Valid as long
/// as the frame.
const GpuPicture* gpu_picture(const AVFrame& frame);

/// Returns a copy in host memory of a frame that stands for a picture in GPU memory. Throws Error{config} if memory is
/// exhausted.
FramePointer download(const AVFrame& frame);

/// Native frame in FFmpeg's representation.
class DecodedPicture final : public NativeFrame {
public:
    /// Takes ownership of `frame`; `coding` is the user's choice or follows from the frame's tags.
    DecodedPicture(FramePointer frame, const YuvCoding& coding) : frame_(std::move(frame)), coding_(coding) {}

    /// Returns the decoded frame, in host memory. The first call downloads a picture from the GPU.
    const AVFrame& frame() const;

    /// Converts to BGR or gray; see PictureConverter::to_image().
    void to_image(HostView<std::uint8_t> image) const override;
    /// Returns the planes, for formats that framewire::colour converts.
    std::optional<HostYuv<const std::uint8_t>> planes() const override { return planes_of(frame(), coding_); }
    std::optional<PictureOnGpu> on_gpu() const override;
    bool fill_on_gpu(Frame& frame) const override;

private:
    FramePointer frame_;
    YuvCoding coding_;
    mutable std::once_flag downloads_;
    mutable FramePointer downloaded_;  // set once, if the picture is on the GPU
};

}  // namespace framewire
