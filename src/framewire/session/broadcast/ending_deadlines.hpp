#pragma once

#include <chrono>

namespace framewire::session {

/// Time that viewers have to receive the last state and the end of the stream; the shorter one applies if the user
/// stops the program.
inline constexpr std::chrono::seconds ending_deadline{10}, stopped_deadline{2};

}  // namespace framewire::session
