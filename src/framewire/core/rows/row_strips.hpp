#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/rows/image_rows.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace framewire {

/// Returns how many rows a CPU thread takes at a time, about 16 KiB of each channel, so that they stay in a core's
/// cache.
constexpr int rows_in_cache(int width) { return 16 * 1024 / width + 1; }

/// Memory for one strip of rows per thread of a pool. MakeRows fills a strip, and the caller reads it while it is in a
/// core's cache. Only one loop at a time may use an object.
class RowStrips {
public:
    RowStrips() = default;
    /// Makes strips for frames with the height, width and channels of `image`. `pool` must outlive the object.
    RowStrips(const Shape& image, const ThreadPool& pool) : RowStrips(image, pool, rows_in_cache(image.width)) {}
    RowStrips(const Shape& image, const ThreadPool& pool, int rows_each)
        : image_(image.with_frames(1)), rows_each_(rows_each), pool_(&pool) {
        for (int thread = 0; thread < pool.threads(); ++thread)
            strips_.emplace_back(static_cast<std::size_t>(rows_each_ * image_.row_bytes()));
    }

    /// Makes all rows of one image, each exactly once, and calls body(rows) for each strip, on the pool's threads and
    /// in any order. Returns when all are done.
    template <class Body>
    void for_rows(const MakeRows& make, Body&& body) const {
        for_strips([&](const ImageRows<std::uint8_t>& rows) {
            make(rows);
            body(rows);
        });
    }
    /// Like for_rows(), but the body fills the rows itself: the strip is uninitialised memory.
    template <class Body>
    void for_strips(Body&& body) const {
        // Chunks are threads, not strips: each thread keeps its own memory and takes the next strip when it is free.
        std::atomic<int> next{0};
        pool_->for_chunks(
            static_cast<std::int64_t>(strips_.size()), 1, [&](std::int64_t thread, std::int64_t, std::int64_t) {
                auto* const strip = strips_[static_cast<std::size_t>(thread)].data();
                for (int begin = next.fetch_add(rows_each_); begin < image_.height;
                     begin = next.fetch_add(rows_each_)) {
                    const int count = std::min(rows_each_, image_.height - begin);
                    body(ImageRows<std::uint8_t>({strip, {1, count, image_.width, image_.channels}}, begin));
                }
            });
    }

private:
    Shape image_{};
    int rows_each_ = 0;
    const ThreadPool* pool_ = nullptr;
    std::vector<HostBuffer> strips_;
};

}  // namespace framewire
