#pragma once

#include "command_line/program_info.hpp"

#include "framewire/core/parameters/info.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {

/// What a shell offers for a value.
struct ValueWords {
    enum class Kind { nothing, files, folders, source, filters };
    Kind kind = Kind::nothing;         ///< besides the words
    std::vector<std::string> words{};  ///< those ending in ':' or '=' go on
};

/// Told from what stands for the value in the help. Of parts between '|' and blanks, those in capitals are kinds: SRC,
/// FILTERS, DST, FILE, IMAGE, MODEL, DIR, POSITIVES, NEGATIVES; and FILTER, SOURCE, SUBCOMMAND, which are names that
/// there are. Others are words, as far as they are in small letters: "own|max|FPS", "mean:RATE".
ValueWords value_words(const std::string& value, const ProgramInfo& program);

/// A filter, or a kind of source, as its text is completed: its name, then keys and what may be theirs.
struct CallWords {
    struct Key {
        std::string_view name;
        std::vector<std::string_view> choices{};  ///< none: any text or number
    };
    std::string name;         ///< of a filter, "gray"; of a source its prefix without the colon, "synth"
    std::vector<Key> keys{};  ///< the first is a filter's main one
};
std::vector<CallWords> filter_words();
std::vector<CallWords> source_words();

}  // namespace framewire::app
