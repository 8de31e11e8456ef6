#pragma once

#include "framewire/core/parameters.hpp"

#include <span>
#include <string>
#include <string_view>

namespace framewire::app {

/// Returns the parameters as lines of text, each indented by four spaces.
std::string parameter_lines(std::span<const ParameterInfo> parameters);
/// Returns the parameters as a Markdown table.
std::string parameter_table(std::span<const ParameterInfo> parameters);

/// Escapes text for a cell of a Markdown table.
std::string table_cell(std::string_view text);

}  // namespace framewire::app
