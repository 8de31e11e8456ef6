#include "framewire/detect/masks/bit_mask.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>

namespace framewire {

void detail::validate_mask(const void* data, const Shape& have, const Shape& want, const char* what) {
    if (have != want)
        fail(ErrorCode::usage, "{}: a mask of {}; expected one of {}", what, to_string(have), to_string(want));
    if (!data || reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
        fail(ErrorCode::usage, "{}: its memory is missing or not aligned to 16 bytes", what);
}

// Bits to the right of the image become 0, as every mask requires.
void pack_mask(HostView<const std::uint8_t> from, HostBitMaskView<std::uint32_t> to) {
    validate(from, to.shape(), "the mask to pack");
    const auto& shape = to.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y) {
            const auto* pixels = from.row(frame, y);
            auto* words = to.row(frame, y);
            for (int word = 0; word < to.row_words(); ++word) {
                const int pixels_here = std::clamp(shape.width - word * 32, 0, 32);
                std::uint32_t bits = 0;
                for (int bit = 0; bit < pixels_here; ++bit)
                    bits |= static_cast<std::uint32_t>(pixels[word * 32 + bit] != 0) << bit;
                words[word] = bits;
            }
        }
}

void unpack_mask(HostBitMaskView<const std::uint32_t> from, HostView<std::uint8_t> to) {
    validate(to, from.shape(), "the unpacked mask");
    const auto& shape = from.shape();
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y) {
            const auto* words = from.row(frame, y);
            auto* pixels = to.row(frame, y);
            for (int x = 0; x < shape.width; ++x) pixels[x] = words[x / 32] >> (x % 32) & 1 ? 255 : 0;
        }
}

}  // namespace framewire
