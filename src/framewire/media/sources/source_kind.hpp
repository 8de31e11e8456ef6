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

/// The text of a source as it was understood.
struct SourceCall {
    const SourceKind* kind = nullptr;
    std::string text{};        ///< all of it
    std::string path{};        ///< a path, an address or a graph: what is behind the prefix and before the parameters
    ParameterValues values{};  ///< checked and, but for optional ones, complete
};

/// A kind of source as data: texts are understood, opened and explained by it. See source_registry().
struct SourceKind {
    std::string_view name;
    std::string_view form;                     ///< how a text of this kind looks: "raw:PATH:size=WxH"
    std::string_view summary;                  ///< one line
    std::string_view prefix{};                 ///< by which a text is of this kind, and which is taken off: "raw:"
    std::vector<std::string_view> endings{};   ///< of a path, by which it is of this kind, whatever its letters' size
    std::vector<ParameterInfo> parameters{};   ///< key=value behind colons
    std::vector<std::string_view> examples{};  ///< texts for -i
    bool has_path = false;                     ///< something comes before the parameters
    bool named_by_path = false;                ///< is a path alone, of what is there; `file://` may stand before it
    bool may_be_away = false;                  ///< for a while: a camera, the network
    bool must_exist = false;                   ///< the path, before anything is opened
    /// Whether `text`, which has none of the prefixes, is of this kind; where neither prefix nor endings tell.
    bool (*matches)(const std::string& text) = nullptr;
    /// Throws as open_source() does. Null where this build cannot.
    std::unique_ptr<Source> (*open)(const SourceCall& call, const SourceOptions& options) = nullptr;
    /// Files on this machine that it reads, and writes; null where there are none.
    std::vector<std::string> (*reads)(const SourceCall& call) = nullptr;
    std::vector<std::string> (*writes)(const SourceCall& call) = nullptr;
};

/// For SourceKind::reads: the path.
std::vector<std::string> reads_path(const SourceCall& call);

}  // namespace framewire
