#pragma once

#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

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

/// Returns how many rows a CPU thread takes at a time, about 16 KiB of each channel, so that they stay in a core's
/// cache.
constexpr int rows_in_cache(int width) { return 16 * 1024 / width + 1; }

}  // namespace framewire
