#include "framewire/filters/deinterlace/deinterlace.hpp"

#include <cstring>

// Compiled with -O3, which makes vectors of these loops.

namespace framewire {
namespace {

constexpr std::int64_t deinterlaced_rows = 32;  // that a thread takes at a time

// A line of an image, with its neighbours.
struct Lines {
    const std::uint8_t *above, *here, *below;

    Lines(HostView<const std::uint8_t> image, int frame, int y) : here(image.row(frame, y)) {
        const int height = image.shape().height;
        const int inside = height > 1 ? 1 : 0;
        above = image.row(frame, y > 0 ? y - 1 : inside);
        below = image.row(frame, y + 1 < height ? y + 1 : height - 1 - inside);
    }
};

void blend_line(const Lines& now, std::int64_t bytes, std::uint8_t* __restrict out) {
    const auto* __restrict above = now.above, * __restrict here = now.here, * __restrict below = now.below;
    for (std::int64_t x = 0; x < bytes; ++x)
        out[x] = static_cast<std::uint8_t>(deinterlaced_blend(above[x], here[x], below[x]));
}

void linear_line(const Lines& now, std::int64_t bytes, std::uint8_t* __restrict out) {
    const auto* __restrict above = now.above, * __restrict below = now.below;
    for (std::int64_t x = 0; x < bytes; ++x)
        out[x] = static_cast<std::uint8_t>(deinterlaced_linear(above[x], below[x]));
}

void adaptive_line(const Lines& now, const Lines& before, int threshold, std::int64_t bytes,
                   std::uint8_t* __restrict out) {
    const auto* __restrict above = now.above, * __restrict here = now.here, * __restrict below = now.below;
    const auto *__restrict previous_above = before.above, *__restrict previous_here = before.here,
                           *__restrict previous_below = before.below;
    for (std::int64_t x = 0; x < bytes; ++x)
        out[x] = static_cast<std::uint8_t>(deinterlaced_adaptive(above[x], here[x], below[x], previous_above[x],
                                                                 previous_here[x], previous_below[x], threshold));
}

}  // namespace

void Deinterlace::run(const FilterImages<MemorySpace::host>& images) const {
    const auto method = method_for(images);
    const auto bytes = shape_.row_bytes();
    executor_->pool().for_chunks(
        shape_.rows(), deinterlaced_rows, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (auto row = begin; row < end; ++row) {
                const auto frame = static_cast<int>(row / shape_.height), y = static_cast<int>(row % shape_.height);
                const Lines now(images.in, frame, y);
                auto* out = images.out.row(frame, y);
                if (method == DeinterlaceMethod::blend)
                    blend_line(now, bytes, out);
                else if ((y % 2 == 1) == parameters_.keeps_bottom)
                    std::memcpy(out, now.here, static_cast<std::size_t>(bytes));
                else if (method == DeinterlaceMethod::linear)
                    linear_line(now, bytes, out);
                else
                    adaptive_line(now, Lines(images.previous, frame, y), parameters_.threshold, bytes, out);
            }
        });
}

}  // namespace framewire
