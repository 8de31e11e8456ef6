#pragma once

#include "framewire/core/parameters/values.hpp"
#include "framewire/media/images/sequence.hpp"
#include "framewire/media/media.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

struct SinkKind;

/// Parsed text of a sink.
struct SinkCall {
    const SinkKind* kind = nullptr;
    std::string path{};                         ///< path, address or -: what stands before the parameters
    std::string ending{};                       ///< extension of the path, in lower case and with its dot
    bool literal = false;                       ///< the path was given as file://PATH: it is not parsed as a pattern
    std::optional<SequencePattern> numbered{};  ///< the path as a pattern; empty if it has no number or is literal
    ParameterValues values{};                   ///< validated; complete except for optional parameters
};

/// Kind of sink as a table entry: how its texts are recognized, parsed, opened and explained. See sink_registry().
struct SinkKind {
    std::string_view name;
    std::string_view summary;                 ///< one line
    std::vector<std::string_view> endings{};  ///< path extensions, in any case
    std::vector<ParameterInfo> parameters{};  ///< key=value after colons
    bool is_numbered = false;                 ///< the name may contain a number: one file per frame
    bool is_cut = false;                      ///< supports segments; see open_segmented_sink()
    bool is_file = true;                      ///< writes to a local file or standard output
    /// Opens the sink. Throws as open_sink() does. Null if this build does not support the kind.
    std::unique_ptr<Sink> (*open)(const SinkCall& call, const Shape& frame, Rational rate,
                                  const SinkOptions& options) = nullptr;
};

}  // namespace framewire
