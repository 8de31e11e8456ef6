#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {

/// Bytes of input one thread takes at a time: small beside a core's L2, large beside the cost of handing it out.
inline constexpr std::int64_t span_bytes = 128 * 1024;

/// Calls body(in, out, pixels) on runs of pixels that cover two batches of the same frames, height and width, in
/// parallel: whole pieces of the batch where both are dense, whole rows otherwise.
template <class Body>
void for_pixel_spans(const ThreadPool& pool, HostView<const std::uint8_t> in, HostView<std::uint8_t> out, Body&& body) {
    const auto& shape = in.shape();
    const auto in_channels = shape.channels, out_channels = out.shape().channels;
    if (in.dense() && out.dense()) {
        // A multiple of 64 pixels keeps every piece as aligned as the first.
        const auto pixels_each = std::max<std::int64_t>(span_bytes / in_channels & ~std::int64_t{63}, 64);
        pool.for_chunks(shape.rows() * shape.width, pixels_each,
                        [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                            body(in.data() + begin * in_channels, out.data() + begin * out_channels, end - begin);
                        });
        return;
    }
    const auto rows_each = std::max<std::int64_t>(span_bytes / shape.row_bytes(), 1);
    pool.for_chunks(shape.rows(), rows_each, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto row = begin; row < end; ++row)
            body(in.batch_row(row), out.batch_row(row), std::int64_t{shape.width});
    });
}

}  // namespace framewire
