#pragma once

#include "framewire/core/view.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

/// How the lines of the field that is not kept are replaced.
enum class DeinterlaceMethod {
    adaptive,  ///< like `linear` where something moved since the previous frame, unchanged elsewhere
    linear,    ///< the mean of the two neighbouring lines, which belong to the field that is kept
    blend,     ///< every line becomes the mean of itself and its neighbours with weights 1 2 1
};

/// Parameters of Deinterlace.
struct DeinterlaceParameters {
    /// How to replace the lines of the field that is not kept.
    DeinterlaceMethod method = DeinterlaceMethod::adaptive;
    bool keeps_bottom = false;  ///< true to keep the field of lines 1, 3, 5 ... instead of lines 0, 2, 4 ...
    int threshold = 10;         ///< for `adaptive`: larger changes count as motion; 0..255
};

/// Returns a byte of a replaced line for `linear`: the mean of the bytes above and below, which belong to the field
/// that is kept.
FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_linear(int above, int below) { return (above + below + 1) >> 1; }

/// Returns a byte of a replaced line for `adaptive`: the byte itself, or deinterlaced_linear() if the byte or a
/// vertical neighbour changed by more than `threshold` since the previous frame.
FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_adaptive(int above, int here, int below, int previous_above,
                                                          int previous_here, int previous_below, int threshold) {
    const auto change = [](int now, int before) { return now > before ? now - before : before - now; };
    const int first = change(above, previous_above), second = change(here, previous_here),
              third = change(below, previous_below);
    const int larger = first > second ? first : second;
    return (larger > third ? larger : third) > threshold ? deinterlaced_linear(above, below) : here;
}

/// Returns a byte for `blend`: the weighted mean of the byte and those above and below.
FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_blend(int above, int here, int below) {
    return (above + 2 * here + below + 2) >> 2;
}

/// Turns each interlaced frame, whose even and odd lines were captured one after the other, into a progressive frame
/// without combing artifacts in moving areas. Channels are processed independently. At the upper and lower edges, the
/// neighbouring line inside the image replaces the one outside. For a stream's first frame, which has no predecessor,
/// `adaptive` works like `linear`.
///
/// `in`, `previous` and `out`: frames x height x width, any strides and alignment, no overlap.
class Deinterlace {
public:
    /// Throws Error{usage} on a threshold or shape that is not allowed.
    Deinterlace(const DeinterlaceParameters& parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// Returns true on the CPU, for one frame at a time, if the method does not need the previous frame (see
    /// Filter::run_rows()).
    bool works_by_rows() const;
    /// See Filter::rows_needed().
    RowRange rows_needed(const RowRange& made) const { return made.widened(1, shape_.height); }
    /// See Filter::run_rows().
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

private:
    /// Validates the images and chooses the method for this frame.
    template <MemorySpace space>
    DeinterlaceMethod method_for(const FilterImages<space>& images) const;

    DeinterlaceParameters parameters_;
    Shape shape_;
    Executor* executor_;
};

/// Returns the registry entry of `deinterlace`.
FilterInfo deinterlace_info();

}  // namespace framewire
