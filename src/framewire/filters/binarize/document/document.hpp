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

struct DocumentParameters {
    int window = 25;  ///< odd, 3..max_document_window: wider than a stroke of the writing
};

inline constexpr int max_document_window = max_element_px;

/// Ink on uneven paper in black and white. The paper is the gray image without what is narrower and darker than a
/// window: a close by a square, and the mean of it in the same window. What is left of the paper's light is gray /
/// paper, and ink_threshold() tells ink from paper there: a blank page is white. In and out: any strides, any
/// alignment, no overlap; as many channels as the image. A plan is for one run at a time.
class Document {
public:
    /// Throws Error{usage} on a shape or window that is not allowed.
    Document(DocumentParameters parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

    /// The `threshold` of each frame of the last run: of the light that is left, in 255ths.
    std::vector<FilterFigure> figures() const { return binarize_.figures(); }

private:
    template <MemorySpace space>
    void run_steps(const FilterImages<space>& images);
    /// The light that is left, the same in each channel of `left`.
    void divide(HostView<const std::uint8_t> gray, HostView<const std::uint8_t> paper,
                HostView<std::uint8_t> left) const;
    void divide(DeviceView<const std::uint8_t> gray, DeviceView<const std::uint8_t> paper,
                DeviceView<std::uint8_t> left) const;

    Shape shape_;
    Executor* executor_;
    std::optional<Gray> gray_;  // of a BGR image
    Morphology close_;
    Mean mean_;
    Binarize binarize_;
    BackendImage gray_image_, closed_, paper_, left_;  // what lies between the steps; gray where a BGR image comes in
};

/// Paper that is darker counts as this bright when differences from it are weighed: a division by less would make ink
/// of a camera's noise in the dark.
inline constexpr unsigned least_paper_light = 64;

/// Of the paper's light, in 255ths, rounded to nearest, half up: gray / paper, or for dark paper
/// 1 - (paper - gray) / least_paper_light.
FRAMEWIRE_HOST_DEVICE constexpr std::uint8_t light_left(std::uint8_t gray, std::uint8_t paper) {
    if (gray >= paper) return 255;
    const unsigned light = paper > least_paper_light ? paper : least_paper_light;
    return static_cast<std::uint8_t>((255u * (light - paper + gray) + light / 2u) / light);
}

}  // namespace framewire
