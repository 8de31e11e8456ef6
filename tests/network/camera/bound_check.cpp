#include "network/camera/bound_check.hpp"

#include "network/camera/stamp.hpp"

#include <cstdlib>

namespace framewire::network {
namespace {

std::int64_t count_outside(const std::uint8_t* shown, const std::uint8_t* frame, int bytes, int threshold) {
    std::int64_t outside = 0;
    for (int byte = 0; byte < bytes; ++byte) outside += std::abs(shown[byte] - frame[byte]) > threshold;
    return outside;
}

}  // namespace

BoundFinding BoundCheck::check(HostView<const std::uint8_t> picture, int threshold, double window_ms,
                               Clock::time_point now) {
    const auto& shape = log_.shape();
    const int row_bytes = shape.width * shape.channels;
    BoundFinding finding;
    finding.outside = shape.bytes();
    const auto number = read_stamp(picture);
    if (!number) return finding;
    finding.stamped = *number;
    const auto* const pixels = log_.pixels(*number);
    const auto captured = log_.captured(*number);
    if (!pixels || !captured) return finding;
    finding.age_ms = milliseconds(*captured, now);
    if (finding.age_ms > window_ms) return finding;
    finding.outside = 0;
    for (int y = 0; y < shape.height; ++y)
        finding.outside += count_outside(picture.row(0, y), pixels + std::int64_t{y} * row_bytes, row_bytes, threshold);
    return finding;
}

}  // namespace framewire::network
