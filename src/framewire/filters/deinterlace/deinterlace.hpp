#pragma once

#include "framewire/core/host_device.hpp"
#include "framewire/filters/filter.hpp"

#include <cstdint>

namespace framewire {

enum class DeinterlaceMethod {
    adaptive,  ///< linear where something moved since the previous frame, elsewhere the lines as they are
    linear,    ///< lines between those of the field that stays are the mean of their neighbours
    blend,     ///< every line becomes a mean of itself and its neighbours, weighted 1 2 1
};

struct DeinterlaceParameters {
    DeinterlaceMethod method = DeinterlaceMethod::adaptive;
    bool keeps_bottom = false;  ///< the field that stays: that of lines 1, 3, 5 ... instead of lines 0, 2, 4 ...
    int threshold = 10;         ///< what changes by more has moved, of adaptive; 0..255
};

/// A byte of a line that is made anew: those above and below it are of the field that stays.
FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_linear(int above, int below) { return (above + below + 1) >> 1; }

/// The same where nothing may have moved: each with its value in the previous frame.
FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_adaptive(int above, int here, int below, int previous_above,
                                                          int previous_here, int previous_below, int threshold) {
    const auto change = [](int now, int before) { return now > before ? now - before : before - now; };
    const int first = change(above, previous_above), second = change(here, previous_here),
              third = change(below, previous_below);
    const int larger = first > second ? first : second;
    return (larger > third ? larger : third) > threshold ? deinterlaced_linear(above, below) : here;
}

FRAMEWIRE_HOST_DEVICE constexpr int deinterlaced_blend(int above, int here, int below) {
    return (above + 2 * here + below + 2) >> 2;
}

/// Whole pictures of interlaced ones, whose even and odd lines were taken one after the other: a picture from each
/// frame, without the combs where something moves. Each channel is looked at by itself. Beyond the upper and lower edge
/// the line inside it stands for the one outside. On a first frame, which is its own previous one, adaptive makes the
/// lines anew throughout.
/// In, previous and out: any strides, any alignment, no overlap; frames x height x width.
class Deinterlace {
public:
    /// Throws Error{usage} on a threshold or shape that is not allowed.
    Deinterlace(const DeinterlaceParameters& parameters, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

    /// See RowFilter: methods that look at no frame before.
    bool goes_by_rows() const;
    RowRange rows_needed(const RowRange& made) const { return made.widened(1, shape_.height); }
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const;

private:
    template <MemorySpace space>
    DeinterlaceMethod method_for(const FilterImages<space>& images) const;

    DeinterlaceParameters parameters_;
    Shape shape_;
    Executor* executor_;
};

/// The registry's entry.
FilterInfo deinterlace_info();

}  // namespace framewire
