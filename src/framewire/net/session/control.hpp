#pragma once

#include <functional>
#include <string>

namespace framewire::net {

/// Handles a viewer's control request and returns the resulting settings; an empty request only returns them. If it
/// throws, the exception's text tells the viewer why the request was refused. Called on the loop's work thread.
using Control = std::function<std::string(const std::string& wish)>;

}  // namespace framewire::net
