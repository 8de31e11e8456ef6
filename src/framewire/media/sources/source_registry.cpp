// Finds the kind of a source text. Prefixes are checked first ("synth:", "raw:"), then each kind's own test and
// extensions, in the order of the table; the last kind accepts everything.

#include "framewire/media/sources/source_registry.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/text.hpp"
#include "framewire/media/names.hpp"

#include <algorithm>

// All kinds of sources, in the order in which they are matched against a text.
// clang-format off
#define FRAMEWIRE_SOURCES(kind) \
    kind(standard_input) \
    kind(synth) \
    kind(raw) \
    kind(camera) \
    kind(lavfi) \
    kind(stream) \
    kind(network) \
    kind(folder) \
    kind(sequence) \
    kind(y4m) \
    kind(fwd) \
    kind(png) \
    kind(image) \
    kind(playlist) \
    kind(video)
// clang-format on

namespace framewire {

#define FRAMEWIRE_DECLARE(name) SourceKind name##_source();
FRAMEWIRE_SOURCES(FRAMEWIRE_DECLARE)
#undef FRAMEWIRE_DECLARE

const std::vector<SourceKind>& source_registry() {
#define FRAMEWIRE_CALL(name) name##_source(),
    static const std::vector<SourceKind> kinds = {FRAMEWIRE_SOURCES(FRAMEWIRE_CALL)};
#undef FRAMEWIRE_CALL
    return kinds;
}

namespace {

constexpr std::string_view path_prefix = "file://";

// True if the text starts with the kind's prefix. A kind without a path also matches its bare name, "synth".
bool has_prefix(const SourceKind& kind, std::string_view text) {
    if (kind.prefix.empty()) return false;
    return text.starts_with(kind.prefix) || (!kind.has_path && text == kind.prefix.substr(0, kind.prefix.size() - 1));
}

// True if the kind recognizes the text or its extension.
bool is_of(const SourceKind& kind, const std::string& text) {
    if (kind.matches && kind.matches(text)) return true;
    const auto lower = lower_case(text);
    return std::any_of(kind.endings.begin(), kind.endings.end(), [&](auto ending) { return lower.ends_with(ending); });
}

// Splits the text into path and parameters.
SourceCall read(const SourceKind& kind, const std::string& text, std::string_view rest) {
    SourceCall call{.kind = &kind, .text = text};
    const auto path_end = kind.has_path ? end_of_path(rest, kind.parameters) : 0;
    call.path = rest.substr(0, path_end);
    if (kind.has_path) rest.remove_prefix(std::min(path_end + 1, rest.size()));
    call.values = parse_parameters(rest, {.who = std::string(kind.name), .parameters = kind.parameters});
    return call;
}

}  // namespace

std::vector<std::string> reads_path(const SourceCall& call) { return {call.path}; }

SourceCall parse_source(const std::string& text) {
    if (text.empty()) fail(ErrorCode::usage, "the source is empty; a path, a URL, a camera, synth or - is needed");
    for (const auto& kind : source_registry())
        if (has_prefix(kind, text))
            return read(kind, text, std::string_view(text).substr(std::min(kind.prefix.size(), text.size())));
    const bool is_path = text.starts_with(path_prefix);
    const auto named = is_path ? text.substr(path_prefix.size()) : text;
    for (const auto& kind : source_registry())
        if ((kind.named_by_path || !is_path) && is_of(kind, named)) return read(kind, named, named);
    fail(ErrorCode::internal, "{} is no source", text);  // the last kind takes all
}

}  // namespace framewire
