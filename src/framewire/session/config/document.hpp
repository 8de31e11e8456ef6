#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::session {

/// A place in a text; both from 1.
struct TextPlace {
    int line = 1, column = 1;
};

struct DocumentEntry;

/// One value of a YAML document. Aliases, tags and keys that are no texts there are not.
struct DocumentNode {
    enum class Kind { nothing, text, list, map };

    Kind kind = Kind::nothing;
    TextPlace place{};
    std::string text{};                 ///< of a text, as it was written
    std::vector<DocumentNode> items{};  ///< of a list
    std::vector<DocumentEntry>
        entries;  ///< of a map; no key is there twice. No {} here: clang has to know entries for it
};

struct DocumentEntry {
    std::string key;
    TextPlace place{};  ///< of the key
    DocumentNode value{};
};

/// The most that is read.
inline constexpr std::size_t max_document_bytes = std::size_t{1} << 20;
inline constexpr int max_document_depth = 8;

/// Reads the one document of a text, in memory of its size. Throws Error{config} that names `name`, line and column, on
/// what is no YAML or has what there is not, is deeper or larger than allowed, and on a second document.
DocumentNode read_document(std::string_view text, const std::string& name);

}  // namespace framewire::session
