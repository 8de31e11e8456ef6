#pragma once

#include "framewire/core/view.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <cstdint>
#include <optional>

namespace framewire::session {

/// What the frames of one job may take. An empty limit is no limit.
struct FrameLimits {
    std::optional<std::int64_t> max_pixels{};        ///< of any image from the source to the result
    std::optional<std::int64_t> max_memory_bytes{};  ///< of all images of the job together, as estimated
    bool detects = false;                            ///< a detector keeps a model of the background as well

    /// Limits of a served camera that sets none itself: the largest picture that viewers accept, 8192x8192 pixels.
    static constexpr std::int64_t served_pixels = std::int64_t{8192} * 8192;
    /// 8 GB, or half of the memory of this machine if that is less.
    static std::int64_t served_memory_bytes();
};

/// Estimates what `chain` on frames of shape `frame` takes, before anything is planned or allocated. Throws
/// Error{usage} with the figures if that is more than `limits` allow, or more than 20 s per frame where the
/// memory is limited; also if a filter does not accept its image.
void check_limits(const FrameLimits& limits, const Chain& chain, const Shape& frame);

/// Upper bound for the memory of a job that sends what `chain` makes of such frames to viewers.
std::int64_t estimated_bytes(const Chain& chain, const Shape& frame, bool detects);

}  // namespace framewire::session
