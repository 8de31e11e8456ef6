#include "framewire/filters/median/histogram/median_histogram_blocks.hpp"

#include "framewire/core/error.hpp"

#include <algorithm>
#include <cstdint>

namespace framewire {
namespace {

using Blocks = MedianHistogramBlocks;

constexpr int windows_per_warp = 32 / Blocks::threads_per_window;
constexpr int reserved_bytes = 1024;  // that CUDA reserves per block if several share a multiprocessor

// Number of parts that cover the whole.
constexpr int parts(int whole, int part) { return (whole + part - 1) / part; }

// Shared memory for the columns' histograms and one row of medians.
constexpr int shared_bytes(int size, int strip_px) { return (strip_px + size) * Blocks::column_bytes + strip_px; }

// Width of the widest strip that fits, in pixels.
constexpr int widest_strip_px(int size, int bytes) {
    return std::max(0, bytes - shared_bytes(size, 0)) / (Blocks::column_bytes + 1);
}

// Most windows of a block with `bytes` of shared memory, if each slides by one step.
constexpr int most_windows(int size, int bytes) {
    return widest_strip_px(size, bytes) / Blocks::step_px / windows_per_warp * windows_per_warp;
}

// Largest size whose smallest block fits.
int largest_size(int bytes) {
    int size = 255;
    while (size > 1 && most_windows(size, bytes) == 0) size -= 2;
    return size;
}

}  // namespace

// Tries four, three, two and finally one block per multiprocessor, until the strip is wide enough.
MedianHistogramBlocks::MedianHistogramBlocks(int size, const Shape& shape, const cuda::SharedMemory& memory) {
    // Small blocks wait less at barriers. Large blocks have more warps per multiprocessor if the window's columns leave
    // room for one block only. A strip that is narrow compared with its margins costs more than it gains.
    constexpr int enough_px = 12;
    int most_px = 0;
    for (int blocks = 4; blocks >= 1 && most_px < enough_px; --blocks) {
        const int bytes = blocks == 1
                              ? memory.block_bytes
                              : std::min(memory.multiprocessor_bytes / blocks - reserved_bytes, memory.block_bytes);
        threads = blocks == 1 ? most_threads : most_threads / 2;
        windows = threads / threads_per_window;
        most_px = widest_strip_px(size, bytes) / (windows * step_px) * step_px;
    }
    if (most_px == 0) {  // not even one step per window: fewer windows, and threads that only keep columns
        most_px = step_px;
        windows = std::min(windows, most_windows(size, memory.block_bytes));
        if (windows == 0)
            fail(ErrorCode::config,
                 "median: size {} needs {} bytes of shared memory a block, this GPU has {}; sizes up to {} and the cpu "
                 "backend can",
                 size, framewire::shared_bytes(size, windows_per_warp * step_px), memory.block_bytes,
                 largest_size(memory.block_bytes));
    }
    strips = parts(shape.width, windows * most_px);
    window_px = parts(shape.width, strips * windows * step_px) * step_px;
    shared_bytes = framewire::shared_bytes(size, strip_px());
    // Enough blocks for several rounds on every multiprocessor, each with enough rows to amortise counting its first
    // windows.
    constexpr int wanted_blocks = 4000;
    const auto blocks = std::int64_t{strips} * shape.channels * shape.frames;
    const auto bands = std::clamp<std::int64_t>(wanted_blocks / blocks, 1, parts(shape.height, 2 * size));
    rows = parts(shape.height, static_cast<int>(bands));
}

}  // namespace framewire
