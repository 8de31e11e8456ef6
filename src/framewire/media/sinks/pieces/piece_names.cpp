// Names of segments. The pattern is used in both directions: strftime() makes a name from a time, and the token list
// recognizes names that it can have made, so that other files in the folder are never removed.

#include "framewire/media/sinks/pieces/piece_names.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/media/files/paths.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

namespace framewire {
namespace {

constexpr std::string_view unfinished_ending = ".part";  // as in OutputFile

// True if another process holds OutputFile's lock on the file.
bool is_written_now(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return true;
    const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;
    ::close(descriptor);
    return locked;
}

// True if the name exists, also as a dangling link.
bool is_there(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

// Replaces %F and %T by the conversions they abbreviate.
std::string spelt_out(std::string_view format) {
    std::string text;
    for (std::size_t at = 0; at < format.size(); ++at) {
        text += format[at];
        if (format[at] != '%' || at + 1 == format.size()) continue;
        const char letter = format[++at];
        text.pop_back();
        text += letter == 'F' ? "%Y-%m-%d" : letter == 'T' ? "%H:%M:%S" : std::string{'%', letter};
    }
    return text;
}

}  // namespace

PieceNames PieceNames::parse(const std::string& path) {
    PieceNames names;
    const auto [folder, name] = split_path(path);
    names.folder_ = folder;
    if (folder.find('%') != folder.npos)
        fail(ErrorCode::usage, "{}: times go into the name of the file, not into those of folders", path);
    const auto dot = std::min(name.rfind('.'), name.size());
    names.format_ = spelt_out(name.substr(0, dot));
    names.ending_ = name.substr(dot);

    // Conversions with their number of digits and range; %S may be 60 in a leap second.
    static constexpr std::array<std::pair<char, Digits>, 8> known{{{'Y', {4, 1, 9999}},
                                                                   {'y', {2, 0, 99}},
                                                                   {'m', {2, 1, 12}},
                                                                   {'d', {2, 1, 31}},
                                                                   {'j', {3, 1, 366}},
                                                                   {'H', {2, 0, 23}},
                                                                   {'M', {2, 0, 59}},
                                                                   {'S', {2, 0, 60}}}};
    bool any = false;
    std::string literal;
    const auto& format = names.format_;
    for (std::size_t at = 0; at < format.size(); ++at) {
        if (format[at] != '%') {
            literal += format[at];
            continue;
        }
        const char letter = at + 1 < format.size() ? format[++at] : '\0';
        if (letter == '%') {
            literal += '%';
            continue;
        }
        const auto* found = std::ranges::find(known, letter, &std::pair<char, Digits>::first);
        if (found == known.end())
            fail(ErrorCode::usage, "{}: '%{}' is not known in the name of a piece; known are {}", path,
                 letter ? std::string(1, letter) : "", "%Y %y %m %d %j %H %M %S %F %T %%");
        if (!literal.empty()) names.tokens_.emplace_back(std::exchange(literal, {}));
        names.tokens_.emplace_back(found->second);
        any = true;
    }
    if (!literal.empty()) names.tokens_.emplace_back(literal);
    if (!any)
        fail(ErrorCode::usage, "{}: pieces need a time in their name, cam-%Y%m%d-%H%M%S{} for one", path,
             names.ending_);
    return names;
}

// The time is formatted with strftime() in local time.
std::string PieceNames::free_path(std::chrono::system_clock::time_point at) const {
    const auto seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(at));
    std::tm local{};
    ::localtime_r(&seconds, &local);
    char text[256] = {};
    std::strftime(text, sizeof text, format_.c_str(), &local);
    for (int number = 1;; ++number) {
        auto path = fmt::format("{}{}{}{}", folder_, text, number > 1 ? fmt::format("-{}", number) : "", ending_);
        if (!is_there(path) && !is_there(path + std::string(unfinished_ending))) return path;
    }
}

// Parses the name token by token: digits must be in the range of their conversion, and the optional suffix is -N with
// N >= 2.
bool PieceNames::matches(std::string_view name) const {
    for (const auto& token : tokens_) {
        if (const auto* literal = std::get_if<std::string>(&token)) {
            if (!name.starts_with(*literal)) return false;
            name.remove_prefix(literal->size());
            continue;
        }
        const auto& digits = std::get<Digits>(token);
        const auto count = static_cast<std::size_t>(digits.count);
        if (name.size() < count || name.substr(0, count).find_first_not_of("0123456789") != name.npos) return false;
        const auto value = number_in<int>(name.substr(0, count));
        if (!value || *value < digits.least || *value > digits.most) return false;
        name.remove_prefix(count);
    }
    if (!name.ends_with(ending_)) return false;
    name.remove_suffix(ending_.size());
    if (name.empty()) return true;
    if (!name.starts_with('-')) return false;
    name.remove_prefix(1);
    const auto number = number_in<int>(name);
    return number && *number >= 2 && fmt::format("{}", *number) == name;
}

std::vector<Piece> PieceNames::existing() const {
    std::vector<Piece> pieces;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder_.empty() ? "." : folder_, error), end; !error && entry != end;
         entry.increment(error)) {
        const auto name = entry->path().filename().string();
        // Remains of killed processes count as segments, so that they are removed in time, too.
        const bool unfinished = name.ends_with(unfinished_ending) &&
                                matches(std::string_view(name).substr(0, name.size() - unfinished_ending.size()));
        if (!unfinished && !matches(name)) continue;
        const auto path = folder_ + name;
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        if (unfinished && is_written_now(path)) continue;
        const auto changed =
            std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(
                std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
        pieces.push_back({path, status.st_size, changed});
    }
    std::ranges::sort(pieces, [](const Piece& a, const Piece& b) {
        return a.changed != b.changed ? a.changed < b.changed : a.path < b.path;
    });
    return pieces;
}

}  // namespace framewire
