#pragma once

#include "kit/session.hpp"

namespace framewire::bench {

/// Runs the rows of the noise ladder that redden the changes found by the difference: the report's (section 5.0.6) and
/// framewire's.
void run_noise_positions(Session& session);

}  // namespace framewire::bench
