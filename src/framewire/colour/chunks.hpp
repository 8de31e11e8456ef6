#pragma once

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Bytes of an image that a thread takes at a time: small beside a core's L2, large beside the cost of handing it out.
inline constexpr std::int64_t chunk_bytes = 128 * 1024;

/// The rows in that many.
inline std::int64_t rows_each(std::int64_t row_bytes) { return std::max<std::int64_t>(chunk_bytes / row_bytes, 1); }

}  // namespace framewire
