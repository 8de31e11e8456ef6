#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

// Kernels of the tests around what kernels share: each takes numbers, works on them with the pieces under test, and
// gives back what came of it. On the executor's stream, which they wait for.

namespace framewire::cuda::test_kernels {

/// What each lane of a warp got; `values` has 32.
struct WarpResults {
    std::vector<std::uint32_t> sums, ors, largest, up_to_lane;
    std::vector<std::uint64_t> wide_sums, wide_up_to_lane;
    std::vector<float> float_sums;
};
WarpResults join_in_warp(const std::vector<std::uint32_t>& values, Executor& executor);

/// Sums of a block's threads, two scans after each other in the same memory, of values and of their squares.
struct BlockResults {
    std::vector<std::uint32_t> before, total, before_by_warp, squares_before;
};
/// `values` has 32 for each warp of one block: 1, 4, 9 or 32 of them.
BlockResults scan_in_block(const std::vector<std::uint32_t>& values, Executor& executor);

/// The sums before each of the values, by as many blocks in one launch, `launches` times over.
std::vector<std::uint64_t> look_back_numbered(const std::vector<std::uint64_t>& values, int launches,
                                              Executor& executor);
std::vector<std::uint64_t> look_back_cleared(const std::vector<std::uint64_t>& values, Executor& executor);

/// Chunks of `bytes`, a multiple of 16, whose first counts[chunk] bytes went through shared memory by asynchronous
/// copies, in groups of one chunk a thread.
std::vector<std::uint8_t> copy_chunks(const std::vector<std::uint8_t>& bytes, const std::vector<int>& counts,
                                      Executor& executor);

/// A step that takes the stream's handle when it is made, and sets the bytes by that later: a mistake that recordings
/// have to notice. It queues the work there in a call of Stream::queue(), as a launch does, or past it.
enum class KeptHandle { in_queue, past_queue };
std::function<void()> fill_on_kept_handle(DeviceBuffer& buffer, KeptHandle how, Executor& executor);

/// First frame and number of frames of each launch that for_frames() makes.
std::vector<std::pair<int, int>> launches_for(int frames, int blocks_per_frame);

}  // namespace framewire::cuda::test_kernels
