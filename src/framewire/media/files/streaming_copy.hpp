#pragma once

#include <cstddef>

namespace framewire {

/// Copies like memcpy, but past the caches (non-temporal stores), for data that is not read soon: cache contents stay,
/// and lines that are written whole are not read first. Any alignment; the ranges must not overlap. When it returns,
/// the bytes may be published to other threads.
void streaming_copy(void* to, const void* from, std::size_t bytes);

}  // namespace framewire
