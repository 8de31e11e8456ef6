#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire {

/// Converts pixels of four bytes (B, G, R and one unused byte) to a BGR image of one frame. `from` has as many
/// rows and pixels as the image; its rows are `stride_bytes` apart. Runs on `threads` and returns when done. No
/// overlap.
void bgr0_to_bgr(const std::uint8_t* from, std::int64_t stride_bytes, HostView<std::uint8_t> image,
                 const ThreadPool& threads);

/// Converts a BGR image of one frame to pixels of four bytes, of which the fourth becomes 255. Strides and
/// threads as in bgr0_to_bgr().
void bgr_to_bgr0(HostView<const std::uint8_t> image, std::uint8_t* to, std::int64_t stride_bytes,
                 const ThreadPool& threads);

}  // namespace framewire
