#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/binarize.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray.hpp"
#include "framewire/filters/median.hpp"
#include "framewire/filters/morphology.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace framewire {

/// Parameters of Document.
struct DocumentParameters {
    int window = 25;  ///< odd, 3..max_document_window; wider than twice a stroke of the writing
};

/// Largest window of Document, in pixels.
inline constexpr int max_document_window = 63;

/// Side of the squares whose brightest pixel represents the paper, in pixels.
inline constexpr int paper_block_px = 4;

/// Sides of the squares in which Document looks for specks, in pixels.
inline constexpr int speck_sides[] = {3, 5};
/// The largest of speck_sides.
inline constexpr int largest_speck = 5;
/// Columns of white on both sides of a scratch row, at least as wide as a vector.
inline constexpr int speck_margin_px = 64;

/// Converts images of ink on uneven paper to black and white:
///   gray -> brightest pixel of each 4x4 block -> close -> median = the paper's light, at a quarter of the size
///   gray / paper, interpolated to full size = remaining share of the light, then ink_threshold() on its histogram
///   black -> white for every speck: black pixels in a square of 3 or 5 pixels whose surrounding ring is white
/// The close uses a square of window / 8 blocks, the median one of window / 4, both rounded down to an odd number. They
/// remove everything that is darker than its surroundings and narrower than about half the window, so only paper
/// remains. A blank page and an image of one value become white. An area that is dark throughout and wider than the
/// window counts as dark paper, so a photograph of a dark page is white with black ink, too.
///
/// `in` and `out`: any strides and alignment, no overlap; as many channels as the image. One run at a time per plan.
class Document {
public:
    /// Throws Error{usage} on a shape or window that is not allowed.
    Document(DocumentParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

    /// Returns the `threshold` of each frame of the last run, as a share of the paper's light in 255ths.
    std::vector<FilterFigure> figures() const { return binarize_.figures(); }

private:
    /// Runs all steps in one memory space.
    template <MemorySpace space>
    void run_steps(const FilterImages<space>& images);
    /// Writes the brightest pixel of each block.
    void shrink(HostView<const std::uint8_t> gray, HostView<std::uint8_t> blocks) const;
    void shrink(DeviceView<const std::uint8_t> gray, DeviceView<std::uint8_t> blocks) const;
    /// Writes light_left() of each pixel.
    void divide(HostView<const std::uint8_t> gray, HostView<const std::uint8_t> paper,
                HostView<std::uint8_t> left) const;
    void divide(DeviceView<const std::uint8_t> gray, DeviceView<const std::uint8_t> paper,
                DeviceView<std::uint8_t> left) const;
    /// Copies `mask` to all channels of `out`, without specks.
    void drop_specks(HostView<const std::uint8_t> mask, HostView<std::uint8_t> out);
    void drop_specks(DeviceView<const std::uint8_t> mask, DeviceView<std::uint8_t> out) const;

    Shape shape_;
    Executor* executor_;
    Shape blocks_shape_;
    std::optional<Gray> gray_;  // for BGR images
    Morphology close_;
    Median median_;
    Binarize binarize_;
    BackendImage gray_image_, blocks_, closed_, paper_, left_, mask_;  // results of the steps
    int chunk_bands_ = 1;                                              // CPU: bands of rows per chunk of drop_specks()
    HostBuffer speck_scratch_;                                         // CPU: scratch rows of each chunk
};

/// Smallest value that an image is divided by, even if the paper is darker: a smaller divisor would turn a camera's
/// noise in the dark into ink.
inline constexpr unsigned least_paper_light = 64;

/// Returns the remaining share of the paper's light in 255ths, rounded to nearest, halves up: gray / paper, or for dark
/// paper 1 - (paper - gray) / least_paper_light. At most 255.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t light_left(std::uint8_t gray, std::uint8_t paper) {
    if (gray >= paper) return 255;
    const unsigned light = paper > least_paper_light ? paper : least_paper_light;
    return static_cast<std::uint8_t>((255u * (light - paper + gray) + light / 2u) / light);
}

/// Neighbour that a pixel is interpolated from besides its own block, along one axis.
struct PaperNeighbour {
    int step;    ///< -1 or 1: the block before or after
    int weight;  ///< weight of the neighbour in eighths; the own block has the rest
};

/// Returns the neighbour of the pixel at `position` along an axis. Block centres are at 1.5, 5.5, 9.5, ...
FRAMEWIRE_HOST_DEVICE constexpr PaperNeighbour paper_neighbour(int position) {
    const int in_block = position % paper_block_px;
    return {in_block < 2 ? -1 : 1, in_block == 0 || in_block == 3 ? 3 : 1};
}

/// Base-2 logarithm of the sum of the weights of the four blocks that a pixel is interpolated from.
inline constexpr int paper_weights_shift = 6;

}  // namespace framewire
