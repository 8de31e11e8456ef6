#include "framewire/detect/box_overlay.hpp"
#include "framewire/core/error.hpp"
#include "framewire/filters/gray_input.hpp"

#include <algorithm>

namespace framewire {
namespace {

// Returns the gray value of a colour, with the weights of the filter `gray`.
Pixel as_gray(Pixel color) {
    constexpr auto weights = gray_weights(GrayMethod::weighted);
    const auto value = (weights.b * channel_of(color, 0) + weights.g * channel_of(color, 1) +
                        weights.r * channel_of(color, 2) + weights.rounding) >>
                       gray_shift;
    return gray_pixel(static_cast<std::uint32_t>(value));
}

// Fills a rectangle of one frame with a colour.
void fill_rectangle(HostView<std::uint8_t> image, int frame, int x_begin, int x_end, int y_begin, int y_end,
                    Pixel color) {
    const int channels = image.shape().channels;
    for (int y = y_begin; y < y_end; ++y)
        for (int x = x_begin; x < x_end; ++x) store_pixel(color, channels, image.row(frame, y) + x * channels);
}

// Fills one cell with its mean, per channel, rounded half up.
void fill_cell_with_mean(HostView<const std::uint8_t> in, HostView<std::uint8_t> out, int frame, int x_begin, int x_end,
                         int y_begin, int y_end) {
    const int channels = in.shape().channels;
    const auto pixels = std::uint64_t{static_cast<unsigned>(x_end - x_begin)} * static_cast<unsigned>(y_end - y_begin);
    for (int channel = 0; channel < channels; ++channel) {
        std::uint64_t sum = 0;
        for (int y = y_begin; y < y_end; ++y)
            for (int x = x_begin; x < x_end; ++x) sum += in.row(frame, y)[x * channels + channel];
        const auto mean = static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
        for (int y = y_begin; y < y_end; ++y)
            for (int x = x_begin; x < x_end; ++x) out.row(frame, y)[x * channels + channel] = mean;
    }
}

}  // namespace

// Draws each outline inside of its box and no thicker than the box.
void draw_outlines(std::span<const Component> boxes, const BoxStyle& style, HostView<std::uint8_t> images, int frame) {
    const auto color = images.shape().channels == 1 ? as_gray(style.color) : style.color;
    for (const auto& box : boxes) {
        const int right = box.x + box.width, bottom = box.y + box.height;
        const int line_x = std::min(style.line_px, box.width), line_y = std::min(style.line_px, box.height);
        fill_rectangle(images, frame, box.x, right, box.y, box.y + line_y, color);
        fill_rectangle(images, frame, box.x, right, bottom - line_y, bottom, color);
        fill_rectangle(images, frame, box.x, box.x + line_x, box.y, bottom, color);
        fill_rectangle(images, frame, right - line_x, right, box.y, bottom, color);
    }
}

BoxOverlay::BoxOverlay(const BoxStyle& style, const Shape& shape, Executor& executor)
    : style_(style), shape_(shape), executor_(&executor) {
    validate(shape, "the input of the box overlay");
    if (style.line_px < 1 || style.line_px > max_outline_px)
        fail(ErrorCode::usage, "the line width of boxes is {} px; allowed: 1 to {}", style.line_px, max_outline_px);
    if (style.pixelate_px < 0 || style.pixelate_px > max_pixelate_px)
        fail(ErrorCode::usage, "the cell size of pixelated boxes is {} px; allowed: 0 (no pixelation) to {}",
             style.pixelate_px, max_pixelate_px);
    if (shape.channels == 1) style_.color = as_gray(style.color);  // converting a gray value again does not change it
    // Outlines need no memory.
    if (style.pixelate_px == 0) return;
    const auto cells = std::size_t{static_cast<unsigned>(cells_across())} * static_cast<unsigned>(cells_down());
    const auto cell_bytes =
        executor.backend() == Backend::cpu ? 1 : static_cast<std::size_t>(shape.frames) * sizeof(std::uint32_t);
    hidden_ = BackendBuffer(cells * cell_bytes, executor);
}

// Marks hidden cells first, so that each is averaged once, no matter how many boxes touch it.
void BoxOverlay::run(HostView<const std::uint8_t> in, const ComponentLists<MemorySpace::host>& boxes,
                     HostView<std::uint8_t> out, int whole_frames) {
    validate(in, shape_, "the input of the box overlay");
    validate(out, shape_, "the output of the box overlay");
    copy(in, out);
    const int cell = style_.pixelate_px;
    for (int frame = 0; frame < shape_.frames; ++frame) {
        const auto* first = boxes.components + std::int64_t{frame} * boxes.capacity;
        const auto* last = first + std::min(boxes.found[frame], boxes.capacity);
        if (cell == 0) {
            draw_outlines({first, last}, style_, out, frame);
            continue;
        }
        // If the list is incomplete, the whole frame is hidden.
        const bool whole = frame < whole_frames || boxes.found[frame] > boxes.capacity;
        hidden_.fill(whole);
        for (auto* box = first; box != last; ++box)
            for (int row = box->y / cell; row <= (box->y + box->height - 1) / cell; ++row)
                for (int column = box->x / cell; column <= (box->x + box->width - 1) / cell; ++column)
                    hidden_.data()[row * cells_across() + column] = 1;
        for (int row = 0; row < cells_down(); ++row)
            for (int column = 0; column < cells_across(); ++column)
                if (hidden_.data()[row * cells_across() + column])
                    fill_cell_with_mean(in, out, frame, column * cell, std::min(shape_.width, (column + 1) * cell),
                                        row * cell, std::min(shape_.height, (row + 1) * cell));
    }
}

}  // namespace framewire
