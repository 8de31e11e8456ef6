#pragma once

#include "framewire/filters/filter.hpp"

#include <array>

namespace framewire {

/// Where the original is.
enum class CompareMode { left, right, above, below, split };

struct CompareParameters {
    CompareMode mode = CompareMode::left;
    int at_percent = 50;  ///< of the width: up to there a split picture is the original; 0..100
};

/// The chain's original and what the filters made of it in one picture. Beside each other both are whole, from their
/// upper left corners on, and what the smaller one leaves is black. A split picture is the original on the left and the
/// result on the right; both are of one size then. The result has three channels where either has.
/// In, original and out: any strides, any alignment, no overlap; frames x height x width.
class Compare {
public:
    /// Throws Error{usage} on parameters or shapes that are not allowed.
    Compare(const CompareParameters& parameters, const Shape& shape, const Shape& original, Executor& executor);

    Shape output_shape() const { return output_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images) const;
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images) const;

private:
    template <MemorySpace space>
    void validate_images(const FilterImages<space>& images) const;

    Shape shape_, original_, output_;
    std::array<JoinPart, 2> parts_;
    Executor* executor_;
};

/// The registry's entry.
FilterInfo compare_info();

}  // namespace framewire
