#pragma once

#include "framewire/core/view.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <cstddef>
#include <cstdint>

namespace framewire {

/// Memory and time that a chain takes, estimated without planning it or allocating anything.
struct ChainCost {
    Shape output{};          ///< of the result
    Shape largest{};         ///< the largest image on the way, the input and the result included
    std::size_t largest_at;  ///< offset in the chain's text of the filter that makes it; 0 for the input
    std::int64_t bytes = 0;  ///< upper bound for what its plans keep: images between filters, previous frames, scratch
    double frame_seconds = 0;  ///< for one frame on one core, if every filter were as slow as the slowest
};

/// Estimates the cost of `chain` on frames of shape `frame`. Throws Error{usage}, with the place in the chain's text,
/// if a filter does not accept the image of the filter before it.
ChainCost cost_of(const Chain& chain, const Shape& frame);

}  // namespace framewire
