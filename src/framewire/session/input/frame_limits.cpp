#include "framewire/session/input/frame_limits.hpp"

#include "framewire/core/error.hpp"
#include "framewire/pipeline/chain/chain_cost.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

namespace framewire::session {
namespace {

constexpr std::int64_t megabyte = 1'000'000;
constexpr double most_frame_seconds = 20;

// Measured 2026-11-28, serve at 3840x2160 on two cores, in all modes, with a viewer, with and without a filter: at most
// 40 images of the result's size in 8 slots, lossless with noise.
constexpr std::int64_t result_images_per_slot = 4, result_images_besides = 16;
constexpr std::int64_t detector_bytes_per_pixel = 80;  // the mixture's five modes of three channels
constexpr std::int64_t base_bytes = 100 * megabyte;

// Number of slots of a BroadcastJob: those of the frame ring, and one more per packing thread.
std::int64_t slots() {
    return 7 + std::clamp(static_cast<std::int64_t>(std::thread::hardware_concurrency()) / 2, std::int64_t{1},
                          std::int64_t{8});
}

std::int64_t pixels_of(const Shape& shape) { return std::int64_t{shape.width} * shape.height; }

std::int64_t bytes_of(const ChainCost& cost, const Shape& frame, bool detects) {
    const auto slot = frame.bytes() + result_images_per_slot * cost.output.bytes();
    // Plans count twice: a requested chain is planned while the previous one still runs.
    return base_bytes + slots() * slot + result_images_besides * cost.output.bytes() + 2 * cost.bytes +
           (detects ? detector_bytes_per_pixel * pixels_of(frame) : 0);
}

}  // namespace

std::int64_t FrameLimits::served_memory_bytes() {
    constexpr std::int64_t most = 8000 * megabyte;
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page_bytes > 0 ? std::min(most, pages * page_bytes / 2) : most;
}

std::int64_t estimated_bytes(const Chain& chain, const Shape& frame, bool detects) {
    return bytes_of(cost_of(chain, frame), frame, detects);
}

// Errors point at the filter with the largest image, with the numbers that were compared.
void check_limits(const FrameLimits& limits, const Chain& chain, const Shape& frame) {
    if (!limits.max_pixels && !limits.max_memory_bytes) return;
    const auto cost = cost_of(chain, frame);
    const auto refuse = [&](const std::string& problem) {
        if (chain.empty()) fail(ErrorCode::usage, "{}", problem);
        fail_in_chain(chain.text, cost.largest_at, problem);
    };
    if (limits.max_pixels && pixels_of(cost.largest) > *limits.max_pixels)
        refuse(fmt::format("pictures of {}x{} have {} pixels; --max-pixels allows {}", cost.largest.width,
                           cost.largest.height, pixels_of(cost.largest), *limits.max_pixels));
    const auto bytes = bytes_of(cost, frame, limits.detects);
    if (limits.max_memory_bytes && bytes > *limits.max_memory_bytes)
        refuse(
            fmt::format("pictures of {}x{} on the way to {}x{} would take about {} MB of memory; --max-memory allows "
                        "{} MB",
                        frame.width, frame.height, cost.output.width, cost.output.height, bytes / megabyte,
                        *limits.max_memory_bytes / megabyte));
    if (limits.max_memory_bytes && cost.frame_seconds > most_frame_seconds)
        refuse(
            fmt::format("the filters may take {:.0f} s for a frame on one core, {} s are allowed: fewer filters, or "
                        "smaller pictures",
                        cost.frame_seconds, most_frame_seconds));
}

}  // namespace framewire::session
