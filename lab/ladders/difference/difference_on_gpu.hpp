#pragma once

#include "kit/session.hpp"
#include "ladders/difference/moments.hpp"

namespace framewire::bench {

/// The rows of the difference's ladder that run on the GPU: the reports' kernels, each with its copies, and framewire's
/// encoder.
void run_difference_on_gpu(Session& session, const LadderMoments& moments);

}  // namespace framewire::bench
