#pragma once

#include "framewire/core/view.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <cstdint>
#include <optional>

namespace framewire::session {

/// Limits for the frames of one job. An empty limit is no limit.
struct FrameLimits {
    /// Maximum number of pixels of any image between source and result.
    std::optional<std::int64_t> max_pixels{};
    /// Maximum for the estimated memory of all images of the job.
    std::optional<std::int64_t> max_memory_bytes{};
    /// True if a detector keeps a background model as well.
    bool detects = false;

    /// Limits of a served camera that sets none itself: the largest picture that viewers accept, 8192x8192 pixels.
    static constexpr std::int64_t served_pixels = std::int64_t{8192} * 8192;
    /// 8 GB, or half of this machine's memory if that is less.
    static std::int64_t served_memory_bytes();
};

/// Estimates the memory and time that `chain` needs for frames of shape `frame`, before anything is planned or
/// allocated. Throws Error{usage} with the numbers if the limits are exceeded, if memory is limited and a frame may
/// take more than 20 s, or if a filter does not accept its image.
void check_limits(const FrameLimits& limits, const Chain& chain, const Shape& frame);

/// Returns an upper bound for the memory of a job that sends the results of `chain` to viewers.
std::int64_t estimated_bytes(const Chain& chain, const Shape& frame, bool detects);

}  // namespace framewire::session
