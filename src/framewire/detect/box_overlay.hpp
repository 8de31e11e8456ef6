#pragma once

#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/components.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>
#include <span>

namespace framewire {

/// Maximum width of an outline, in pixels.
inline constexpr int max_outline_px = 64;
/// Maximum side of the cells that hide an object, in pixels.
inline constexpr int max_pixelate_px = 4096;

/// Style of the boxes in a picture.
struct BoxStyle {
    Pixel color = pixel_of(0, 0, 255);  ///< colour of the outline; in a gray picture its gray value
    int line_px = 2;                    ///< width of the outline, inside the box, 1 to max_outline_px
    int pixelate_px = 0;  ///< 0 draws outlines; 1 to max_pixelate_px hides boxes under cells of that side instead
};

/// Draws the outlines of boxes into frame `frame` of a batch with 1 or 3 channels and any strides. The boxes
/// must be within the image.
void draw_outlines(std::span<const Component> boxes, const BoxStyle& style, HostView<std::uint8_t> images,
                   int frame = 0);

/// Draws the boxes of components into a batch of images, or hides their contents. To hide, the image is divided
/// into cells from its upper left corner, and every cell that a box touches is filled with its mean, rounded
/// half up. The result depends neither on the position of a box within its cells nor on the order of the boxes,
/// so nothing shimmers as they move. If more boxes were found than the list could hold, the whole frame is
/// hidden, since the positions of the other boxes are unknown.
///
/// Boxes must be within the image. Input and output have the same shape, 1 or 3 channels, any strides and alignment,
/// and must not overlap. A plan supports one run at a time.
class BoxOverlay {
public:
    /// Throws Error{usage} if the shape or the style is not allowed.
    BoxOverlay(const BoxStyle& style, const Shape& shape, Executor& executor);

    /// Runs on the calling thread and returns when done. If boxes are hidden, the first `whole_frames` frames
    /// of the batch are hidden completely, whatever boxes they have.
    void run(HostView<const std::uint8_t> in, const ComponentLists<MemorySpace::host>& boxes,
             HostView<std::uint8_t> out, int whole_frames = 0);
    /// Queues the same operation on the executor's stream, on which `boxes` must have been computed.
    void run(DeviceView<const std::uint8_t> in, const ComponentLists<MemorySpace::device>& boxes,
             DeviceView<std::uint8_t> out, int whole_frames = 0);

private:
    int cells_across() const { return (shape_.width + style_.pixelate_px - 1) / style_.pixelate_px; }
    int cells_down() const { return (shape_.height + style_.pixelate_px - 1) / style_.pixelate_px; }

    BoxStyle style_;
    Shape shape_;
    Executor* executor_;
    // Cells that a box touches. On the CPU: a byte per cell, for one frame. On CUDA: a word per cell, for every
    // frame.
    BackendBuffer hidden_;
};

}  // namespace framewire
