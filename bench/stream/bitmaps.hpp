#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::bench {

/// Returns true if this build has zstd; otherwise do not call the functions below.
bool has_zstd();
/// Compresses with zstd -3.
std::vector<std::uint8_t> compress(std::span<const std::uint8_t> bytes);
/// Decompresses to `size` bytes.
std::vector<std::uint8_t> expand(std::span<const std::uint8_t> compressed, std::size_t size);

/// Returns one bit per byte, set for those that are not 0, followed by these bytes.
std::vector<std::uint8_t> bitmap_of(std::span<const std::uint8_t> sparse);
/// Inverts bitmap_of().
void spread_bitmap(std::span<const std::uint8_t> packed, std::span<std::uint8_t> sparse);

}  // namespace framewire::bench
