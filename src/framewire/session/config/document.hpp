#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// Position in a text. Line and column are counted from 1.
struct TextPlace {
    int line = 1, column = 1;
};

struct DocumentEntry;

/// One value of a YAML document. Only a subset is supported: no aliases, no tags, and keys are always texts.
struct DocumentNode {
    enum class Kind { nothing, text, list, map };

    /// Kind of the value; decides which of the members below is used.
    Kind kind = Kind::nothing;
    TextPlace place{};
    /// Contents of a text, as written.
    std::string text{};
    /// Elements of a list.
    std::vector<DocumentNode> items{};
    /// Entries of a map, with unique keys. No {} here, because clang would need the complete type.
    std::vector<DocumentEntry> entries;
};

/// One entry of a map.
struct DocumentEntry {
    std::string key;
    /// Position of the key.
    TextPlace place{};
    DocumentNode value{};
};

/// Limits for the size and depth of a document.
inline constexpr std::size_t max_document_bytes = std::size_t{1} << 20;
inline constexpr int max_document_depth = 8;

/// Parses a text with exactly one YAML document. Memory use is proportional to the text. Throws Error{config} with
/// `name`, line and column if the text is invalid, uses an unsupported feature, exceeds a limit or has a second
/// document.
DocumentNode read_document(std::string_view text, const std::string& name);

}  // namespace framewire::session
