#pragma once

#include "framewire/media/sinks/sink_kind.hpp"

#include <vector>

namespace framewire {

/// Table of all sinks in this build; use sink_registry() to look one up.
std::vector<SinkKind> sink_kinds();

}  // namespace framewire
