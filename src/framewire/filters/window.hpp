#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/filters/border.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Largest side of a filter's window, in pixels.
inline constexpr int max_window_px = 255;

/// Which pixels beside its own a window sees in each direction: -before to +after. An even one sees one more before.
struct WindowReach {
    int before, after;
};

FRAMEWIRE_HOST_DEVICE constexpr WindowReach window_reach(int size) { return {size / 2, size - 1 - size / 2}; }

/// A rectangle of one frame's result, the work of one thread.
struct WindowTile {
    int frame;
    int x_begin, x_end;
    int y_begin, y_end;
};

/// Every tile but the last of a row is a multiple of this many pixels wide, so that the border's pixels are found among
/// those its windows see.
inline constexpr int tile_step_px = 64;

/// Calls body(WindowTile) in parallel on tiles that cover a batch: about `width_px` wide, and at least
/// `least_rows` high where the frame is, because each tile begins with the rows above it.
template <class Body>
void for_window_tiles(const ThreadPool& pool, const Shape& shape, int width_px, int least_rows, Body&& body) {
    const auto parts = [](std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; };
    width_px = static_cast<int>(parts(shape.width, parts(shape.width, std::max(width_px, tile_step_px))));
    width_px = static_cast<int>(parts(width_px, tile_step_px)) * tile_step_px;
    const auto columns = parts(shape.width, width_px);
    // Four tiles a thread even out what one core loses to others' work.
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

/// The pixels of a row that a tile's windows see, begin to end, of which the image has those from first to last; and
/// which of these stand in for the others.
class TileColumns {
public:
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

    /// Of the whole line, in elements: pixels times channels.
    int count() const { return (end_ - begin_) * channels_; }
    /// Where the image's part of the line begins in the row, where in the line, and how long it is, in elements.
    int image_begin() const { return first_ * channels_; }
    int line_begin() const { return (first_ - begin_) * channels_; }
    int image_count() const { return (last_ - first_) * channels_; }

    /// Fills the border's part of a line from the image's part.
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
    std::int16_t from_[max_window_px];  // of each pixel outside the image, as its place in the line
};

}  // namespace framewire
