#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <vector>

namespace framewire {

/// The entries of sink_registry().
std::vector<SinkKind> sink_kinds();

}  // namespace framewire
