#include "network/camera/scene.hpp"

#include "network/camera/stamp.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>

namespace framewire::network {
namespace {

int room_value(const Shape& shape, int frame, int frames, int x, int y, std::optional<int> level) {
    const int side = shape.height / 6;
    const int moved = frame * (shape.width - side) / frames;
    const bool in_first = std::abs(x - moved - side / 2) < side / 2 && y / side == 1;
    const bool in_second = std::abs(shape.width - x - moved - side / 2) < side / 2 && y / side == 4;
    const int texture = (x >> 4 ^ y >> 4) & 3;
    if (level) return *level + 2 * texture + (in_first || in_second ? 12 : 0);
    if (in_first) return 220 - (x & 15);
    if (in_second) return 20 + (y & 15);
    return 60 + 90 * y / shape.height + 12 * texture;
}

// Returns a byte of the scene `tones`. The levels leave room for the pattern, the figure and a noise of 2 within 0..20,
// 110..140 and 235..255.
int tones_value(const Shape& shape, int frame, int frames, int x, int y) {
    constexpr int levels[] = {0, 116, 236};
    constexpr int pattern_levels = 7, figure_levels = 8;
    const int third = shape.width / 3, band = std::min(2, x / third);
    const int figure_left = third / 6 + frame * (third / 3) / frames;
    const int in_band = x - band * third;
    const bool figure = in_band >= figure_left && in_band < figure_left + third / 3 && y > shape.height / 4;
    return levels[band] + (x * 5 + y * 3) % pattern_levels + (figure ? figure_levels : 0);
}

}  // namespace

Scene::Scene(Kind kind, const Shape& shape, double noise, std::optional<int> level) {
    constexpr std::int64_t loop_bytes = std::int64_t{96} << 20;
    const auto frames = static_cast<int>(std::clamp<std::int64_t>(loop_bytes / shape.bytes(), 20, 120));
    std::minstd_rand random(1);
    const auto levels = static_cast<int>(noise);
    for (int frame = 0; frame < frames; ++frame) {
        const auto picture = loop_.emplace_back(shape).view();
        for (int y = 0; y < shape.height; ++y)
            for (int byte = 0; byte < shape.width * shape.channels; ++byte) {
                const int x = byte / shape.channels;
                const int value = kind == Kind::room ? room_value(shape, frame, frames, x, y, level)
                                                     : tones_value(shape, frame, frames, x, y);
                const int grain = static_cast<int>(random() >> 8) % (2 * levels + 1);
                picture.row(0, y)[byte] = static_cast<std::uint8_t>(std::min(value + grain, 255));
            }
    }
}

void Scene::draw(std::uint32_t number, HostView<std::uint8_t> picture) const {
    copy(loop_[number % loop_.size()].view(), picture);
    draw_stamp(picture, number % stamp_numbers);
}

Scene::Kind parse_scene(std::string_view text) {
    if (text == "room") return Scene::Kind::room;
    if (text == "tones") return Scene::Kind::tones;
    throw std::invalid_argument("expected room or tones, not " + std::string(text));
}

}  // namespace framewire::network
