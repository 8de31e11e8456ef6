#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framewire::bench {

/// Whether this build has zstd, without which the functions below are not to be called.
bool has_zstd();
/// Under zstd -3.
std::vector<std::uint8_t> compress(std::span<const std::uint8_t> bytes);
/// Undoes it: `size` bytes.
std::vector<std::uint8_t> expand(std::span<const std::uint8_t> compressed, std::size_t size);

/// A bit per byte for those that are not 0, and then these.
std::vector<std::uint8_t> bitmap_of(std::span<const std::uint8_t> sparse);
/// Undoes it.
void spread_bitmap(std::span<const std::uint8_t> packed, std::span<std::uint8_t> sparse);

}  // namespace framewire::bench
