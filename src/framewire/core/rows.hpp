#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace framewire {

/// Half-open range of rows or columns of an image: `begin` to `end` - 1.
struct RowRange {
    int begin = 0, end = 0;

    /// Returns the number of rows; not positive if the range is empty.
    constexpr int count() const { return end - begin; }
    /// Returns the range with `rows` more rows on each side, clipped to an image of `height` rows: the range plus its
    /// halo.
    constexpr RowRange widened(int rows, int height) const {
        return {std::max(begin - rows, 0), std::min(end + rows, height)};
    }

    friend constexpr bool operator==(const RowRange&, const RowRange&) = default;
};

/// Axis-aligned rectangle of an image.
struct ImageArea {
    RowRange columns{}, rows{};

    /// Returns true if the area has no pixel.
    constexpr bool empty() const { return columns.count() <= 0 || rows.count() <= 0; }
    /// Returns the smallest rectangle around both. An empty rectangle adds nothing.
    constexpr ImageArea joined(const ImageArea& other) const {
        if (empty()) return other;
        if (other.empty()) return *this;
        const auto join = [](const RowRange& a, const RowRange& b) {
            return RowRange{std::min(a.begin, b.begin), std::max(a.end, b.end)};
        };
        return {join(columns, other.columns), join(rows, other.rows)};
    }
};

/// Consecutive rows of one image in host memory. Row 0 of the view is row `first` of the image. Does not own.
template <class T>
struct ImageRows {
    HostView<T> view{};
    int first = 0;

    constexpr ImageRows() = default;
    /// Row 0 of `rows` is row `first_row` of the image.
    constexpr ImageRows(HostView<T> rows, int first_row) : view(rows), first(first_row) {}
    /// Makes a view of all rows of an image.
    constexpr explicit ImageRows(HostView<T> image) : view(image) {}

    /// Converts writable rows to read-only rows.
    template <class Const>
    requires(std::is_same_v<Const, const T> && !std::is_const_v<T>) constexpr operator ImageRows<Const>() const {
        return {view, first};
    }

    /// Returns the range of these rows within the image.
    constexpr RowRange range() const { return {first, first + view.shape().height}; }
    /// Returns row `y` of the image, which must be within range().
    constexpr T* row(int y) const { return view.row(0, y - first); }
    /// Returns a part of these rows.
    constexpr ImageRows part(const RowRange& rows) const {
        const auto& shape = view.shape();
        return {HostView<T>(row(rows.begin), {1, rows.count(), shape.width, shape.channels}, view.row_stride_bytes(),
                            view.row_stride_bytes() * rows.count()),
                rows.begin};
    }
};

/// Writes the requested rows of an image that need not exist in memory as a whole. For callers that process a few rows
/// at a time while they are in a core's cache. Runs on the calling thread. Several threads may call it at once, for any
/// rows.
using MakeRows = std::function<void(const ImageRows<std::uint8_t>& rows)>;

namespace detail {
void validate_rows(const RowRange& rows, const Shape& image, const char* what);
}

/// Throws Error{usage} unless `rows` are rows of an image of shape `image` and their stride holds them. `what` names
/// the rows in the message.
template <class T>
void validate_rows(const ImageRows<T>& rows, const Shape& image, const char* what) {
    detail::validate_rows(rows.range(), image, what);
    validate(rows.view, {1, rows.view.shape().height, image.width, image.channels}, what);
}

/// Consecutive rows of one image in host memory with planar channels, the layout that vector code needs. Does not
/// own. `data` points to row `range.begin` of channel 0.
struct ChannelRows {
    std::uint8_t* data = nullptr;
    std::int64_t channel_stride = 0, row_stride = 0;  ///< in bytes
    RowRange range{};

    /// Returns row `y` of the image, which must be within `range`, for one channel.
    constexpr std::uint8_t* row(int y, int channel = 0) const {
        return data + (y - range.begin) * row_stride + channel * channel_stride;
    }
};

/// Writes the requested rows of an image, like MakeRows, but with planar channels.
using MakeChannelRows = std::function<void(const ChannelRows& rows)>;

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
    /// Makes strips of `rows_each` rows.
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
    /// Calls body(rows) for each strip as for_rows() does, but the body fills the rows itself: the strip is
    /// uninitialised memory.
    template <class Body>
    void for_strips(Body&& body) const {
        // A chunk stands for a thread, not for a strip: each thread keeps its own memory and takes the next strip
        // when it is free.
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
