#pragma once

#include "framewire/filters/median/median.hpp"

#include <cstdint>

namespace framewire {

// The CPU's three methods. Small windows use sorting networks for one pixel, straight from the image. Middle windows
// use networks for square tiles, which share more comparisons. Large windows use histograms, whose time does not grow.
/// Largest size of small_median().
inline constexpr int largest_small_median = 5;
/// Largest size of middle_median().
inline constexpr int largest_middle_median = 15;

/// A block of a batch, the work of one thread: some rows and columns of one frame.
struct MedianBlock {
    /// The batch.
    HostView<const std::uint8_t> in;
    /// Its result.
    HostView<std::uint8_t> out;
    int frame = 0, channel = 0;  ///< the channel is used by the histograms only
    int x = 0, y = 0;            ///< first pixel of the block
    int width = 0, height = 0;   ///< size of a block, in pixels
};

/// How a method divides an image into blocks.
struct MedianBlocking {
    int width = 0, height = 0;
    /// Each channel is a block of its own.
    bool channel_by_channel = false;
    std::int64_t scratch_bytes = 0;  ///< per block; a multiple of 64
};

/// Median of the sizes 3 and 5. Blocks consist of whole rows.
void small_median(const MedianBlock& block, int size, Border border);

/// Layout of a block of the middle sizes in scratch memory. There is one line per image row, including the border. A
/// line is split into planes: first the first pixels of all tiles, then the second ones, and so on, so that
/// neighbouring bytes of a vector belong to neighbouring tiles. The strips of a row of tiles follow after the lines,
/// one plane per value.
struct MiddleBlock {
    /// Side of a tile, in pixels.
    static constexpr int tile_side = 4;
    /// Rows of results per block.
    static constexpr int height = 64;
    /// Bytes per row of results; the rest of a line holds the border and the end of its last vector.
    static constexpr int output_bytes = 1920;
    /// Bytes per plane, and per line of four planes.
    static constexpr int plane_bytes = 576, line_bytes = tile_side * plane_bytes;
    /// Lines of a block, including the border.
    static constexpr int lines = height + largest_middle_median - 1;
    /// Most values of one strip: its sorted columns and the sorted whole.
    static constexpr int most_strip_values = 2 * tile_side * (largest_middle_median - tile_side + 1);
    /// Scratch memory of a block: lines, results of one row of tiles, a row of pixels, and strips.
    static constexpr int scratch_bytes = (lines + tile_side + 1) * line_bytes + most_strip_values * plane_bytes;
    static_assert(height % tile_side == 0);
    static_assert(plane_bytes >=
                  output_bytes / tile_side + ((largest_middle_median + tile_side - 1) / tile_side + 1) * 3 + 64);
};

/// Median of the sizes 7 to largest_middle_median. `scratch` holds MiddleBlock::scratch_bytes.
void middle_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch);

/// How histogram_median() divides images of `shape` among `threads` threads.
MedianBlocking histogram_blocking(int size, const Shape& shape, int threads);
/// Median of any odd size, for one channel. `scratch` holds the bytes that histogram_blocking() asks for.
void histogram_median(const MedianBlock& block, int size, Border border, std::uint8_t* scratch);

/// Row `y` of a frame; outside the image, the row that the border supplies, or null for black.
inline const std::uint8_t* row_or_border(HostView<const std::uint8_t> image, int frame, int y, Border border) {
    const int from = border_index(y, image.shape().height, border);
    return from < 0 ? nullptr : image.row(frame, from);
}

}  // namespace framewire
