#pragma once

#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/detect/labelling/components.hpp"
#include "framewire/filters/pointwise/pixel.hpp"

#include <cstdint>
#include <span>

namespace framewire {

inline constexpr int max_outline_px = 64;
inline constexpr int max_pixelate_px = 4096;

/// How boxes show in a picture.
struct BoxStyle {
    Pixel color = pixel_of(0, 0, 255);  ///< of the outline; in a gray picture its gray value
    int line_px = 2;                    ///< of the outline, inside the box, 1..max_outline_px
    int pixelate_px = 0;  ///< 0 draws outlines; 1..max_pixelate_px hides boxes under cells of that side instead
};

/// Draws the outlines of boxes into frame `frame` of a batch, which they lie within; 1 or 3 channels, any strides.
void draw_outlines(std::span<const Component> boxes, const BoxStyle& style, HostView<std::uint8_t> images,
                   int frame = 0);

/// Draws the boxes of components into a batch of images, or hides what is in them. To hide, the image is cut into cells
/// from its upper left corner, and every cell that a box touches becomes its own mean, rounded to nearest, half up:
/// what is hidden does not depend on where in its cells a box lies, nor on the order of boxes, and nothing shimmers as
/// they move. Where more boxes were found than there was room for, nobody knows what the rest would hide: the frame is
/// hidden whole. Boxes must lie within the image. In and out: one shape, any strides, any alignment, no overlap; 1 or 3
/// channels. A plan is for one run at a time.
class BoxOverlay {
public:
    /// Throws Error{usage} on a shape or style that is not allowed.
    BoxOverlay(const BoxStyle& style, const Shape& shape, Executor& executor);

    /// On the calling thread; returns when done. Where boxes are hidden, the first `whole_frames` frames of the batch
    /// are hidden whole, whatever their boxes: 0 up to all.
    void run(HostView<const std::uint8_t> in, const ComponentLists<MemorySpace::host>& boxes,
             HostView<std::uint8_t> out, int whole_frames = 0);
    /// Queued on the executor's stream, which `boxes` come from too.
    void run(DeviceView<const std::uint8_t> in, const ComponentLists<MemorySpace::device>& boxes,
             DeviceView<std::uint8_t> out, int whole_frames = 0);

private:
    int cells_across() const { return (shape_.width + style_.pixelate_px - 1) / style_.pixelate_px; }
    int cells_down() const { return (shape_.height + style_.pixelate_px - 1) / style_.pixelate_px; }

    BoxStyle style_;
    Shape shape_;
    Executor* executor_;
    // Whether a box touches a cell: on the CPU of one frame, a byte a cell, on CUDA of every frame, a word a cell.
    BackendBuffer hidden_;
};

}  // namespace framewire
