#pragma once

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Bytes of an image that a thread takes at a time: small compared to a core's L2 cache, large enough to make
/// the cost of scheduling a chunk negligible.
inline constexpr std::int64_t chunk_bytes = 128 * 1024;

/// Returns the number of rows of `row_bytes` bytes in one chunk, at least 1.
inline std::int64_t rows_each(std::int64_t row_bytes) { return std::max<std::int64_t>(chunk_bytes / row_bytes, 1); }

}  // namespace framewire
