// Native frames that are moved without decoding to BGR: a crop or mirrored picture can be written to a sink with the
// same format without any conversion loss.

#include "framewire/media/conversion/decoded_picture.hpp"

#include "framewire/filters/geometry/pixel_moves.hpp"
#include "framewire/pipeline/planes/plane_move_of.hpp"

#include <array>

namespace framewire {
void DecodedPicture::to_image(HostView<std::uint8_t> image) const {
    PictureConverter().to_image(*frame_, coding_, image);
}

// Moves each plane on its own: plane_move_of() converts the move of pixels to one of the plane's samples, or returns
// nullopt if samples would not stay on the sample grid.
std::shared_ptr<const OwnPicture> DecodedPicture::moved(const PixelMove& move, Executor& executor) const {
    const auto info = yuv_info(*frame_, coding_);
    if (!info || info->format.bits != 8 || info->format.interleaved) return nullptr;
    std::array<PixelMove, 3> moves;
    const auto outside = yuv_of(move.outside, coding_, executor.pool());
    for (int plane = 0; plane < info->planes(); ++plane) {
        const auto at = static_cast<std::size_t>(plane);
        const auto own = plane_move_of(move, *info, plane);
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
