#include "framewire/pipeline/chain/run_values.hpp"

namespace framewire {

// The wall clock of the frame is the current time minus the frame's age, because captures are timed with the
// monotonic clock.
FrameValues run_values(const StatisticsSnapshot& figures, const FrameTime& time, std::string_view source) {
    constexpr double bits_per_byte = 8;
    using std::chrono::system_clock;
    const auto age = std::chrono::duration_cast<system_clock::duration>(Clock::now() - time.captured);
    return {.fps = figures.fps,
            .process_ms = figures.process_ms.mean_ms,
            .read_ms = figures.read_ms.mean_ms,
            .send_ms = figures.send_ms.mean_ms,
            .bandwidth_bits_per_s =
                figures.seconds > 0 ? bits_per_byte * static_cast<double>(figures.sent_bytes) / figures.seconds : 0,
            .changed = figures.delta ? figures.delta->changed : 0,
            .frame = time.index,
            .time_s = time.seconds,
            .clock_s = system_clock::to_time_t(system_clock::now() - age),
            .source = source};
}

}  // namespace framewire
