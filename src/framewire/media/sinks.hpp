#pragma once

#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/time.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/plan/source.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace framewire {

struct SinkKind;

/// Parsed text of a sink.
struct SinkCall {
    const SinkKind* kind = nullptr;
    std::string path{};                         ///< path, address or -: the text before the parameters
    std::string ending{};                       ///< extension of the path, in lower case and with its dot
    bool literal = false;                       ///< the path was given as file://PATH and is not parsed as a pattern
    std::optional<SequencePattern> numbered{};  ///< the path as a pattern; empty if it has no number or is literal
    ParameterValues values{};                   ///< validated values; complete except for optional parameters
};

/// Kind of sink as a table entry: how texts of this kind are recognized, parsed, opened and explained. See
/// sink_registry().
struct SinkKind {
    std::string_view name;
    std::string_view summary;                 ///< description in one line
    std::vector<std::string_view> endings{};  ///< path extensions that identify the kind, in any case
    std::vector<ParameterInfo> parameters{};  ///< parameters written as key=value after colons
    bool is_numbered = false;                 ///< the file name may contain a number: one file per frame
    bool is_cut = false;                      ///< supports segments; see open_segmented_sink()
    bool is_file = true;                      ///< writes to a local file or standard output
    /// Opens the sink. Throws as open_sink() does. Null if this build does not support the kind.
    std::unique_ptr<Sink> (*open)(const SinkCall& call, const Shape& frame, Rational rate,
                                  const SinkOptions& options) = nullptr;
};

/// Returns the parameters that all video encoders have, of files and of live video: crf, bitrate, preset and gop.
std::vector<ParameterInfo> encoder_parameters();
/// Returns the value of `bitrate` in bits per second, if it has one. `who` names the text in messages. Throws
/// Error{usage} if it is not a bit rate, or `crf` has a value, too.
std::optional<std::int64_t> encoder_bitrate(const ParameterValues& values, const std::string& who);

/// Returns the table of all sinks in this build; use sink_registry() to look one up.
std::vector<SinkKind> sink_kinds();

/// Returns all kinds of sinks.
const std::vector<SinkKind>& sink_registry();

/// Prefix of a path that is taken literally, without parameters or a frame number.
inline constexpr std::string_view literal_path_prefix = "file://";

/// Parses the text of a sink, `PATH:key=value:key=value`. The path ends at the first colon that follows a known
/// extension or an address and precedes a key and '='; other colons belong to the path. After `file://` the whole text
/// is the path, without parameters or a frame number. Throws Error{usage} on an unknown extension, an unknown key, or
/// an invalid value.
SinkCall parse_sink(const std::string& text);

/// Detects frames with irregular times that are written to a format with a constant rate, and warns once.
class UnevenTimes {
public:
    /// Checks a frame's time. Call it for each frame before it is written to `name`, which has `rate` frames per
    /// second. Warns at the first frame that is more than one frame period off.
    void look_at(const FrameTime& time, double rate, const std::string& name) {
        if (frames_ == 0) first_seconds_ = time.seconds;
        const double late = (time.seconds - first_seconds_) * rate - static_cast<double>(frames_++);
        if (said_ || std::abs(late) <= 1) return;
        said_ = true;
        log_warning("{}: written at {:.4g} frames per second instead of the source's variable times", name, rate);
    }

private:
    std::int64_t frames_ = 0;
    double first_seconds_ = 0;
    bool said_ = false;
};

/// Output file for one time range of a source.
struct FilePart {
    std::string path;
    double begin_seconds = 0;  ///< source time, in whole seconds, at which the joined output starts
};

/// Returns true if outputs with this extension can be joined: .jsonl and .txt (lines), .y4m, .bgr, .gray, and .npy with
/// frames as first dimension, which become byte-identical to the output of a single run; also .mp4, .mkv and .avi.
bool can_be_joined(const std::string& path);

/// Joins parts in order. Audio, subtitles and metadata of a video file are copied from `medium`. Throws Error{usage}
/// on other extensions, Error{io}, and Error{no_input} if a part is not in the form that framewire writes.
void join_files(const std::vector<FilePart>& parts, const std::string& output, const OutputFileOptions& options,
                const std::optional<MediumFile>& medium = {}, bool audio = true);

/// Existing file of a recording's segment.
struct RecordedSegment {
    std::string path;
    std::int64_t bytes = 0;
    std::chrono::system_clock::time_point changed{};
};

/// File name pattern of a recording's segments: a path with strftime conversions in the file name, for example
/// `cam-%Y%m%d-%H%M%S.mp4`. Supported: %Y %y %m %d %j %H %M %S %F %T, and %% for a percent sign.
class SegmentNames {
public:
    /// Parses a path. Throws Error{usage} if there is no conversion, an unsupported one, or one in a folder name.
    static SegmentNames parse(const std::string& path);

    /// Returns the path for local time `at`, with -2, -3 ... before the extension if files of that name exist.
    std::string free_path(std::chrono::system_clock::time_point at) const;
    /// Returns true if a file name (without folder) is one that free_path() can return.
    bool matches(std::string_view name) const;
    /// Returns the existing segments, oldest first: regular files with matching names, and NAME.part files of killed
    /// processes that are no longer being written. Empty if the folder cannot be read.
    std::vector<RecordedSegment> existing() const;

private:
    // Number of digits and range of values of a conversion.
    struct Digits {
        int count;
        int least, most;  // range of values, inclusive
    };
    using Token = std::variant<std::string, Digits>;

    std::string folder_;         // folder with the trailing slash
    std::string format_;         // strftime format, without the extension
    std::string ending_;         // extension with its dot
    std::vector<Token> tokens_;  // tokens of the format
};

/// Opens a sink that records segments of options.segments.seconds, each in its own file named by SegmentNames from the
/// call's path. A segment starts with a key frame, the first frame in its time range, and no frame is lost between
/// segments: a segment is completed in the background while the next one is written. Then the oldest segments that
/// exceed the limits of options.segments are removed, but never the newest one. Throws as open_sink() and SegmentNames
/// do.
std::unique_ptr<Sink> open_segmented_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                          const SinkOptions& options);

}  // namespace framewire
