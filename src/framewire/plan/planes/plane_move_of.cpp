#include "framewire/plan/planes/plane_move_of.hpp"
#include "framewire/colour/image_to_yuv.hpp"

#include <utility>

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

}  // namespace

std::optional<PixelMove> plane_move_of(const PixelMove& move, const YuvInfo& info, int plane) {
    const bool chroma = plane > 0;
    const int each_x = chroma && info.format.chroma != ChromaSampling::s444 ? 2 : 1;
    const int each_y = chroma && info.format.chroma == ChromaSampling::s420 ? 2 : 1;
    const auto& map = move.map;
    const auto& siting = info.siting;
    if (map.transposed && (each_x != each_y || (each_x > 1 && siting.centred_x != siting.centred_y)))
        return std::nullopt;
    auto to_x = move.to.width, to_y = move.to.height;
    if (map.transposed) std::swap(to_x, to_y);
    const auto x = of_samples({map.x, map.step_x, info.width, to_x}, each_x, siting.centred_x);
    const auto y = of_samples({map.y, map.step_y, info.height, to_y}, each_y, siting.centred_y);
    if (!x || !y) return std::nullopt;
    return PixelMove{.map = {x->first, y->first, x->step, y->step, map.transposed},
                     .to = {1, map.transposed ? x->to : y->to, map.transposed ? y->to : x->to, 1}};
}

std::array<std::uint8_t, 3> yuv_of(Pixel colour, const YuvCoding& coding, const ThreadPool& threads) {
    std::array<std::uint8_t, 3> bgr, yuv;
    store_pixel(colour, 3, bgr.data());
    const YuvInfo info{yuv_444, coding, {}, 1, 1, 1};
    ImageToYuv(info, 3, threads)
        .run(HostView<const std::uint8_t>(bgr.data(), {1, 1, 1, 3}), HostYuv<std::uint8_t>(yuv.data(), info));
    return yuv;
}

}  // namespace framewire
