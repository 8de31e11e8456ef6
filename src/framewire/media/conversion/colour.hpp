#pragma once

#include "framewire/colour/yuv.hpp"
#include "framewire/core/view.hpp"
#include "framewire/media/conversion/libav.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

struct SwsContext;

namespace framewire {

/// What an untagged picture is taken for: BT.601 below 720 rows and BT.709 from there on, limited range.
YuvCoding assumed_coding(int height);

/// The coding of a frame by its own tags. What they leave open is assumed by size, and `assumed` set to what was;
/// it stays empty when nothing was, and for RGB. YUVJ formats and gray are of full range unless tagged otherwise.
YuvCoding coding_of(const AVFrame& frame, std::string& assumed);

/// What a frame is that framewire::colour converts, of `coding`; nothing for others: rarer formats, RGB.
std::optional<YuvInfo> yuv_info(const AVFrame& frame, const YuvCoding& coding);

/// A frame as a picture that framewire::colour takes; nothing for other formats, and rows from the bottom up.
std::optional<HostYuv<const std::uint8_t>> planes_of(const AVFrame& frame, const YuvCoding& coding);

/// What PictureConverter::to_frame() makes of images by ImageToYuv, by the frame's own tags; nothing where it does
/// otherwise.
std::optional<YuvInfo> planes_made_for(const AVFrame& frame);

/// Writes the tags of `coding` to a frame.
void tag(AVFrame& frame, const YuvCoding& coding);

/// True for formats of brightness alone: gray of any depth, with or without alpha, and black and white.
bool is_gray(AVPixelFormat format);

/// Converts between FFmpeg's pictures and framewire's images: planar YUV, gray, NV12, P010 and BGR by the loops of
/// framewire::colour, on all cores; rarer formats, and pictures of another size than the image's, by libswscale, whose
/// tables are kept while the formats stay the same.
class PictureConverter {
public:
    PictureConverter();
    ~PictureConverter();
    PictureConverter(PictureConverter&&) noexcept;
    PictureConverter& operator=(PictureConverter&&) noexcept;

    /// Fills `image` (1 frame; 1 channel takes the brightness) from `frame`, scaled where the sizes differ;
    /// transparency lies on black (lay_on_black()). Our loops are exact to 1 of 255. libswscale is to 2, for all
    /// colours that are up to twice as bright as white; beyond, where no picture made from colours comes, its numbers
    /// overflow. Throws Error{no_input} on a pixel format that cannot be converted.
    void to_image(const AVFrame& frame, const YuvCoding& coding, HostView<std::uint8_t> image);

    /// Fills `frame`, which has memory for a format and the size of `image`, by the frame's own colour tags.
    void to_frame(HostView<const std::uint8_t> image, AVFrame& frame);

private:
    struct Side;
    void scale_to_image(const AVFrame& frame, const YuvCoding& coding, HostView<std::uint8_t> image);
    void scale_to_frame(HostView<const std::uint8_t> image, AVFrame& frame, const YuvCoding& coding);
    void prepare(const Side& from, const Side& to);
    void scale(const AVFrame& from, std::uint8_t* const planes[4], const int strides_bytes[4]);

    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire
