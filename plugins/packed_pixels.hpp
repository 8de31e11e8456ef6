#pragma once

#include <cstddef>
#include <cstdint>

// Pixels of three or four interleaved bytes in any order, and the BGR and gray images of the C interface.

namespace framewire::plugins {

/// Positions of the channels in a pixel of `bytes` bytes. A pixel of four bytes has alpha, or a byte without meaning.
struct PackedOrder {
    int bytes, red, green, blue, alpha;

    friend bool operator==(const PackedOrder&, const PackedOrder&) = default;
};
inline constexpr PackedOrder order_bgr{3, 2, 1, 0, -1};
inline constexpr PackedOrder order_rgb{3, 0, 1, 2, -1};
inline constexpr PackedOrder order_bgra{4, 2, 1, 0, 3};
inline constexpr PackedOrder order_rgba{4, 0, 1, 2, 3};
inline constexpr PackedOrder order_argb{4, 1, 2, 3, 0};
inline constexpr PackedOrder order_abgr{4, 3, 2, 1, 0};

/// Size of an image in pixels.
struct ImageSize {
    int width, height;

    friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// An image in memory that somebody else owns.
template <class T>
struct Pixels {
    T* data;
    std::ptrdiff_t stride;  ///< bytes from row to row

    /// Returns the first byte of a row.
    T* row(int y) const { return data + y * stride; }
};

/// Copies the colours of an image to a BGR image.
void to_bgr(const PackedOrder& order, ImageSize size, Pixels<const std::uint8_t> from, Pixels<std::uint8_t> to);

/// Copies a BGR image to one of another order. Alpha is that of `alpha`, an image of the same order and size, or opaque
/// if `alpha.data` is null.
void from_bgr(const PackedOrder& order, ImageSize size, Pixels<const std::uint8_t> from, Pixels<std::uint8_t> to,
              Pixels<const std::uint8_t> alpha);

/// Copies a gray image; otherwise like from_bgr().
void from_gray(const PackedOrder& order, ImageSize size, Pixels<const std::uint8_t> from, Pixels<std::uint8_t> to,
               Pixels<const std::uint8_t> alpha);

}  // namespace framewire::plugins
