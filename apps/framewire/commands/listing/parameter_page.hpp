#pragma once

#include "framewire/core/parameters/info.hpp"

#include <span>
#include <string>
#include <string_view>

namespace framewire::app {

/// Parameters as what explains them shows them: lines of words, each begun by four spaces;
std::string parameter_lines(std::span<const ParameterInfo> parameters);
/// and a table in Markdown.
std::string parameter_table(std::span<const ParameterInfo> parameters);

/// Text for a cell of a table in Markdown.
std::string table_cell(std::string_view text);

}  // namespace framewire::app
