#pragma once

#include "framewire/cuda/stream.hpp"

#include <functional>

namespace framewire::cuda {

/// Returns true if work queued on `stream` by this thread is recorded for a Graph instead of being run.
bool is_recording(const Stream& stream);

/// Records work that a GPU may run in parallel: the commands that body(0), body(1), ... queue on `stream`
/// become `count` branches of the graph. is_recording(stream) must be true. Every branch waits for all work
/// recorded before the call but not for the other branches; work recorded after the call waits for all
/// branches.
///
///             +-> body(0) -+
///     before -+-> body(1) -+-> after
///             +-> body(2) -+
void record_branches(const Stream& stream, int count, const std::function<void(int branch)>& body);

}  // namespace framewire::cuda
