#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire {

/// A piece of a recording that lies in its folder.
struct Piece {
    std::string path;
    std::int64_t bytes = 0;
    std::chrono::system_clock::time_point changed{};
};

/// The names of a recording's pieces: a path with conversions of strftime in the file's name,
/// `cam-%Y%m%d-%H%M%S.mp4`. Known are %Y %y %m %d %j %H %M %S %F %T, and %% for a percent sign.
class PieceNames {
public:
    /// Throws Error{usage} where there is no conversion, an unknown one, or one in a folder's name.
    static PieceNames parse(const std::string& path);

    /// The name for local time `at`, with -2, -3 ... before its ending where files of such names are there.
    std::string free_path(std::chrono::system_clock::time_point at) const;
    /// Whether a file's name, without its folder, is one that free_path() gives.
    bool matches(std::string_view name) const;
    /// The pieces there are: regular files of such names, and what killed runs left of such as NAME.part, which nobody
    /// writes any more. The oldest first. Empty where the folder cannot be read.
    std::vector<Piece> existing() const;

private:
    struct Digits {
        int count;
        int least, most;  // values
    };
    using Token = std::variant<std::string, Digits>;

    std::string folder_;         // with its slash
    std::string format_;         // of strftime, without the ending
    std::string ending_;         // with its dot
    std::vector<Token> tokens_;  // of the format
};

}  // namespace framewire
