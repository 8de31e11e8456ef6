#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

/// How the lines of the other field are made.
enum class DeinterlaceMethod {
    adaptive,  ///< linear where something moved since the previous frame, elsewhere the lines unchanged
    linear,    ///< the mean of the two neighbouring lines, which belong to the field that is kept
    blend,     ///< every line becomes the mean of itself and its neighbours with weights 1 2 1
};

/// Parameters of Deinterlace.
struct DeinterlaceParameters {
    /// How to make the lines of the other field.
    DeinterlaceMethod method = DeinterlaceMethod::adaptive;
    bool keeps_bottom = false;  ///< keep the field of lines 1, 3, 5 ... instead of lines 0, 2, 4 ...
    int threshold = 10;         ///< adaptive: larger changes count as motion; 0..255
};

/// `linear`: a byte of a replaced line from the bytes above and below, which belong to the field that is kept.
FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_linear(int above, int below) { return (above + below + 1) >> 1; }

/// `adaptive`: the byte itself unless it or a vertical neighbour changed by more than `threshold` since the previous
/// frame; then as deinterlaced_linear().
FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_adaptive(int above, int here, int below, int previous_above,
                                                          int previous_here, int previous_below, int threshold) {
    const auto change = [](int now, int before) { return now > before ? now - before : before - now; };
    const int first = change(above, previous_above), second = change(here, previous_here),
              third = change(below, previous_below);
    const int larger = first > second ? first : second;
    return (larger > third ? larger : third) > threshold ? deinterlaced_linear(above, below) : here;
}

/// `blend`: the weighted mean with the lines above and below.
FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_blend(int above, int here, int below) {
    return (above + 2 * here + below + 2) >> 2;
}

/// Makes progressive frames from interlaced ones, whose even and odd lines were captured one after the other: one frame
/// from each, without combing artifacts where something moves. Every channel is processed alone. At the upper and lower
/// edge, the line inside replaces the one outside. For a first frame, which is its own previous one, `adaptive`
/// computes all lines as `linear` does.
///
/// `in`, `previous` and `out`: frames x height x width, any strides and alignment, no overlap.
class Deinterlace {
public:
    /// Throws Error{usage} on a threshold or shape that is not allowed.
    Deinterlace(const DeinterlaceParameters& parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// See RowFilter: methods that look at no frame before.
    bool goes_by_rows() const;
    /// See RowFilter::rows_needed().
    RowRange rows_needed(const RowRange& made) const { return made.widened(1, shape_.height); }
    /// See RowFilter::run_rows().
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

private:
    /// Validates the images and chooses the method for this frame.
    template <MemorySpace space>
    DeinterlaceMethod method_for(const FilterImages<space>& images) const;

    DeinterlaceParameters parameters_;
    Shape shape_;
    Executor* executor_;
};

/// Registry entry of `deinterlace`.
FilterInfo deinterlace_info();

}  // namespace framewire
