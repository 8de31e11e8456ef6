#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Bytes of input per chunk of work: small compared with a core's L2 cache, large compared with the cost of handing it
/// to a thread.
inline constexpr std::int64_t span_bytes = 128 * 1024;

/// A run of `pixels` pixels of a batch, starting at pixel `first` of row `row`; rows are counted through all frames. In
/// dense images a run may continue into the following rows.
struct PixelRun {
    /// Row, first pixel in it, and number of pixels.
    std::int64_t row, first, pixels;

    /// Address of the run's first byte in `image`.
    template <class T>
    T* in(HostView<T> image) const {
        return image.batch_row(row) + first * image.shape().channels;
    }
};

/// Calls body(PixelRun) in parallel on runs that cover a batch of `shape`: large chunks across rows if `all_dense` says
/// that all images are dense, otherwise whole rows.
template <class Body>
void for_pixel_runs(const ThreadPool& pool, const Shape& shape, bool all_dense, Body&& body) {
    if (all_dense) {
        // A multiple of 64 pixels gives every chunk the alignment of the first.
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
/// width. Channels may differ.
template <class Body>
void for_pixel_spans(const ThreadPool& pool, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, Body&& body) {
    for_pixel_runs(pool, in.shape(), in.dense() && out.dense(),
                   [&](const PixelRun& run) { body(run.in(in), run.in(out), run.pixels); });
}

/// As above with two inputs of one shape: body(in, previous, out, pixels).
template <class Body>
void for_pixel_spans(const ThreadPool& pool, HostView<const std::uint8_t> in, HostView<const std::uint8_t> previous,
                     HostView<std::uint8_t> out, Body&& body) {
    for_pixel_runs(pool, in.shape(), in.dense() && previous.dense() && out.dense(),
                   [&](const PixelRun& run) { body(run.in(in), run.in(previous), run.in(out), run.pixels); });
}

}  // namespace framewire
