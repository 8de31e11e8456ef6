#include "framewire/delta/prediction/motion_search.hpp"

#include "framewire/delta/prediction/motion_cost.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace framewire::delta {
void MotionSearch::load(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> before, int x, int y,
                        int width, int height) {
    const auto& shape = before.shape();
    channels_ = shape.channels;
    height_ = height;
    const auto row_bytes = static_cast<std::size_t>(width * channels_);
    for (int row = 0; row < height; ++row) {
        auto* part = &part_[static_cast<std::size_t>(row * part_stride)];
        auto* mask = &mask_[static_cast<std::size_t>(row * part_stride)];
        std::memset(part, 0, part_stride);
        std::memset(mask, 0, part_stride);
        std::memcpy(part, camera.row(0, y + row) + std::int64_t{x} * channels_, row_bytes);
        std::memset(mask, 0xff, row_bytes);
    }
    const int from_x = x - margin, from_y = y - margin;
    const int first = std::clamp(-from_x, 0, window_side), last = std::clamp(shape.width - from_x, 0, window_side);
    for (int row = 0; row < window_side; ++row) {
        const auto* from = before.row(0, std::clamp(from_y + row, 0, shape.height - 1));
        auto* to = &window_[static_cast<std::size_t>(row * window_stride)];
        for (int column = 0; column < first; ++column)
            std::memcpy(to + column * channels_, from, static_cast<std::size_t>(channels_));
        std::memcpy(to + first * channels_, from + std::int64_t{from_x + first} * channels_,
                    static_cast<std::size_t>((last - first) * channels_));
        for (int column = last; column < window_side; ++column)
            std::memcpy(to + column * channels_, from + std::int64_t{shape.width - 1} * channels_,
                        static_cast<std::size_t>(channels_));
    }
}

void MotionSearch::offer(MotionVector vector, int cost, int count) {
    for (int i = 0; i < found_count_; ++i)
        if (found_[static_cast<std::size_t>(i)].vector == vector) return;
    int at = found_count_;
    while (at > 0 && found_[static_cast<std::size_t>(at) - 1].cost > cost) --at;
    if (at >= count) return;
    found_count_ = std::min(found_count_ + 1, count);
    for (int i = found_count_ - 1; i > at; --i)
        found_[static_cast<std::size_t>(i)] = found_[static_cast<std::size_t>(i) - 1];
    found_[static_cast<std::size_t>(at)] = {vector, cost};
}

int MotionSearch::cost_of(MotionVector vector, int limit) {
    const int fraction_x = vector.x & (quarters - 1), fraction_y = vector.y & (quarters - 1);
    const auto* from = &window_[static_cast<std::size_t>((margin + (vector.y - fraction_y) / quarters) * window_stride +
                                                         (margin + (vector.x - fraction_x) / quarters) * channels_)];
    const MotionCost cost{.threshold = threshold_, .step = step_, .rows = height_, .limit = limit};
    if (fraction_x == 0 && fraction_y == 0) return cost(part_.data(), mask_.data(), from, window_stride);
    interpolate(from, window_stride, channels_, fraction_x, fraction_y, height_, moved_.data());
    return cost(part_.data(), mask_.data(), moved_.data(), part_stride);
}

std::span<const ScoredVector> MotionSearch::find(HostView<const std::uint8_t> camera,
                                                 HostView<const std::uint8_t> before, int x, int y, int width,
                                                 int height, int threshold, int range, int count,
                                                 std::span<const MotionVector> near) {
    load(camera, before, x, y, width, height);
    threshold_ = threshold;
    step_ = 2 * threshold + 1;
    found_count_ = 0;
    count = std::clamp(count, 1, max_found);
    const auto worst = [&] {
        return found_count_ < count ? 1 << 30 : found_[static_cast<std::size_t>(found_count_) - 1].cost;
    };
    const auto attempt = [&](MotionVector vector, int more) {
        if (vector == MotionVector{} || std::abs(vector.x) > max_motion || std::abs(vector.y) > max_motion) return;
        const int limit = worst() - more;
        if (limit <= 0) return;
        const int cost = cost_of(vector, limit);
        if (cost < limit) offer(vector, cost + more, count);
    };
    for (const auto vector : near) attempt(vector, near_vector_cost());
    for (int down = -range; down <= range; ++down)
        for (int right = -range; right <= range; ++right) {
            const MotionVector vector{right * quarters, down * quarters};
            attempt(vector, new_vector_cost(vector));
        }
    // Then between the pixels, around the best of them.
    for (const int step : {2, 1}) {
        const auto centres = found_;
        const int centre_count = found_count_;
        for (int i = 0; i < centre_count; ++i)
            for (int down = -step; down <= step; down += step)
                for (int right = -step; right <= step; right += step) {
                    const auto centre = centres[static_cast<std::size_t>(i)].vector;
                    const MotionVector vector{centre.x + right, centre.y + down};
                    attempt(vector, new_vector_cost(vector));
                }
    }
    return {found_.data(), static_cast<std::size_t>(found_count_)};
}

}  // namespace framewire::delta
