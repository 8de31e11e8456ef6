#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

// Kernels for the tests of the shared kernel helpers. Each function uploads its input, runs the helper under
// test on the executor's stream, waits, and returns the results.

namespace framewire::cuda::kernel_testing {

/// Result of each lane of a warp for 32 `values`.
struct WarpResults {
    std::vector<std::uint32_t> sums, ors, largest, up_to_lane;
    std::vector<std::uint64_t> wide_sums, wide_up_to_lane;
    std::vector<float> float_sums;
};
/// Runs the collectives of kernel.cuh in one warp.
WarpResults join_in_warp(const std::vector<std::uint32_t>& values, Executor& executor);

/// Prefix sums of a block's threads: two scans in the same shared memory, one of the values and one of their
/// squares.
struct BlockResults {
    std::vector<std::uint32_t> before, total, before_by_warp, squares_before;
};
/// `values` has 32 entries per warp of one block, which has 1, 4, 9 or 32 warps.
BlockResults scan_in_block(const std::vector<std::uint32_t>& values, Executor& executor);

/// Return the sum before each of the values; each value is one block of a launch. The numbered variant repeats
/// the launch `launches` times without clearing its words.
std::vector<std::uint64_t> look_back_numbered(const std::vector<std::uint64_t>& values, int launches,
                                              Executor& executor);
std::vector<std::uint64_t> look_back_cleared(const std::vector<std::uint64_t>& values, Executor& executor);

/// Returns chunks of `bytes`, whose size is a multiple of 16, after an asynchronous copy of their first
/// counts[chunk] bytes through shared memory, in groups of one chunk per thread.
std::vector<std::uint8_t> copy_chunks(const std::vector<std::uint8_t>& bytes, const std::vector<int>& counts,
                                      Executor& executor);

/// Returns a function that sets the bytes of `buffer` through a stream handle kept from an earlier queue()
/// call: a mistake that recordings have to detect. The function queues its work inside Stream::queue(), as a
/// launch does, or bypasses it.
enum class KeptHandle { in_queue, past_queue };
std::function<void()> fill_on_kept_handle(DeviceBuffer& buffer, KeptHandle how, Executor& executor);

/// Returns the first frame and the number of frames of each launch that for_frames() makes.
std::vector<std::pair<int, int>> launches_for(int frames, int blocks_per_frame);

}  // namespace framewire::cuda::kernel_testing
