#pragma once

#include "command_line/program_info.hpp"

#include "framewire/core/parameters.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// How an option's value is completed.
struct ValueWords {
    enum class Kind { nothing, files, folders, source, filters };
    Kind kind = Kind::nothing;         ///< kind of value that is completed in addition to the words
    std::vector<std::string> words{};  ///< known words; completion continues after those that end in ':' or '='
};

/// Derives the completion from the placeholder in the help, which is split at '|' and spaces. A part in capitals is a
/// kind (SRC, FILTERS, DST, FILE, IMAGE, MODEL, DIR, POSITIVES, NEGATIVES) or stands for registered names (FILTER,
/// SOURCE, SUBCOMMAND). In other parts the lower-case text is a word: "own|max|FPS", "mean:RATE".
ValueWords value_words(const std::string& value, const ProgramInfo& program);

/// How a filter or source is completed: its name, then its keys and their choices.
struct CallWords {
    /// A parameter and its choices.
    struct Key {
        std::string_view name;
        std::vector<std::string_view> choices{};  ///< empty: any text or number
    };
    std::string name;         ///< name of a filter, "gray", or prefix of a source without the colon, "synth"
    std::vector<Key> keys{};  ///< keys; the first is the main parameter of a filter
};
/// Returns the completions of all filters.
std::vector<CallWords> filter_words();
/// Returns the completions of all sources that have a prefix.
std::vector<CallWords> source_words();

}  // namespace framewire::app
