#pragma once

#include "framewire/pipeline/source.hpp"

#include <functional>
#include <memory>
#include <stop_token>

namespace framewire {

/// Makes a source that starts again when it ends, by calling `open` again; indices and timestamps continue. A live
/// source, a source without frames and one that fails end as usual.
std::unique_ptr<Source> make_looping_source(std::function<std::unique_ptr<Source>()> open, std::stop_token stop);

}  // namespace framewire
