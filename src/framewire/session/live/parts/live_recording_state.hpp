#pragma once

#include <cstdint>
#include <string>

namespace framewire::session {

/// A recording that was begun while a stream is sent.
struct LiveRecordingState {
    std::string file;
    double seconds = 0;      ///< by the frames' times
    std::int64_t bytes = 0;  ///< written so far
};

}  // namespace framewire::session
