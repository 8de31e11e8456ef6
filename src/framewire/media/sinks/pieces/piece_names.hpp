#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire {

/// Segment of a recording that exists in its folder.
struct Piece {
    std::string path;
    std::int64_t bytes = 0;
    std::chrono::system_clock::time_point changed{};
};

/// File name pattern of a recording's segments: a path with strftime conversions in the file name,
/// `cam-%Y%m%d-%H%M%S.mp4`. Supported: %Y %y %m %d %j %H %M %S %F %T, and %% for a percent sign.
class PieceNames {
public:
    /// Throws Error{usage} if there is no conversion, an unsupported one, or one in a folder name.
    static PieceNames parse(const std::string& path);

    /// Path for local time `at`, with -2, -3 ... before the extension if files of that name exist.
    std::string free_path(std::chrono::system_clock::time_point at) const;
    /// True if a file name (without folder) is one that free_path() can return.
    bool matches(std::string_view name) const;
    /// Existing segments, oldest first: regular files with matching names, and NAME.part files of killed processes
    /// that are no longer being written. Empty if the folder cannot be read.
    std::vector<Piece> existing() const;

private:
    // A conversion: its number of digits and its range.
    struct Digits {
        int count;
        int least, most;  // values
    };
    using Token = std::variant<std::string, Digits>;

    std::string folder_;         // with the trailing slash
    std::string format_;         // strftime format, without the extension
    std::string ending_;         // extension with its dot
    std::vector<Token> tokens_;  // of the format
};

}  // namespace framewire
