#pragma once

#include "framewire/core/parameters.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace framewire {

/// Method to continue the image beyond its edges.
enum class Border {
    reflect101,  ///< mirrored at the outermost pixel, without repeating it: dcb|abcd|cba
    replicate,   ///< the nearest pixel repeated: aaa|abcd|ddd
    zero,        ///< black
};

/// Names of the borders in options.
inline constexpr NamedValue<Border> border_names[] = {
    {"reflect101", Border::reflect101}, {"replicate", Border::replicate}, {"zero", Border::zero}};

/// Returns the name and help text of the `border` parameter, shared by the ParameterFields of every filter with a
/// window.
ParameterInfo border_parameter();

/// Maps `index`, which may lie any distance outside, to a pixel in 0..size - 1. Returns -1 if `border` is `zero` and
/// the index lies outside. `size` must be at least 1.
FRAMEWIRE_HOST_DEVICE constexpr int border_index(int index, int size, Border border) {
    if (index >= 0 && index < size) return index;
    if (border == Border::zero) return -1;
    if (border == Border::replicate) return index < 0 ? 0 : size - 1;
    if (size == 1) return 0;
    // The mirrored row repeats with a period of 2 * size - 2 pixels.
    const int period = 2 * size - 2;
    int offset = index % period;
    if (offset < 0) offset += period;
    return offset < size ? offset : period - offset;
}

/// Writes pixels begin <= x < end of a row of `width` pixels to `padded`, (end - begin) * channels bytes; pixels
/// outside the row come from `border`. `padded` must not overlap the row. A null `row` is a black row, as for a row
/// index of -1 from border_index().
void pad_row_part(const std::uint8_t* row, int width, int channels, int begin, int end, Border border,
                  std::uint8_t* padded);

/// Largest side of a filter's window, in pixels.
inline constexpr int max_window_px = 255;

/// Extent of a window around its pixel: it covers -before to +after. A window of even size covers one more pixel
/// before.
struct WindowReach {
    /// Number of pixels that the window covers before and after its own pixel.
    int before, after;
};

/// Returns the extent of a window of `size` pixels.
FRAMEWIRE_HOST_DEVICE constexpr WindowReach window_reach(int size) { return {size / 2, size - 1 - size / 2}; }

/// A rectangle of one frame's result that one thread computes.
struct WindowTile {
    /// Frame of the batch.
    int frame;
    /// Columns x_begin to x_end - 1.
    int x_begin, x_end;
    /// Rows y_begin to y_end - 1.
    int y_begin, y_end;
};

/// Granularity of tile widths. Every tile except the last in a row is a multiple of this many pixels wide, so that the
/// pixels that supply the border lie within the tile's own windows.
inline constexpr int tile_step_px = 64;

/// Calls body(WindowTile) in parallel on tiles that cover a batch. Tiles are about `width_px` wide. They are at least
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

/// Line of pixels that the windows of a tile read in one row: begin <= x < end, of which first <= x < last lie in the
/// image. Also records which pixel of the line supplies the value of each pixel outside the image.
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

    /// Returns the length of the line in elements: pixels times channels.
    int count() const { return (end_ - begin_) * channels_; }
    /// Returns the start, in the image row, of the line's part that lies in the image, in elements.
    int image_begin() const { return first_ * channels_; }
    /// Returns the start of that part in the line, in elements.
    int line_begin() const { return (first_ - begin_) * channels_; }
    /// Returns the length of that part, in elements.
    int image_count() const { return (last_ - first_) * channels_; }

    /// Fills the elements outside the image from those inside, which the caller must have written.
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

/// A weighted mean around each pixel, with the same weights along rows and columns. Along one axis, pixel i becomes the
/// sum over tap t of weights[t] * (pixel i + t - before). The border supplies pixels outside the image.
struct SeparableWindow {
    std::vector<double> weights;  ///< weights, which sum to 1
    int before;                   ///< number of taps before the pixel itself
    Border border;                ///< pixels outside the image
};

/// Bytes of input per chunk of work: small compared with a core's L2 cache, large enough to make the cost of handing a
/// chunk to a thread negligible.
inline constexpr std::int64_t span_bytes = 128 * 1024;

/// A run of `pixels` pixels of a batch, starting at pixel `first` of row `row`; rows are numbered across all frames. In
/// dense images a run may continue into the following rows.
struct PixelRun {
    /// Row, first pixel in it, and number of pixels.
    std::int64_t row, first, pixels;

    /// Returns the address of the run's first byte in `image`.
    template <class T>
    T* in(HostView<T> image) const {
        return image.batch_row(row) + first * image.shape().channels;
    }
};

/// Calls body(PixelRun) in parallel on runs that cover a batch of `shape`: large chunks across rows if `all_dense`
/// states that all images are dense, otherwise whole rows.
template <class Body>
void for_pixel_runs(const ThreadPool& pool, const Shape& shape, bool all_dense, Body&& body) {
    if (all_dense) {
        // With a multiple of 64 pixels, every chunk has the alignment of the first.
        const auto pixels_each = std::max<std::int64_t>(span_bytes / shape.channels & ~std::int64_t{63}, 64);
        pool.for_chunks(shape.rows() * shape.width, pixels_each,
                        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                            body(PixelRun{0, begin, end - begin});
                        });
        return;
    }
    const auto rows_each = std::max<std::int64_t>(span_bytes / shape.row_bytes(), 1);
    pool.for_chunks(shape.rows(), rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto row = begin; row < end; ++row) body(PixelRun{row, 0, shape.width});
    });
}

/// Calls body(in, out, pixels) in parallel on runs of pixels that cover two batches with the same frames, height and
/// width. Their channels may differ.
template <class Body>
void for_pixel_spans(const ThreadPool& pool, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, Body&& body) {
    for_pixel_runs(pool, in.shape(), in.dense() && out.dense(),
                   [&](const PixelRun& run) { body(run.in(in), run.in(out), run.pixels); });
}

/// Calls body(in, previous, out, pixels) in parallel, for two inputs of the same shape.
template <class Body>
void for_pixel_spans(const ThreadPool& pool, HostView<const std::uint8_t> in, HostView<const std::uint8_t> previous,
                     HostView<std::uint8_t> out, Body&& body) {
    for_pixel_runs(pool, in.shape(), in.dense() && previous.dense() && out.dense(),
                   [&](const PixelRun& run) { body(run.in(in), run.in(previous), run.in(out), run.pixels); });
}

}  // namespace framewire
