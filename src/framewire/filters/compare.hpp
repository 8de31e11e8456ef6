#pragma once

#include "framewire/filters/filter.hpp"

#include <array>

namespace framewire {

/// Position of the original relative to the result. `split` shows the original's left part in a single picture.
enum class CompareMode { left, right, above, below, split };

/// Parameters of Compare.
struct CompareParameters {
    /// Position of the original.
    CompareMode mode = CompareMode::left;
    int at_percent = 50;  ///< share of the width, from the left, in which `split` shows the original; 0..100
};

/// Shows the chain's original and the result of the filters so far in one picture. Side by side or one above the other,
/// both images are complete, with their upper edges or left edges aligned and the area beside the smaller one black. A
/// split picture shows the original on the left and the result on the right; both must then have the same size. The
/// result has three channels if either image does.
///
/// `in`, `original` and `out`: frames x height x width, any strides and alignment, no overlap.
class Compare {
public:
    /// Throws Error{usage} on parameters or shapes that are not allowed.
    Compare(const CompareParameters& parameters, const Shape& shape, const Shape& original, Executor& executor);

    /// Returns the shape of the combined picture.
    Shape output_shape() const { return output_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    /// Throws Error if the images do not have the plan's shapes.
    template <MemorySpace space>
    void validate_images(const FilterImages<space>& images) const;

    Shape shape_, original_, output_;
    std::array<JoinPart, 2> parts_;
    Executor* executor_;
};

/// Returns the registry entry of `compare`.
FilterInfo compare_info();

}  // namespace framewire
