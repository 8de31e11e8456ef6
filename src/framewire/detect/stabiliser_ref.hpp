#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/stabiliser.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace framewire {

/// Reference implementation of Stabiliser, pixel by pixel. Tests and benchmarks compare with it.
class StabiliserReference {
public:
    /// `frame` gives height, width and channels.
    explicit StabiliserReference(const Shape& frame)
        : shape_(frame), layout_(frame), reference_(static_cast<std::size_t>(layout_.pixels())) {}

    /// Shifts the frames in order and returns their shifts.
    std::vector<CameraShift> run(HostView<const std::uint8_t> frames, HostView<std::uint8_t> still) {
        std::vector<CameraShift> shifts;
        for (int frame = 0; frame < frames.shape().frames; ++frame) {
            if (layout_.is_large_enough()) estimate(frames.frames(frame, 1));
            shifts.push_back(state_.shift);
            shift(frames.frames(frame, 1), still.frames(frame, 1));
        }
        return shifts;
    }

    /// Moves masks of 0 and 255 by whole pixels.
    static void move_back(const std::vector<CameraShift>& shifts, HostView<const std::uint8_t> still,
                          HostView<std::uint8_t> moved) {
        const auto& shape = still.shape();
        for (int frame = 0; frame < shape.frames; ++frame)
            for (int y = 0; y < shape.height; ++y)
                for (int x = 0; x < shape.width; ++x) {
                    const auto& shift = shifts[static_cast<std::size_t>(frame)];
                    const int from_x = x - shift.x_px(), from_y = y - shift.y_px();
                    const bool inside = from_x >= 0 && from_x < shape.width && from_y >= 0 && from_y < shape.height;
                    moved.row(frame, y)[x] = inside ? still.row(frame, from_y)[from_x] : std::uint8_t{0};
                }
    }

private:
    using Small = std::vector<std::uint16_t>;

    Small small(HostView<const std::uint8_t> frame) const {
        Small pixels;
        for (int y = 0; y < layout_.height; ++y)
            for (int x = 0; x < layout_.width; ++x) {
                std::uint32_t sums[3]{};
                for (int v = y * layout_.factor; v < (y + 1) * layout_.factor; ++v)
                    for (int u = x * layout_.factor; u < (x + 1) * layout_.factor; ++u)
                        for (int c = 0; c < 3; ++c) sums[c] += frame.row(0, v)[shape_.channels == 3 ? u * 3 + c : u];
                pixels.push_back(small_pixel(sums[0], sums[1], sums[2], layout_.scale()));
            }
        return pixels;
    }

    int still(int x, int y) const { return still_pixel(reference_[static_cast<std::size_t>(y * layout_.width + x)]); }
    int moved(const Small& now, const Displacement& by, int x, int y) const {
        const auto* row = now.data() + (y + by.y) * layout_.width;
        return interpolated(row, row + layout_.width, x + by.x, by.fraction_x, by.fraction_y);
    }

    template <class Value>
    std::vector<std::int16_t> coarse(Value&& value) const {
        std::vector<std::int16_t> pixels;
        for (int y = 0; y < layout_.coarse_height; ++y)
            for (int x = 0; x < layout_.coarse_width; ++x) {
                int sum = 8;
                for (int v = 4 * y; v < 4 * y + 4; ++v)
                    for (int u = 4 * x; u < 4 * x + 4; ++u) sum += value(u, v);
                pixels.push_back(static_cast<std::int16_t>(sum / 16));
            }
        return pixels;
    }

    // Searches a displacement; returns true if there is a match.
    bool search(const Small& now, SmallShift& shift) const {
        const auto from = coarse([&](int x, int y) { return now[static_cast<std::size_t>(y * layout_.width + x)]; });
        const auto to = coarse([&](int x, int y) { return still(x, y); });
        auto best = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t total = 0;
        int candidate = 0;
        for (int dy = -4; dy <= 4; ++dy)
            for (int dx = -4; dx <= 4; ++dx) {
                std::uint32_t cost = 0;
                for (int y = 5; y < layout_.coarse_height - 5; ++y)
                    for (int x = 5; x < layout_.coarse_width - 5; ++x)
                        cost += static_cast<std::uint32_t>(
                            gradient_difference(from.data() + (y + dy) * layout_.coarse_width + x + dx,
                                                to.data() + y * layout_.coarse_width + x, layout_.coarse_width));
                best = std::min(best, search_key(cost, candidate++));
                total += cost;
            }
        shift = searched_shift(best);
        return is_match(best, total);
    }

    // Fits a displacement; returns true if it can be trusted.
    bool fit(const Small& now, SmallShift& shift) const {
        const auto begin = shift;
        bool trusted = false;
        for (int round = 0; round < stabiliser_rounds; ++round) {
            const Displacement by(shift);
            const int right = layout_.width - by.margin, bottom = layout_.height - by.margin;
            std::vector<std::uint32_t> histogram(stabiliser_histogram_size);
            for (int y = by.margin; y < bottom; y += stabiliser_histogram_rows)
                for (int x = by.margin; x < right; ++x)
                    ++histogram[static_cast<std::size_t>(histogram_place(moved(now, by, x, y) - still(x, y)))];
            const auto expected = still_differences(histogram.data());
            FitSums sums;
            std::int64_t compared = 0;
            for (int y = by.margin; y < bottom; ++y)
                for (int x = by.margin; x < right; ++x, ++compared) {
                    const std::int64_t difference = moved(now, by, x, y) - still(x, y) - expected.median;
                    const std::int64_t slope_x = still(x + 1, y) - still(x - 1, y);
                    const std::int64_t slope_y = still(x, y + 1) - still(x, y - 1);
                    if (fits(static_cast<int>(difference), static_cast<int>(slope_x), static_cast<int>(slope_y),
                             expected.tolerance, round))
                        sums += {slope_x * slope_x,    slope_x * slope_y,    slope_y * slope_y,
                                 slope_x * difference, slope_y * difference, 1};
                }
            if (!improve(shift, sums)) return false;
            trusted = is_trusted(begin, shift, sums.fitting, compared);
        }
        return trusted;
    }

    void estimate(HostView<const std::uint8_t> frame) {
        const auto now = small(frame);
        SmallShift shift;
        bool trusted = false;
        if (state_.seen > 0) trusted = search(now, shift) && fit(now, shift);
        const int weight = conclude(state_, shift, trusted, layout_.factor);
        const Displacement by(shift);
        for (int y = 0; y < layout_.height; ++y)
            for (int x = 0; x < layout_.width; ++x) {
                const auto at = static_cast<std::size_t>(y * layout_.width + x);
                const bool inside =
                    x >= by.margin && x < layout_.width - by.margin && y >= by.margin && y < layout_.height - by.margin;
                if (weight == whole_weight)
                    reference_[at] = static_cast<std::uint16_t>(now[at] * 64);
                else if (weight > 0 && inside)
                    reference_[at] = renewed(reference_[at], moved(now, by, x, y), weight);
            }
    }

    void shift(HostView<const std::uint8_t> frame, HostView<std::uint8_t> out) const {
        const int whole_x = state_.shift.x_16th >> 4, whole_y = state_.shift.y_16th >> 4;
        const auto at = [&](int x, int y, int channel) {
            return int{frame.row(
                0,
                std::clamp(y, 0, shape_.height - 1))[std::clamp(x, 0, shape_.width - 1) * shape_.channels + channel]};
        };
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.width; ++x)
                for (int channel = 0; channel < shape_.channels; ++channel) {
                    const int u = x + whole_x, v = y + whole_y;
                    out.row(0, y)[x * shape_.channels + channel] =
                        shifted_byte(at(u, v, channel), at(u + 1, v, channel), at(u, v + 1, channel),
                                     at(u + 1, v + 1, channel), state_.shift.x_16th & 15, state_.shift.y_16th & 15);
                }
    }

    Shape shape_;
    StabiliserLayout layout_;
    StabiliserState state_;
    Small reference_;
};

}  // namespace framewire
