#include "view/shown_text.hpp"

#include "framewire/core/text.hpp"

namespace framewire::app {

std::string shown_text(std::string_view text) { return printable(without_credentials(text)); }

}  // namespace framewire::app
