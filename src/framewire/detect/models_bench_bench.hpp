#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/detect/masks.hpp"
#include "kit/session.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// Scenes, checks and figures shared by the suites of the background models.

namespace framewire::bench::models_bench {

/// Returns frames of objects that move in a still scene with sensor noise.
inline HostImage scene_frames(int count, int channels) {
    constexpr double moving_share = 0.02;
    const auto shape = bench_frame.with_channels(channels);
    HostImage scene(shape), frames(shape.with_frames(count));
    fill_scene(scene.view(), 1);
    for (int frame = 0; frame < count; ++frame)
        fill_later(scene.view(), frames.view().frames(frame, 1), moving_share, false,
                   static_cast<std::uint32_t>(frame + 1));
    return frames;
}

/// Uploads the frames gpu_rotation times, so that a GPU does not find them in its cache.
inline std::vector<cuda::DeviceImage> uploads(HostView<const std::uint8_t> frames, const cuda::Stream& stream) {
    std::vector<cuda::DeviceImage> images;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        images.emplace_back(frames.shape());
        cuda::upload(frames, images.back().view(), stream);
    }
    return images;
}

/// Throws Error{internal} unless the first `frames` masks are equal. `operation` names them in the message.
inline void require_same_masks(const HostBitMask& got, const HostBitMask& want, int frames,
                               const std::string& operation) {
    if (std::memcmp(got.view().data(), want.view().data(), bit_mask_bytes(got.shape().with_frames(frames))) != 0)
        fail(ErrorCode::internal, "{}: the masks differ from the reference; not timed", operation);
}

}  // namespace framewire::bench::models_bench
