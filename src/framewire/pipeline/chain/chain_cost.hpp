#pragma once

#include "framewire/core/view.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// Memory and time that a chain takes, estimated without planning it or allocating anything.
struct ChainCost {
    Shape output{};          ///< shape of the result
    Shape largest{};         ///< the largest image in the chain, including input and result
    std::size_t largest_at;  ///< offset in the chain's text of the filter that makes it; 0 for the input
    /// Upper bound of the memory of the plans: images between filters, previous frames, scratch.
    std::int64_t bytes = 0;
    double frame_seconds = 0;  ///< for one frame on one core, if every filter were as slow as the slowest one
};

/// Estimates the cost of `chain` on frames of shape `frame`. Throws Error{usage}, with the place in the chain's text,
/// if a filter does not accept the image of the filter before it.
ChainCost cost_of(const Chain& chain, const Shape& frame);

}  // namespace framewire
