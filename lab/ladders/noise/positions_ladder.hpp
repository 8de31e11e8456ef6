#pragma once

#include "kit/session.hpp"

namespace framewire::bench {

/// The rows of the noise's ladder that redden what the difference has found: the report's (section 5.0.6) and
/// framewire's.
void run_noise_positions(Session& session);

}  // namespace framewire::bench
