#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <cstdint>

namespace framewire {

/// BGR pixels of four bytes, the last without meaning, to a BGR image (1 frame). `from` has as many rows and pixels as
/// the image, `stride_bytes` apart.
void bgr0_to_bgr(const std::uint8_t* from, std::int64_t stride_bytes, HostView<std::uint8_t> image,
                 const ThreadPool& threads);

/// The way back; the fourth bytes become 255.
void bgr_to_bgr0(HostView<const std::uint8_t> image, std::uint8_t* to, std::int64_t stride_bytes,
                 const ThreadPool& threads);

}  // namespace framewire
