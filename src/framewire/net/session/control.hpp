#pragma once

#include <functional>
#include <string>

namespace framewire::net {

/// Sees to a viewer's wish and gives how things stand then; to an empty one that alone. What it throws is why not.
using Control = std::function<std::string(const std::string& wish)>;

}  // namespace framewire::net
