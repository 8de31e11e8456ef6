#pragma once

#include "framewire/filters/median/median.hpp"

#include <cstdint>

namespace framewire {

// The CPU's three methods: small windows by networks one pixel wide, straight from the image; middle ones by networks
// of square tiles, which share more; large ones by histograms, whose time does not grow.
inline constexpr int largest_small_median = 5;
inline constexpr int largest_middle_median = 15;

/// One block of a batch, the piece of work of one thread: some rows and columns of a frame.
struct MedianBlock {
    HostView<const std::uint8_t> in;
    HostView<std::uint8_t> out;
    int frame = 0, channel = 0;  ///< the channel matters to the histograms alone
    int x = 0, y = 0;            ///< of the block's first pixel
    int width = 0, height = 0;   ///< in pixels
};

/// The blocks a method takes.
struct MedianBlocking {
    int width = 0, height = 0;
    bool channel_by_channel = false;
    std::int64_t scratch_bytes = 0;  ///< of one block, a multiple of 64
};

/// Sizes 3 and 5, blocks of whole rows.
void small_median(const MedianBlock& block, int size, Border border);

/// What a block of the middle sizes looks like in scratch memory: a line for each row, with its border. A line holds
/// the first pixels of all tiles, then the second ones and so on, a plane each: neighbouring bytes of a vector belong
/// to neighbouring tiles. The strips of a row of tiles lie behind the lines, a plane for each of their values.
struct MiddleBlock {
    static constexpr int tile_side = 4;
    static constexpr int height = 64;
    static constexpr int output_bytes =
        1920;  ///< of a row; the rest of a line is border and the end of its last vector
    static constexpr int plane_bytes = 576, line_bytes = tile_side * plane_bytes;
    static constexpr int lines = height + largest_middle_median - 1;
    static constexpr int most_strip_values = 2 * tile_side * (largest_middle_median - tile_side + 1);
    static constexpr int scratch_bytes = (lines + tile_side + 1) * line_bytes + most_strip_values * plane_bytes;
    static_assert(height % tile_side == 0);
    static_assert(plane_bytes >=
                  output_bytes / tile_side + ((largest_middle_median + tile_side - 1) / tile_side + 1) * 3 + 64);
};

void middle_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch);

MedianBlocking histogram_blocking(int size, const Shape& shape, int threads);
void histogram_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch);

/// Row `y` of a frame or, outside it, what the border puts there: null for black.
inline const std::uint8_t* row_or_border(HostView<const std::uint8_t> image, int frame, int y, Border border) {
    const int from = border_index(y, image.shape().height, border);
    return from < 0 ? nullptr : image.row(frame, from);
}

}  // namespace framewire
