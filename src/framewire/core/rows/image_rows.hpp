#pragma once

#include "framewire/core/view.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace framewire {

/// Rows, or columns, begin to end - 1 of an image.
struct RowRange {
    int begin = 0, end = 0;

    constexpr int count() const { return end - begin; }
    /// So many rows more above and below, as far as an image of `height` has them.
    constexpr RowRange widened(int rows, int height) const {
        return {std::max(begin - rows, 0), std::min(end + rows, height)};
    }

    friend constexpr bool operator==(const RowRange&, const RowRange&) = default;
};

/// A rectangle of an image.
struct ImageArea {
    RowRange columns{}, rows{};

    constexpr bool empty() const { return columns.count() <= 0 || rows.count() <= 0; }
    /// The smallest one around both.
    constexpr ImageArea joined(const ImageArea& other) const {
        if (empty()) return other;
        if (other.empty()) return *this;
        const auto join = [](const RowRange& a, const RowRange& b) {
            return RowRange{std::min(a.begin, b.begin), std::max(a.end, b.end)};
        };
        return {join(columns, other.columns), join(rows, other.rows)};
    }
};

/// Some rows of one image, in host memory: the view's first row is row `first` of it.
template <class T>
struct ImageRows {
    HostView<T> view{};
    int first = 0;

    constexpr ImageRows() = default;
    constexpr ImageRows(HostView<T> rows, int first_row) : view(rows), first(first_row) {}
    /// All of the image's.
    constexpr explicit ImageRows(HostView<T> image) : view(image) {}

    /// Rows to change are rows to read.
    template <class Const>
    requires(std::is_same_v<Const, const T> && !std::is_const_v<T>) constexpr operator ImageRows<Const>() const {
        return {view, first};
    }

    constexpr RowRange range() const { return {first, first + view.shape().height}; }
    /// Row `y` of the image, which is one of these.
    constexpr T* row(int y) const { return view.row(0, y - first); }
    /// Fewer of them.
    constexpr ImageRows part(const RowRange& rows) const {
        const auto& shape = view.shape();
        return {HostView<T>(row(rows.begin), {1, rows.count(), shape.width, shape.channels}, view.row_stride_bytes(),
                            view.row_stride_bytes() * rows.count()),
                rows.begin};
    }
};

/// Writes the rows asked for of one image, which need not be in memory as a whole: for who works on some rows at a time
/// while they are in a core's cache. On the calling thread; several at once for any rows.
using MakeRows = std::function<void(const ImageRows<std::uint8_t>& rows)>;

namespace detail {
void validate_rows(const RowRange& rows, const Shape& image, const char* what);
}

/// Throws Error{usage} unless these are rows of an image of that shape, and their stride holds them. `what` names them
/// in the message.
template <class T>
void validate_rows(const ImageRows<T>& rows, const Shape& image, const char* what) {
    detail::validate_rows(rows.range(), image, what);
    validate(rows.view, {1, rows.view.shape().height, image.width, image.channels}, what);
}

}  // namespace framewire
