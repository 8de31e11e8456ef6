#pragma once

#include "framewire/pipeline/source.hpp"

#include <functional>
#include <memory>
#include <stop_token>

namespace framewire {

/// A source that begins again when it ends, by being opened anew; indices and time stamps go on. A live source, one
/// without a frame and one that breaks end as they do.
std::unique_ptr<Source> make_looping_source(std::function<std::unique_ptr<Source>()> open, std::stop_token stop);

}  // namespace framewire
