#pragma once

#include "framewire/core/parameters.hpp"
#include "framewire/core/time.hpp"
#include "framewire/media/media.hpp"
#include "framewire/plan/source.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// Returns a source that starts again when it ends, by calling `open` again; indices and timestamps continue. A live
/// source, a source without frames and one that fails end as usual.
std::unique_ptr<Source> make_looping_source(std::function<std::unique_ptr<Source>()> open, std::stop_token stop);

/// Time range of a source: from `start_seconds`, inclusive, to `duration_seconds` later, exclusive.
struct TimeRange {
    double start_seconds = 0;
    std::optional<double> duration_seconds{};  ///< length; default: to the end of the source
};

/// Returns a source with the frames of `range`, which keep their times and indices; it seeks to the start on the first
/// read. seek() goes to any time in the range, with the source's own seek() or by reading up to that time. If the time
/// has passed, it reads from a newly opened source, provided that the source `opens_again`. Throws Error{usage} on a
/// start in a live source; read() throws Error{no_input} if the source ends before the start.
std::unique_ptr<Source> make_range_source(std::function<std::unique_ptr<Source>()> open, bool opens_again,
                                          const TimeRange& range, std::stop_token stop);

}  // namespace framewire

// Helpers for sources with a constant frame rate.

namespace framewire {

/// Returns the time of a frame, in seconds.
inline double even_time(std::int64_t frame, Rational rate) { return static_cast<double>(frame) / rate.value(); }

/// Returns the index of the first frame at or after `seconds`; `frames`, the number of frames, if there is none.
inline std::int64_t even_frame_at(double seconds, Rational rate, std::int64_t frames) {
    constexpr double same_time_s = 1e-6;  // times are quotients: times this close are equal
    const double wanted = seconds - same_time_s;
    const double near = std::clamp(std::floor(wanted * rate.value()), 0.0, static_cast<double>(frames));
    auto frame = std::max<std::int64_t>(static_cast<std::int64_t>(near) - 1, 0);
    while (frame < frames && even_time(frame, rate) < wanted) ++frame;
    return frame;
}

/// Times of all frames of a source, found without decoding them.
struct FrameTimes {
    std::vector<double> seconds{};       ///< times of all frames in order, as in FrameTime::seconds
    std::vector<std::size_t> entries{};  ///< indices of key frames, at which reading can start; ascending
    std::optional<MediumFile> medium{};  ///< source file, if it is a single video file
    std::string unknown{};               ///< reason why the times are unknown; empty if they are known
};

/// Limit on the stored times: more than ten days at 30 frames per second.
inline constexpr std::int64_t most_frames_of_times = std::int64_t{1} << 25;

/// Returns the times of all frames of a video file. Reads the file once but decodes only its first frame. Throws as
/// open_source() does.
FrameTimes frame_times_of(const std::string& text, const SourceOptions& options);

/// Opens a file with FFmpeg, even if it has the extension of a y4m or PNG file. Throws as open_source() does.
std::unique_ptr<Source> open_with_ffmpeg(const std::string& path, const SourceOptions& options);

/// Opens an image with libpng or FFmpeg, depending on its extension. Throws as open_source() does.
std::unique_ptr<Source> open_image(const std::string& path, const SourceOptions& options);

/// Throws Error{config} with a message that lists what a build without FFmpeg reads.
[[noreturn]] void fail_without_ffmpeg(const std::string& text);

struct SourceKind;

/// Parsed text of a source.
struct SourceCall {
    const SourceKind* kind = nullptr;
    std::string text{};        ///< the whole text
    std::string path{};        ///< path, address or graph: the text between prefix and parameters
    ParameterValues values{};  ///< validated values; complete except for optional parameters
};

/// Kind of source as a table entry: how texts of this kind are recognized, parsed, opened and explained. See
/// source_registry().
struct SourceKind {
    std::string_view name;
    std::string_view form;                     ///< syntax of the text, for example "raw:PATH:size=WxH"
    std::string_view summary;                  ///< description in one line
    std::string_view prefix{};                 ///< prefix that identifies the kind and is removed from the text, for
                                               ///< example "raw:"
    std::vector<std::string_view> endings{};   ///< path extensions that identify the kind, in any case
    std::vector<ParameterInfo> parameters{};   ///< parameters written as key=value after colons
    std::vector<std::string_view> examples{};  ///< example texts for -i
    bool has_path = false;                     ///< a path comes before the parameters
    bool named_by_path = false;                ///< a bare path to an existing entry names this kind; may be written as
                                               ///< `file://`
    bool may_be_away = false;                  ///< the source may be temporarily unavailable: a camera, the network
    bool must_exist = false;                   ///< the path must exist before anything is opened
    /// Optional. Returns true if `text`, which has no known prefix, is of this kind; used for kinds that have no
    /// identifying prefix or extension.
    bool (*matches)(const std::string& text) = nullptr;
    /// Opens the source. Throws as open_source() does. Null if this build does not support the kind.
    std::unique_ptr<Source> (*open)(const SourceCall& call, const SourceOptions& options) = nullptr;
    /// Optional. Returns the local files that the source reads.
    std::vector<std::string> (*reads)(const SourceCall& call) = nullptr;
    /// Optional. Returns the local files that the source writes.
    std::vector<std::string> (*writes)(const SourceCall& call) = nullptr;
};

/// SourceKind::reads for kinds that read the file at their path.
std::vector<std::string> reads_path(const SourceCall& call);

/// Returns all kinds of sources, in the order in which they are matched against a text. To add a kind, add its files to
/// CMakeLists.txt and its name to FRAMEWIRE_SOURCES in sources.cpp.
const std::vector<SourceKind>& source_registry();

/// Finds the kind of a text and parses its parameters. Opens nothing, but checks what exists at a path. Throws
/// Error{usage} on an empty text and on invalid parameters; the message lists what is allowed and suggests the nearest
/// name.
SourceCall parse_source(const std::string& text);

}  // namespace framewire
