#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/binarize/binarize.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/gray/gray.hpp"
#include "framewire/filters/mean/mean.hpp"
#include "framewire/filters/morphology/morphology.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace framewire {

/// Parameters of Document.
struct DocumentParameters {
    int window = 25;  ///< odd, 3..max_document_window; wider than a stroke of the writing
};

/// Largest window of Document.
inline constexpr int max_document_window = max_element_px;

/// Black and white for ink on uneven paper, in four steps:
///   gray -> close by a square of `window` -> mean over `window` = the paper's light
///   gray / paper = what is left of the paper's light, then ink_threshold() on its histogram
/// The close removes everything that is darker and narrower than the window, so only paper remains. A blank page comes
/// out white.
///
/// `in` and `out`: any strides and alignment, no overlap; as many channels as the image. One run at a time per plan.
class Document {
public:
    /// Throws Error{usage} on a shape or window that is not allowed.
    Document(DocumentParameters parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

    /// The `threshold` of each frame of the last run, as a share of the paper's light in 255ths.
    std::vector<FilterFigure> figures() const { return binarize_.figures(); }

private:
    /// Runs all steps in one memory space.
    template <MemorySpace space>
    void run_steps(const FilterImages<space>& images);
    /// Writes the remaining light, equal in every channel of `left`.
    void divide(HostView<const std::uint8_t> gray, HostView<const std::uint8_t> paper,
                HostView<std::uint8_t> left) const;
    void divide(DeviceView<const std::uint8_t> gray, DeviceView<const std::uint8_t> paper,
                DeviceView<std::uint8_t> left) const;

    Shape shape_;
    Executor* executor_;
    std::optional<Gray> gray_;  // for BGR images
    Morphology close_;
    Mean mean_;
    Binarize binarize_;
    BackendImage gray_image_, closed_, paper_, left_;  // results of the steps; gray_image_ only for BGR images
};

/// Paper darker than this is treated as this bright when it divides: dividing by less would turn a camera's noise in
/// the dark into ink.
inline constexpr unsigned least_paper_light = 64;

/// Remaining share of the paper's light in 255ths, rounded to nearest, halves up: gray / paper, or for dark paper 1 -
/// (paper - gray) / least_paper_light. At most 255.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t light_left(std::uint8_t gray, std::uint8_t paper) {
    if (gray >= paper) return 255;
    const unsigned light = paper > least_paper_light ? paper : least_paper_light;
    return static_cast<std::uint8_t>((255u * (light - paper + gray) + light / 2u) / light);
}

}  // namespace framewire
