#pragma once

#include "command_line/program_info.hpp"

#include "framewire/core/parameters.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// Completion of an option's value.
struct ValueWords {
    enum class Kind { nothing, files, folders, source, filters };
    Kind kind = Kind::nothing;         ///< completed in addition to the words
    std::vector<std::string> words{};  ///< completion continues after words that end in ':' or '='
};

/// Derives the completion from the placeholder in the help. The placeholder is split at '|' and spaces. Parts in
/// capitals are kinds (SRC, FILTERS, DST, FILE, IMAGE, MODEL, DIR, POSITIVES, NEGATIVES) or registered names (FILTER,
/// SOURCE, SUBCOMMAND). In other parts the lower-case text is a word: "own|max|FPS", "mean:RATE".
ValueWords value_words(const std::string& value, const ProgramInfo& program);

/// Completion of a filter or source call: its name, then its keys and their choices.
struct CallWords {
    /// A parameter and its choices.
    struct Key {
        std::string_view name;
        std::vector<std::string_view> choices{};  ///< empty: any text or number
    };
    std::string name;         ///< filter name "gray", or source prefix without the colon "synth"
    std::vector<Key> keys{};  ///< the first is the main parameter of a filter
};
/// Completions of all filters.
std::vector<CallWords> filter_words();
/// Completions of all sources that have a prefix.
std::vector<CallWords> source_words();

}  // namespace framewire::app
