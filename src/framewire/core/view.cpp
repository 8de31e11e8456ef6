#include "framewire/core/view.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/rows.hpp"

#include <cstring>

// Checks of shapes and views. Messages name the image, its shape, and what is allowed.

namespace framewire {

std::string to_string(const Shape& shape) {
    auto text = fmt::format("{}x{} {}", shape.width, shape.height, shape.channels == 1 ? "gray" : "BGR");
    if (shape.channels != 1 && shape.channels != 3) text += fmt::format(" ({} channels)", shape.channels);
    if (shape.frames != 1) text += fmt::format(" x {}", shape.frames);
    return text;
}

void validate(const Shape& shape, const char* what) {
    if (shape.width < 1 || shape.width > max_side_px || shape.height < 1 || shape.height > max_side_px)
        fail(ErrorCode::usage, "{} is {}x{}; allowed: sides of 1 to {} pixels", what, shape.width, shape.height,
             max_side_px);
    if (shape.channels != 1 && shape.channels != 3)
        fail(ErrorCode::usage, "{} has {} channels; allowed: 1 (gray) and 3 (BGR)", what, shape.channels);
    if (shape.frames < 1) fail(ErrorCode::usage, "{} has {} frames; at least 1 is needed", what, shape.frames);
}

namespace detail {

void validate_view(const void* data, const Shape& have, std::int64_t row_stride_bytes, std::int64_t frame_stride_bytes,
                   const Shape& want, const char* what) {
    if (have != want) fail(ErrorCode::usage, "{} is {}; expected {}", what, to_string(have), to_string(want));
    if (data == nullptr) fail(ErrorCode::usage, "{} is a null pointer", what);
    if (row_stride_bytes < have.row_bytes())
        fail(ErrorCode::usage, "{} has a row stride of {} bytes; a row needs {}", what, row_stride_bytes,
             have.row_bytes());
    // The last row of a frame needs no gap after it.
    const auto frame_span = (have.height - 1) * row_stride_bytes + have.row_bytes();
    if (have.frames > 1 && frame_stride_bytes < frame_span)
        fail(ErrorCode::usage, "{} has a frame stride of {} bytes; a frame needs {}", what, frame_stride_bytes,
             frame_span);
}

void validate_rows(const RowRange& rows, const Shape& image, const char* what) {
    if (rows.begin < 0 || rows.end <= rows.begin || rows.end > image.height)
        fail(ErrorCode::usage, "{} are {} to {}, an invalid range for {}", what, rows.begin, rows.end,
             to_string(image));
}

}  // namespace detail

void copy(HostView<const std::uint8_t> from, HostView<std::uint8_t> to) {
    validate(to, from.shape(), "the copy destination");
    const auto& shape = from.shape();
    // Contiguous batches need only one copy.
    if (from.dense() && to.dense()) {
        std::memcpy(to.data(), from.data(), static_cast<std::size_t>(shape.bytes()));
        return;
    }
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            std::memcpy(to.row(frame, y), from.row(frame, y), static_cast<std::size_t>(shape.row_bytes()));
}

}  // namespace framewire
