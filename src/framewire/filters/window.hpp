#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/border.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Largest side of a filter's window, in pixels.
inline constexpr int max_window_px = 255;

/// Extent of a window around its pixel: it covers -before to +after. A window of even size covers one more pixel
/// before.
struct WindowReach {
    /// Pixels before and after its own.
    int before, after;
};

/// Extent of a window of `size` pixels.
FRAMEWIRE_HOST_DEVICE constexpr WindowReach window_reach(int size) { return {size / 2, size - 1 - size / 2}; }

/// A rectangle of one frame's result that one thread makes.
struct WindowTile {
    /// Frame of the batch.
    int frame;
    /// Columns x_begin to x_end - 1.
    int x_begin, x_end;
    /// Rows y_begin to y_end - 1.
    int y_begin, y_end;
};

/// Granularity of tile widths. Every tile but the last in a row is a multiple of this many pixels wide, so that the
/// pixels which supply the border lie within its own windows.
inline constexpr int tile_step_px = 64;

/// Calls body(WindowTile) in parallel on tiles that cover a batch. Tiles are about `width_px` wide and at least
/// `least_rows` high if the frame is, because every tile repeats the work for the rows above it.
template <class Body>
void for_window_tiles(const ThreadPool& pool, const Shape& shape, int width_px, int least_rows, Body&& body) {
    const auto parts = [](std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; };
    width_px = static_cast<int>(parts(shape.width, parts(shape.width, std::max(width_px, tile_step_px))));
    width_px = static_cast<int>(parts(width_px, tile_step_px)) * tile_step_px;
    const auto columns = parts(shape.width, width_px);
    // Four tiles per thread balance the load if other processes slow a core down.
    const auto wanted = parts(4 * pool.threads(), shape.frames * columns);
    const auto rows_each =
        parts(shape.height, std::clamp<std::int64_t>(wanted, 1, std::max(shape.height / least_rows, 1)));
    const auto bands = parts(shape.height, rows_each);
    pool.for_chunks(shape.frames * bands * columns, 1, [&](std::int64_t index, std::int64_t, std::int64_t) {
        const auto column = static_cast<int>(index % columns);
        const auto band = static_cast<int>(index / columns % bands);
        const auto y_begin = band * static_cast<int>(rows_each);
        body(WindowTile{.frame = static_cast<int>(index / columns / bands),
                        .x_begin = column * width_px,
                        .x_end = std::min(shape.width, (column + 1) * width_px),
                        .y_begin = y_begin,
                        .y_end = std::min(shape.height, y_begin + static_cast<int>(rows_each))});
    });
}

/// The line of pixels that the windows of a tile see in one row: begin <= x < end, of which first <= x < last lie in
/// the image. Also records, for every pixel outside, which pixel of the line supplies its value.
class TileColumns {
public:
    /// Computes the line for `tile` in an image of `shape`.
    TileColumns(const WindowTile& tile, WindowReach reach, const Shape& shape, Border border)
        : channels_(shape.channels),
          black_(border == Border::zero),
          begin_(tile.x_begin - reach.before),
          end_(tile.x_end + reach.after),
          first_(std::max(begin_, 0)),
          last_(std::min(end_, shape.width)) {
        if (black_) return;
        auto* from = from_;
        const auto look_up = [&](int x) {
            *from++ = static_cast<std::int16_t>(border_index(x, shape.width, border) - begin_);
        };
        for (int x = begin_; x < first_; ++x) look_up(x);
        for (int x = last_; x < end_; ++x) look_up(x);
    }

    /// Length of the line in elements: pixels times channels.
    int count() const { return (end_ - begin_) * channels_; }
    /// The part of the line that lies in the image, in elements: its start in the row, its start in the line, and its
    /// length.
    int image_begin() const { return first_ * channels_; }
    /// Start of the image's part in the line.
    int line_begin() const { return (first_ - begin_) * channels_; }
    /// Length of the image's part.
    int image_count() const { return (last_ - first_) * channels_; }

    /// Fills the elements outside the image from those inside, which the caller has written.
    template <class T>
    void fill_border(T* line) const {
        if (channels_ == 3)
            fill_border_of<3>(line);
        else
            fill_border_of<1>(line);
    }

private:
    template <int channels, class T>
    void fill_border_of(T* line) const {
        // Elements to the right of the image.
        auto* after = line + (last_ - begin_) * channels;
        if (black_) {
            std::fill(line, line + (first_ - begin_) * channels, T{0});
            std::fill(after, line + (end_ - begin_) * channels, T{0});
            return;
        }
        const auto* from = from_;
        const auto fill = [&](T* to, int pixels) {
            for (int pixel = 0; pixel < pixels; ++pixel, to += channels) {
                const auto* pixel_from = line + *from++ * channels;
                for (int channel = 0; channel < channels; ++channel) to[channel] = pixel_from[channel];
            }
        };
        fill(line, first_ - begin_);
        fill(after, end_ - last_);
    }

    int channels_;
    bool black_;
    int begin_, end_, first_, last_;
    std::int16_t from_[max_window_px];  // for each pixel outside the image, the index of its source pixel in the line
};

}  // namespace framewire
