#pragma once

#include <chrono>

namespace framewire::session {

/// How long viewers may take for the last state and the end; less when the user wants the program gone.
inline constexpr std::chrono::seconds ending_deadline{10}, stopped_deadline{2};

}  // namespace framewire::session
