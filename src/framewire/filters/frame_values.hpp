#pragma once

#include <cstdint>
#include <string_view>

namespace framewire {

/// What is known of a frame and of the run up to it: what the tokens of the text filter show.
struct FrameValues {
    double fps = 0;                   ///< frames a second
    double process_ms = 0;            ///< mean time in the filters
    double read_ms = 0;               ///< mean time until the source gave a frame
    double send_ms = 0;               ///< mean time until a frame was put out
    double bandwidth_bits_per_s = 0;  ///< put out
    double changed = 0;               ///< share of bytes the difference stream found changed, 0..1
    std::int64_t frame = 0;           ///< number in the source
    double time_s = 0;                ///< in the source, from its start
    std::int64_t clock_s = 0;         ///< when this machine had it, from 1970 on (UTC)
    std::string_view source{};        ///< its name; must live until the call that takes it returns
};

}  // namespace framewire
