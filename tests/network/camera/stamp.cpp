#include "network/camera/stamp.hpp"

namespace framewire::network {
namespace {

constexpr int side_px = 8, columns = 16;
constexpr std::uint8_t dark = 16, bright = 239;

// Returns the check bits of a number, chosen so that no entirely dark or entirely bright picture is a valid stamp.
std::uint32_t check_of(std::uint32_t number) { return (number * 2654435761u >> 24 ^ 0x5a) & 0xff; }

}  // namespace

void draw_stamp(HostView<std::uint8_t> picture, std::uint32_t number) {
    const auto bits = number << 8 | check_of(number);
    const int channels = picture.shape().channels;
    for (int y = 0; y < stamp_height_px; ++y)
        for (int byte = 0; byte < stamp_width_px * channels; ++byte) {
            const int bit = y / side_px * columns + byte / channels / side_px;
            picture.row(0, y)[byte] = bits >> bit & 1 ? bright : dark;
        }
}

std::optional<std::uint32_t> read_stamp(HostView<const std::uint8_t> picture) {
    std::uint32_t bits = 0;
    for (int bit = 0; bit < 2 * columns; ++bit) {
        const auto* row = picture.row(0, bit / columns * side_px + side_px / 2);
        bits |= std::uint32_t{row[(bit % columns * side_px + side_px / 2) * picture.shape().channels] >= 128} << bit;
    }
    const auto number = bits >> 8;
    if ((bits & 0xff) != check_of(number)) return std::nullopt;
    return number;
}

}  // namespace framewire::network
