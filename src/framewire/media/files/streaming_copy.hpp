#pragma once

#include <cstddef>

namespace framewire {

/// memcpy past the caches (non-temporal stores), for what nobody reads soon: the caches keep what they have, and lines
/// that are written whole are not read first. Any alignment. When it returns, other threads may be told of the bytes.
void streaming_copy(void* to, const void* from, std::size_t bytes);

}  // namespace framewire
