#pragma once

#include "framewire/codec/reference_pixels.hpp"
#include "framewire/media/fwd_file_ref.hpp"
#include "framewire/media/media_testing.hpp"

#include <string>
#include <vector>

// Helpers for the tests of `.fwd` files.

namespace framewire::testing {

/// Returns frames of a test film with motion and noise.
inline std::vector<Bytes> film_frames(const Shape& shape, int count, int noise = 4, std::uint64_t seed = 7) {
    std::vector<Bytes> frames;
    for (int number = 0; number < count; ++number) {
        frames.emplace_back(static_cast<std::size_t>(shape.bytes()));
        codec::reference::film({frames.back().data(), shape}, number, noise, seed);
    }
    return frames;
}

/// Returns the largest absolute difference between two byte arrays; at least 256 if their sizes differ.
inline int largest_difference(const Bytes& one, const Bytes& other) {
    int most = one.size() == other.size() ? 0 : 256;
    for (std::size_t at = 0; at < std::min(one.size(), other.size()); ++at)
        most = std::max(most, std::abs(one[at] - other[at]));
    return most;
}

}  // namespace framewire::testing
