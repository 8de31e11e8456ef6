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

/// The text of a sink as it was understood.
struct SinkCall {
    const SinkKind* kind = nullptr;
    std::string path{};                         ///< a path, an address or -: what is before the parameters
    std::string ending{};                       ///< of the path, in small letters and with its dot
    bool literal = false;                       ///< the path was given as file://PATH: nothing in it is a pattern
    std::optional<SequencePattern> numbered{};  ///< the path as a pattern; none if it has no number or is literal
    ParameterValues values{};                   ///< checked and, but for optional ones, complete
};

/// A kind of sink as data: texts are understood, opened and explained by it. See sink_registry().
struct SinkKind {
    std::string_view name;
    std::string_view summary;                 ///< one line
    std::vector<std::string_view> endings{};  ///< of a path, whatever its letters' size
    std::vector<ParameterInfo> parameters{};  ///< key=value behind colons
    bool is_numbered = false;                 ///< takes a number in its name, one file for each frame
    bool is_cut = false;                      ///< may come in pieces; see open_segmented_sink()
    bool is_file = true;                      ///< is one on this machine, or standard output
    /// Throws as open_sink() does. Null where this build cannot.
    std::unique_ptr<Sink> (*open)(const SinkCall& call, const Shape& frame, Rational rate,
                                  const SinkOptions& options) = nullptr;
};

}  // namespace framewire
