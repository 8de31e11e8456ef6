// Parses sink texts. The difficulty is the colon: it separates parameters, but may also be part of a path or URL. A
// colon ends the path only if the text before it identifies a kind and the text after it starts with `key=`.

#include "framewire/media/sinks/sink_registry.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/text.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/media/names.hpp"
#include "framewire/media/sinks/sink_kinds.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace framewire {
namespace {

// True for URLs.
bool is_address(std::string_view text) { return text.find("://") != text.npos; }

// The kind with a name; null if there is none.
const SinkKind* kind_by_name(std::string_view name) {
    const auto& kinds = sink_registry();
    const auto found = std::ranges::find(kinds, name, &SinkKind::name);
    return found == kinds.end() ? nullptr : &*found;
}

// Kind of a path, and the extension that identified it; null if it is unknown.
const SinkKind* kind_of(std::string_view path, bool literal, std::string& ending) {
    if (!literal && is_address(path)) return kind_by_name("network");
    const auto lower = lower_case(path);
    for (const auto& kind : sink_registry())
        for (const auto one : kind.endings)
            if (lower.ends_with(one)) {
                ending = one;
                return &kind;
            }
    return !literal && path == "-" ? kind_by_name("stdout") : nullptr;
}

// True if a text starts with `key=`.
bool begins_with_key(std::string_view text) {
    const auto key = text.substr(0, text.find('='));
    return !key.empty() && key.size() < text.size() && std::ranges::all_of(key, [](unsigned char letter) {
        return std::isalnum(letter) || letter == '_' || letter == '-';
    });
}

// End of the path, where parameters start.
std::size_t end_of_sink_path(std::string_view text) {
    // URLs contain colons themselves: only a known key ends the path.
    if (is_address(text)) return end_of_path(text, kind_by_name("network")->parameters);
    std::string ending;
    for (auto colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1))
        if (begins_with_key(text.substr(colon + 1)) && kind_of(text.substr(0, colon), false, ending)) return colon;
    return text.size();
}

// Throws Error{usage}; the message lists the known extensions.
[[noreturn]] void refuse_ending(const std::string& text) {
    std::vector<std::string_view> known;
    for (const auto& kind : sink_registry()) known.insert(known.end(), kind.endings.begin(), kind.endings.end());
    fail(ErrorCode::usage,
         "{}: what to write is told by the ending; known are {}, - for y4m on standard output, and URLs",
         address_without_credentials(text), fmt::join(known, " "));
}

}  // namespace

const std::vector<SinkKind>& sink_registry() {
    static const auto kinds = sink_kinds();
    return kinds;
}

// "clip.mp4:crf=20" is a path with parameters, "file://clip.mp4:crf=20" a path with a colon.
SinkCall parse_sink(const std::string& text) {
    const bool all_path = text.starts_with(literal_path_prefix);
    const auto whole = std::string_view(text).substr(all_path ? literal_path_prefix.size() : 0);
    const auto path_end = all_path ? whole.size() : end_of_sink_path(whole);
    SinkCall call{.path = std::string(whole.substr(0, path_end))};
    call.literal = all_path;
    call.kind = kind_of(call.path, all_path, call.ending);
    if (!call.kind) refuse_ending(text);
    if (call.kind->is_file && !all_path) call.numbered = SequencePattern::parse(call.path);
    call.values =
        parse_parameters(whole.substr(std::min(path_end + 1, whole.size())),
                         {.who = address_without_credentials(call.path), .parameters = call.kind->parameters});
    return call;
}

}  // namespace framewire
