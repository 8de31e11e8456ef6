#pragma once

#include "kit/session.hpp"
#include "ladders/difference/moments.hpp"

namespace framewire::bench {

/// Runs the rows of the difference ladder that use the GPU: the reports' kernels, each with its copies, and framewire's
/// encoder.
void run_difference_on_gpu(Session& session, const LadderMoments& moments);

}  // namespace framewire::bench
