#pragma once

#include "framewire/cuda/stream.hpp"

#include <functional>

namespace framewire::cuda {

/// Whether what is queued on a stream is recorded for a Graph instead of run.
bool is_recording(const Stream& stream);

/// Records work that a GPU may do side by side: what body(0), body(1) ... queue on `stream`, which is_recording(), is
/// so many branches of the graph. Each waits for what was recorded before them all, none for another one, and what is
/// recorded later waits for all.
void record_branches(const Stream& stream, int count, const std::function<void(int branch)>& body);

}  // namespace framewire::cuda
