#include "framewire/media/conversion/decoded_picture.hpp"

#include "framewire/colour/image_to_yuv/image_to_yuv.hpp"
#include "framewire/filters/geometry/pixel_moves.hpp"
#include "framewire/media/threads.hpp"

#include <array>
#include <optional>

namespace framewire {
namespace {

// One axis of a move. Samples stand for `each` pixels.
struct AxisMove {
    int first, step;  // in the image, of the result's first pixel
    int from, to;     // sides
};

// The same of a plane's samples; nothing where they would come to lie between the result's.
std::optional<AxisMove> of_samples(const AxisMove& axis, int each, bool centred) {
    if (each == 1) return axis;
    if (axis.from % each != 0 || axis.to % each != 0) return std::nullopt;
    if (axis.step > 0) {
        if (axis.first % each != 0) return std::nullopt;
        return AxisMove{axis.first / each, 1, axis.from / each, axis.to / each};
    }
    if (!centred || (axis.first + 1) % each != 0) return std::nullopt;
    return AxisMove{(axis.first + 1) / each - 1, -1, axis.from / each, axis.to / each};
}

// The same of a plane; nothing where it cannot be.
std::optional<PixelMove> of_plane(const PixelMove& move, const YuvInfo& info, int plane) {
    const bool chroma = plane > 0;
    const int each_x = chroma && info.format.chroma != ChromaSampling::s444 ? 2 : 1;
    const int each_y = chroma && info.format.chroma == ChromaSampling::s420 ? 2 : 1;
    const auto& map = move.map;
    if (map.transposed && info.format.chroma != ChromaSampling::s444) return std::nullopt;
    const auto x = of_samples({map.x, map.step_x, info.width, move.to.width}, each_x, info.siting.centred_x);
    const auto y = of_samples({map.y, map.step_y, info.height, move.to.height}, each_y, info.siting.centred_y);
    if (!x || !y) return std::nullopt;
    return PixelMove{.map = {x->first, y->first, x->step, y->step, map.transposed}, .to = {1, y->to, x->to, 1}};
}

// A colour in the picture's own numbers.
std::array<std::uint8_t, 3> yuv_of(Pixel colour, const YuvCoding& coding) {
    std::array<std::uint8_t, 3> bgr, yuv;
    store_pixel(colour, 3, bgr.data());
    const YuvInfo info{yuv_444, coding, {}, 1, 1, 1};
    ImageToYuv(info, 3, media_threads())
        .run(HostView<const std::uint8_t>(bgr.data(), {1, 1, 1, 3}), HostYuv<std::uint8_t>(yuv.data(), info));
    return yuv;
}

}  // namespace

void DecodedPicture::to_image(HostView<std::uint8_t> image) const {
    PictureConverter().to_image(*frame_, coding_, image);
}

std::shared_ptr<const OwnPicture> DecodedPicture::moved(const PixelMove& move, Executor& executor) const {
    const auto info = yuv_info(*frame_, coding_);
    if (!info || info->format.bits != 8 || info->format.interleaved) return nullptr;
    std::array<PixelMove, 3> moves;
    const auto outside = yuv_of(move.outside, coding_);
    for (int plane = 0; plane < info->planes(); ++plane) {
        const auto at = static_cast<std::size_t>(plane);
        const auto own = of_plane(move, *info, plane);
        if (!own || frame_->linesize[plane] < info->plane_row_bytes(plane)) return nullptr;
        moves[at] = *own;
        moves[at].outside = gray_pixel(outside[at]);
    }
    auto to = make_frame(static_cast<AVPixelFormat>(frame_->format), move.to.width, move.to.height);
    if (av_frame_copy_props(to.get(), frame_.get()) < 0) fail(ErrorCode::config, "no memory for a picture");
    for (int plane = 0; plane < info->planes(); ++plane) {
        const auto& own = moves[static_cast<std::size_t>(plane)];
        const Shape from{1, info->plane_rows(plane), static_cast<int>(info->plane_row_bytes(plane)), 1};
        const std::int64_t from_stride = frame_->linesize[plane], to_stride = to->linesize[plane];
        const HostView<const std::uint8_t> in(frame_->data[plane], from, from_stride, from_stride * from.height);
        const HostView<std::uint8_t> out(to->data[plane], own.to, to_stride, to_stride * own.to.height);
        PixelMoves(own.map, own.outside, from, own.to, executor).run(FilterImages<MemorySpace::host>{in, {}, out});
    }
    return std::make_shared<const DecodedPicture>(std::move(to), coding_);
}

}  // namespace framewire
