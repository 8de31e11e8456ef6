#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace framewire::delta {

/// Adds `length` differences to as many adjacent bytes, modulo 256. The local copies show the compiler that the two
/// arrays do not overlap, so that it vectorizes the loop.
template <std::size_t length>
void add_run(const std::uint8_t* differences, std::uint8_t* bytes) {
    std::array<std::uint8_t, length> sums, added;
    std::memcpy(sums.data(), bytes, length);
    std::memcpy(added.data(), differences, length);
    for (std::size_t i = 0; i < length; ++i) sums[i] = static_cast<std::uint8_t>(sums[i] + added[i]);
    std::memcpy(bytes, sums.data(), length);
}

}  // namespace framewire::delta
