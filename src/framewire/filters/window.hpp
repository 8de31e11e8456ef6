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

/// Every tile but the last of a row is a multiple of this many pixels wide, which keeps what fill_border needs inside the tile.
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
    const auto rows_each = parts(shape.height, std::clamp<std::int64_t>(wanted, 1, std::max(shape.height / least_rows, 1)));
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

/// The pixels of a row that a tile's windows see: begin to end, of which the image has those from first to last.
struct TileColumns {
    int begin, end;
    int first, last;
};

inline TileColumns tile_columns(const WindowTile& tile, WindowReach reach, int width) {
    const int begin = tile.x_begin - reach.before, end = tile.x_end + reach.after;
    return {begin, end, std::max(begin, 0), std::min(end, width)};
}

/// Fills the border's part of a line that holds pixels columns.begin to columns.end of a row `width` pixels wide, from
/// the image's part of it.
template <class T>
void fill_border(T* line, const TileColumns& columns, int width, int channels, Border border) {
    const auto fill = [&](int begin, int end) {
        for (int x = begin; x < end; ++x) {
            const int from = border_index(x, width, border);
            for (int channel = 0; channel < channels; ++channel)
                line[(x - columns.begin) * channels + channel] =
                    from < 0 ? T{0} : line[(from - columns.begin) * channels + channel];
        }
    };
    fill(columns.begin, columns.first);
    fill(columns.last, columns.end);
}

}  // namespace framewire
