#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/media/media.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

struct SourceKind;

/// Parsed text of a source.
struct SourceCall {
    const SourceKind* kind = nullptr;
    std::string text{};        ///< the whole text
    std::string path{};        ///< path, address or graph: what stands between prefix and parameters
    ParameterValues values{};  ///< validated; complete except for optional parameters
};

/// Kind of source as a table entry: how its texts are recognized, parsed, opened and explained. See source_registry().
struct SourceKind {
    std::string_view name;
    std::string_view form;                     ///< syntax of the text: "raw:PATH:size=WxH"
    std::string_view summary;                  ///< one line
    std::string_view prefix{};                 ///< identifies the kind and is removed from the text: "raw:"
    std::vector<std::string_view> endings{};   ///< path extensions that identify the kind, in any case
    std::vector<ParameterInfo> parameters{};   ///< key=value after colons
    std::vector<std::string_view> examples{};  ///< texts for -i
    bool has_path = false;                     ///< a path comes before the parameters
    bool named_by_path = false;                ///< a bare path to an existing entry; may be written as `file://`
    bool may_be_away = false;                  ///< may be temporarily unavailable: a camera, the network
    bool must_exist = false;                   ///< the path must exist before anything is opened
    /// Optional. Returns true if `text`, which has no known prefix, is of this kind; for kinds that neither prefix nor
    /// extension identifies.
    bool (*matches)(const std::string& text) = nullptr;
    /// Opens the source. Throws as open_source() does. Null if this build does not support the kind.
    std::unique_ptr<Source> (*open)(const SourceCall& call, const SourceOptions& options) = nullptr;
    /// Optional. Local files that the source reads.
    std::vector<std::string> (*reads)(const SourceCall& call) = nullptr;
    /// Optional. Local files that the source writes.
    std::vector<std::string> (*writes)(const SourceCall& call) = nullptr;
};

/// SourceKind::reads for kinds that read the file at their path.
std::vector<std::string> reads_path(const SourceCall& call);

}  // namespace framewire
