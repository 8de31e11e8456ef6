#include "kit/masks.hpp"

#include <algorithm>
#include <random>

namespace framewire::kit {
namespace {

template <class IsSet>
void set_where(HostView<std::uint8_t> mask, IsSet&& is_set) {
    for (int frame = 0; frame < mask.shape().frames; ++frame)
        for (int y = 0; y < mask.shape().height; ++y)
            for (int x = 0; x < mask.shape().width; ++x) mask.row(frame, y)[x] = is_set(frame, x, y) ? 255 : 0;
}

// Generates random numbers that are the same with every standard library.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    int below(int limit) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(limit)); }
    bool chance(double probability) { return static_cast<double>(engine_() >> 11) * 0x1p-53 < probability; }

private:
    std::mt19937_64 engine_;
};

// Draws a corridor one pixel wide with walls one pixel wide, which spirals inwards to the middle.
void fill_spiral(HostView<std::uint8_t> mask) {
    set_where(mask, [](auto...) { return false; });
    const int width = mask.shape().width, height = mask.shape().height;
    for (int frame = 0; frame < mask.shape().frames; ++frame) {
        int x = 0, y = 0, dx = 1, dy = 0;
        const auto is_set = [&](int at_x, int at_y) { return mask.row(frame, at_y)[at_x] != 0; };
        const auto is_inside = [&](int at_x, int at_y) {
            return at_x >= 0 && at_x < width && at_y >= 0 && at_y < height;
        };
        // A step is free if neither its pixel nor the one after it is set.
        const auto is_free = [&] {
            return is_inside(x + dx, y + dy) && !is_set(x + dx, y + dy) &&
                   !(is_inside(x + 2 * dx, y + 2 * dy) && is_set(x + 2 * dx, y + 2 * dy));
        };
        mask.row(frame, y)[x] = 255;
        for (int turns = 0; turns < 2;) {
            if (is_free()) {
                x += dx;
                y += dy;
                mask.row(frame, y)[x] = 255;
                turns = 0;
            } else {
                std::swap(dx, dy);
                dx = -dx;
                ++turns;
            }
        }
    }
}

}  // namespace

int fill_squares(HostView<std::uint8_t> mask, int count, std::uint64_t seed) {
    constexpr int side = 20, tries = 1000;
    const int width = mask.shape().width, height = mask.shape().height;
    set_where(mask, [](auto...) { return false; });
    if (width < side || height < side) return 0;
    int placed = 0;
    for (int frame = 0; frame < mask.shape().frames; ++frame) {
        Random random(seed + static_cast<std::uint64_t>(frame));
        placed = 0;
        for (int tried = 0; placed < count && tried < tries; ++tried) {
            const int left = random.below(width - side + 1), top = random.below(height - side + 1);
            bool is_free = true;
            for (int y = std::max(top - 1, 0); is_free && y < std::min(top + side + 1, height); ++y)
                for (int x = std::max(left - 1, 0); x < std::min(left + side + 1, width); ++x)
                    is_free = is_free && !mask.row(frame, y)[x];
            if (!is_free) continue;
            for (int y = top; y < top + side; ++y) std::fill_n(mask.row(frame, y) + left, side, std::uint8_t{255});
            ++placed;
            tried = 0;
        }
    }
    return placed;
}

void fill_grains(HostView<std::uint8_t> mask, double density, int grain, std::uint64_t seed) {
    Random random(seed);
    set_where(mask, [&](int frame, int x, int y) {
        if (y % grain) return mask.row(frame, y - y % grain)[x] != 0;
        if (x % grain) return mask.row(frame, y)[x - x % grain] != 0;
        return random.chance(density);
    });
}

void fill_discs(HostView<std::uint8_t> mask, int count, std::uint64_t seed) {
    set_where(mask, [](auto...) { return false; });
    const int width = mask.shape().width, height = mask.shape().height;
    for (int frame = 0; frame < mask.shape().frames; ++frame) {
        Random random(seed + static_cast<std::uint64_t>(frame));
        for (int disc = 0; disc < count; ++disc) {
            const int centre_x = random.below(width), centre_y = random.below(height), radius = 6 + random.below(12);
            for (int y = std::max(centre_y - radius, 0); y <= std::min(centre_y + radius, height - 1); ++y)
                for (int x = std::max(centre_x - radius, 0); x <= std::min(centre_x + radius, width - 1); ++x)
                    if ((x - centre_x) * (x - centre_x) + (y - centre_y) * (y - centre_y) <= radius * radius)
                        mask.row(frame, y)[x] = 255;
        }
    }
}

std::string to_string(Pattern pattern) {
    switch (pattern) {
        case Pattern::empty: return "empty";
        case Pattern::full: return "full";
        case Pattern::checkerboard: return "checkerboard";
        case Pattern::dots: return "dots";
        case Pattern::rows: return "rows";
        case Pattern::columns: return "columns";
        case Pattern::diagonals: return "diagonals";
        case Pattern::comb: return "comb";
        case Pattern::combs_interleaved: return "interleaved combs";
        case Pattern::rings: return "rings";
        case Pattern::spiral: return "spiral";
    }
    return "?";
}

void fill(HostView<std::uint8_t> mask, Pattern pattern) {
    const int width = mask.shape().width, height = mask.shape().height;
    switch (pattern) {
        case Pattern::empty: return set_where(mask, [](auto...) { return false; });
        case Pattern::full: return set_where(mask, [](auto...) { return true; });
        case Pattern::checkerboard:
            return set_where(mask, [](int frame, int x, int y) { return (x + y + frame) % 2 != 0; });
        case Pattern::dots: return set_where(mask, [](int, int x, int y) { return x % 2 == 0 && y % 2 == 0; });
        case Pattern::rows: return set_where(mask, [](int frame, int, int y) { return (y + frame) % 2 == 0; });
        case Pattern::columns: return set_where(mask, [](int frame, int x, int) { return (x + frame) % 2 == 0; });
        case Pattern::diagonals:
            return set_where(mask,
                             [](int frame, int x, int y) { return (frame % 2 ? x + y : x + 5 * y - y) % 5 == 0; });
        case Pattern::comb: return set_where(mask, [&](int, int x, int y) { return x % 2 == 0 || y == height - 1; });
        case Pattern::combs_interleaved:
            return set_where(mask, [&](int, int x, int y) {
                return (x % 4 == 0 && y < height - 2) || y == 0 || (x % 4 == 2 && y > 1) || y == height - 1;
            });
        case Pattern::rings:
            return set_where(mask, [&](int, int x, int y) {
                return std::min(std::min(x, width - 1 - x), std::min(y, height - 1 - y)) % 2 == 0;
            });
        case Pattern::spiral: return fill_spiral(mask);
    }
}

}  // namespace framewire::kit
