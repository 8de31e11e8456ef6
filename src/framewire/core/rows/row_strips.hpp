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

/// Rows that a thread of the CPU takes at a time, for what is made of them to stay in a core's cache.
constexpr int rows_in_cache(int width) { return 16 * 1024 / width + 1; }

/// Memory for some rows of an image for each thread of a pool, where MakeRows makes them to be looked at while they are
/// in a core's cache.
class RowStrips {
public:
    RowStrips() = default;
    /// For frames of that height, width and channels.
    RowStrips(const Shape& image, const ThreadPool& pool) : RowStrips(image, pool, rows_in_cache(image.width)) {}
    RowStrips(const Shape& image, const ThreadPool& pool, int rows_each)
        : image_(image.with_frames(1)), rows_each_(rows_each), pool_(&pool) {
        for (int thread = 0; thread < pool.threads(); ++thread)
            strips_.emplace_back(static_cast<std::size_t>(rows_each_ * image_.row_bytes()));
    }

    /// Has all rows of one image made, each once, and calls body(rows) for some of them at a time, on the pool's
    /// threads and in any order. Returns when done.
    template <class Body>
    void for_rows(const MakeRows& make, Body&& body) const {
        for_strips([&](const ImageRows<std::uint8_t>& rows) {
            make(rows);
            body(rows);
        });
    }
    /// The same for a body that makes the rows itself: they are memory for it.
    template <class Body>
    void for_strips(Body&& body) const {
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
