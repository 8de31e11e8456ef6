#include "ladders/windows/dim_room.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace framewire::bench {
namespace dim_room {

// Sigmas of the noise of each byte, and of the noise that blocks of block_px x block_px pixels share.
constexpr double fine_sigma = 3, coarse_sigma = 6.55;
constexpr int block_px = 8;

// Returns the brightness of the empty room: lamps on the left, shelves in the background.
double room_light(double x, double y) {
    const double lamp = 70 * std::exp(-8 * ((x - 0.15) * (x - 0.15) + (y - 0.3) * (y - 0.3)));
    const bool shelf = std::fmod(y, 0.22) < 0.02 && x > 0.4;
    return 26 + lamp + (shelf ? 25 : 0);
}

// Returns the brightness with a head at `head_x`: a face with an outline, and hair of fine streaks.
double light_at(double x, double y, double aspect, double head_x) {
    const double across = (x - head_x) * aspect, down = y - 0.45;
    const double head = across * across / (0.17 * 0.17) + down * down / (0.24 * 0.24);
    const bool body = y > 0.68 && std::abs(across) < 0.2 + 0.6 * (y - 0.68);
    if (head < 1) return down < -0.1 ? 40 + 22 * std::sin(across * 400) : 118 - 30 * head;
    return body ? 60 : room_light(x, y);
}

void draw(HostView<std::uint8_t> image, double head_x, unsigned seed) {
    const auto& shape = image.shape();
    std::mt19937 random(seed);
    std::normal_distribution<double> fine(0, fine_sigma), coarse(0, coarse_sigma);
    const double aspect = static_cast<double>(shape.width) / shape.height;
    std::vector<double> blocks(static_cast<std::size_t>((shape.width / block_px + 1) * 3));
    for (int y = 0; y < shape.height; ++y) {
        if (y % block_px == 0)
            for (auto& block : blocks) block = coarse(random);
        for (int x = 0; x < shape.width; ++x) {
            const double light = light_at((x + 0.5) / shape.width, (y + 0.5) / shape.height, aspect, head_x);
            for (int channel = 0; channel < 3; ++channel) {
                const double noise = fine(random) + blocks[static_cast<std::size_t>(x / block_px * 3 + channel)];
                image.row(0, y)[3 * x + channel] =
                    static_cast<std::uint8_t>(std::clamp(light + 6 * channel + noise + 0.5, 0.0, 255.0));
            }
        }
    }
}

}  // namespace dim_room

DimRoom::DimRoom(const Shape& shape) : first(shape), second(shape) {
    dim_room::draw(first.view(), 0.5, 1);
    dim_room::draw(second.view(), 0.504, 2);
}

HostImage with_salt_and_pepper(HostView<const std::uint8_t> image) {
    HostImage result(image.shape());
    copy(image, result.view());
    std::mt19937 random(3);
    for (auto* pixel = result.view().data(); pixel < result.view().data() + image.shape().bytes(); pixel += 3)
        if (const auto die = random() % 20; die < 2) std::fill_n(pixel, 3, static_cast<std::uint8_t>(die ? 255 : 0));
    return result;
}

}  // namespace framewire::bench
