#include "stream/bitmaps.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <stdexcept>

#if FRAMEWIRE_ZSTD
#include <zstd.h>
#endif

namespace framewire::bench {

#if FRAMEWIRE_ZSTD

bool has_zstd() { return true; }

std::vector<std::uint8_t> compress(std::span<const std::uint8_t> bytes) {
    constexpr int level = 3;
    std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
    const auto size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(size)) fail(ErrorCode::internal, "zstd: {}", ZSTD_getErrorName(size));
    out.resize(size);
    return out;
}

std::vector<std::uint8_t> expand(std::span<const std::uint8_t> compressed, std::size_t size) {
    std::vector<std::uint8_t> out(size);
    if (ZSTD_decompress(out.data(), size, compressed.data(), compressed.size()) != size)
        fail(ErrorCode::internal, "zstd did not restore the original bytes");
    return out;
}

#else

bool has_zstd() { return false; }
std::vector<std::uint8_t> compress(std::span<const std::uint8_t>) {
    fail(ErrorCode::config, "this build has no zstd support");
}
std::vector<std::uint8_t> expand(std::span<const std::uint8_t>, std::size_t) {
    fail(ErrorCode::config, "this build has no zstd support");
}

#endif

std::vector<std::uint8_t> bitmap_of(std::span<const std::uint8_t> sparse) {
    std::vector<std::uint8_t> packed((sparse.size() + 7) / 8);
    for (std::size_t i = 0; i < sparse.size(); ++i) {
        if (!sparse[i]) continue;
        packed[i / 8] = static_cast<std::uint8_t>(packed[i / 8] | 1 << i % 8);
        packed.push_back(sparse[i]);
    }
    return packed;
}

void spread_bitmap(std::span<const std::uint8_t> packed, std::span<std::uint8_t> sparse) {
    auto next = (sparse.size() + 7) / 8;
    for (std::size_t i = 0; i < sparse.size(); ++i) sparse[i] = packed[i / 8] >> i % 8 & 1 ? packed[next++] : 0;
}

}  // namespace framewire::bench
