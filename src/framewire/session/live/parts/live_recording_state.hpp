#pragma once

#include <cstdint>
#include <string>

namespace framewire::session {

/// State of a recording that was started while a stream is sent.
struct LiveRecordingState {
    /// Path of the file that appears at the end.
    std::string file;
    /// Duration by the frames' times.
    double seconds = 0;
    /// Bytes written so far.
    std::int64_t bytes = 0;
};

}  // namespace framewire::session
