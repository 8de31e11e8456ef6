#pragma once

#include <cstdint>
#include <string_view>

namespace framewire {

/// Values of a frame and of the run so far, which the text filter's tokens show.
struct FrameValues {
    double fps = 0;                   ///< frames per second
    double process_ms = 0;            ///< mean time in the filters, per frame
    double read_ms = 0;               ///< mean time until the source delivered a frame
    double send_ms = 0;               ///< mean time until a frame was sent
    double bandwidth_bits_per_s = 0;  ///< sent
    double changed = 0;               ///< share of bytes that the difference stream found changed, 0..1
    std::int64_t frame = 0;           ///< index in the source
    double time_s = 0;                ///< time since the start of the source
    std::int64_t clock_s = 0;         ///< capture time, in seconds since 1970 (UTC)
    std::string_view source{};        ///< name of the source; must stay valid until the call that takes it returns
};

}  // namespace framewire
