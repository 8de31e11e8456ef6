#include "kit/session.hpp"

#include <algorithm>
#include <cmath>

namespace framewire::bench {
namespace {

// A small fast generator: benches need many random numbers, but no high quality.
struct Random {
    std::uint32_t state;
    std::uint32_t operator()() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    // Returns approximately Gaussian noise with a sigma of about 3.
    int noise() {
        const auto bits = (*this)();
        return static_cast<int>(bits & 7) + static_cast<int>(bits >> 8 & 7) - 7;
    }
};

std::uint8_t held(int value) { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

}  // namespace

void fill_scene(HostView<std::uint8_t> image, std::uint32_t scene) {
    const auto& shape = image.shape();
    Random random{scene * 2654435761u + 1};
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const int light = 90 + (x + static_cast<int>(scene) * 37) * 80 / shape.width + y * 40 / shape.height;
                const int texture = ((x / 24 + y / 18) % 2) * 20;
                for (int channel = 0; channel < shape.channels; ++channel)
                    image.row(frame, y)[x * shape.channels + channel] =
                        held(light + texture + 8 * channel + random.noise());
            }
}

void fill_later(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, double share, bool scattered,
                std::uint32_t seed) {
    const auto& shape = from.shape();
    Random random{seed * 2654435761u + 7};
    for (int frame = 0; frame < shape.frames; ++frame) {
        for (int y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.row_bytes(); ++x)
                to.row(frame, y)[x] = held(from.row(frame, y)[x] + random.noise() / 2);
        const auto jump = [&](std::uint8_t& byte) { byte = static_cast<std::uint8_t>(byte + 100); };
        const auto wanted = static_cast<std::int64_t>(share * static_cast<double>(shape.frame_bytes()));
        if (scattered) {
            for (std::int64_t n = 0; n < wanted; ++n)
                jump(to.row(frame, static_cast<int>(
                                       random() %
                                       static_cast<std::uint32_t>(
                                           shape.height)))[random() % static_cast<std::uint32_t>(shape.row_bytes())]);
            continue;
        }
        constexpr int objects = 10;
        const auto side =
            std::max(1, static_cast<int>(std::sqrt(static_cast<double>(wanted) / shape.channels / objects)));
        for (int object = 0; object < objects; ++object) {
            const auto left = static_cast<int>(random() % static_cast<std::uint32_t>(std::max(1, shape.width - side)));
            const auto top = static_cast<int>(random() % static_cast<std::uint32_t>(std::max(1, shape.height - side)));
            for (int y = top; y < std::min(top + side, shape.height); ++y)
                for (int x = left * shape.channels; x < std::min(left + side, shape.width) * shape.channels; ++x)
                    jump(to.row(frame, y)[x]);
        }
    }
}

}  // namespace framewire::bench
