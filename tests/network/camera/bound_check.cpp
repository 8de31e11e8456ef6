#include "network/camera/bound_check.hpp"

#include "network/camera/stamp.hpp"

#include <algorithm>

namespace framewire::network {
namespace {

// Of one row: takes off what is near `frame`, and gives how many bytes are left.
std::int64_t take_off(const std::uint8_t* shown, const std::uint8_t* frame, std::uint8_t* outside, int bytes,
                      int threshold) {
    std::int64_t left = 0;
    for (int byte = 0; byte < bytes; ++byte) {
        const int difference = shown[byte] - frame[byte];
        outside[byte] =
            static_cast<std::uint8_t>(outside[byte] & ((difference > threshold) | (-difference > threshold)));
        left += outside[byte];
    }
    return left;
}

}  // namespace

BoundFinding BoundCheck::check(HostView<const std::uint8_t> picture, int threshold, double window_ms,
                               Clock::time_point now) {
    const auto& shape = log_.shape();
    const int row_bytes = shape.width * shape.channels;
    BoundFinding finding;
    finding.outside = shape.bytes();
    outside_.assign(static_cast<std::size_t>(finding.outside), 1);
    // A frame after `now` may have been added by now; it came too late to be shown.
    for (auto frame = log_.newest(); finding.outside > 0; --frame) {
        const auto* pixels = log_.pixels(frame);
        const auto captured = log_.captured(frame);
        if (!pixels || !captured) break;
        const auto age_ms = milliseconds(*captured, now);
        if (age_ms < 0) continue;
        if (age_ms > window_ms) break;
        std::int64_t left = 0;
        for (int y = 0; y < shape.height; ++y) {
            const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(row_bytes);
            left += take_off(picture.row(0, y), pixels + at, outside_.data() + at, row_bytes, threshold);
        }
        if (left < finding.outside) finding.oldest_age_ms = age_ms;
        finding.outside = left;
    }
    if (const auto number = read_stamp(picture)) finding.stamped = *number;
    return finding;
}

}  // namespace framewire::network
