#include "framewire/media/sinks.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/fwd.hpp"
#include "framewire/media/image_formats.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/npy.hpp"
#include "framewire/media/raw_video.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <future>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// Table of sinks: one entry per output format, with extensions and parameters.

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/encoder.hpp"
#include "framewire/media/ffmpeg/sink.hpp"
#endif

namespace framewire {
namespace {

#ifdef FRAMEWIRE_FFMPEG

// One function opens all formats that FFmpeg's muxers write.
constexpr auto open_with_muxer = open_ffmpeg_sink;

// Opens a sink for still images, or for WebP, which becomes an animation if there are several frames.
std::unique_ptr<Sink> open_still(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options) {
    if (call.ending == ".webp" && !call.numbered) return open_webp_sink(call, frame, rate, options);
    return open_image_sink(call.path, call.numbered, frame, still_encoder(call), options);
}

#else

constexpr auto open_with_muxer = nullptr, open_still = nullptr;

#endif

// Returns the parameters of video files; the extension determines the defaults.
std::vector<ParameterInfo> video_parameters() {
    using Type = ParameterInfo::Type;
    std::vector<ParameterInfo> parameters{
        {.name = "codec",
         .help = "FFmpeg name of an encoder (libx264, libx265, h264_nvenc, h264_vaapi, libvpx-vp9 ...) or a codec",
         .type = Type::text,
         .optional = true}};
    std::ranges::move(encoder_parameters(), std::back_inserter(parameters));
    parameters.push_back({.name = "tune", .help = "the encoder's tuning", .type = Type::text, .optional = true});
    parameters.push_back({.name = "pixels",
                          .help = "FFmpeg name of the pixel format: yuv420p, yuv444p, nv12, yuv420p10le ...",
                          .type = Type::text,
                          .optional = true});
    return parameters;
}

// Returns the parameter of lossy image formats.
std::vector<ParameterInfo> quality_parameter() {
    using Type = ParameterInfo::Type;
    return {{.name = "quality",
             .help = "image quality; 100 is lossless for WebP",
             .type = Type::integer,
             .minimum = 1,
             .maximum = 100,
             .optional = true}};
}

// Returns the parameters of `-`: a format, and the parameters of y4m.
std::vector<ParameterInfo> standard_output_parameters() {
    auto parameters = y4m_sink_parameters();
    parameters.insert(parameters.begin(),
                      {.name = "format",
                       .help = "y4m, or raw bytes without a header: bgr has 3 bytes per pixel, gray 1",
                       .type = ParameterInfo::Type::choice,
                       .default_value = "y4m",
                       .choices = {"y4m", "bgr", "gray"}});
    return parameters;
}

// Opens `-` as y4m or raw bytes, and rejects parameters of the other format.
std::unique_ptr<Sink> open_standard_output(const SinkCall& call, const Shape& frame, Rational rate,
                                           const SinkOptions& options) {
    const auto& format = call.values.text("format");
    if (format == "y4m") return open_y4m_sink(call, frame, rate, options);
    for (const auto& parameter : y4m_sink_parameters())
        if (call.values.has(parameter.name))
            fail(ErrorCode::usage, "{}: '{}' requires y4m; format={} writes raw bytes", call.path, parameter.name,
                 format);
    return open_raw_sink(call.path, format == "gray" ? 1 : 3, frame, options);
}

}  // namespace

std::vector<SinkKind> sink_kinds() {
    return {
        {.name = "stdout",
         .summary = "standard output (-): y4m, or raw bytes with -:format=bgr",
         .parameters = standard_output_parameters(),
         .open = open_standard_output},
        {.name = "video",
         .summary = "H.264 (.mp4 .m4v .mov .ts), FFV1 (.mkv), VP9 (.webm), Motion JPEG (.avi), GIF, or the encoder "
                    "given by codec=",
         .endings = {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".ts", ".avi", ".gif"},
         .parameters = video_parameters(),
         .is_cut = true,
         .open = open_with_muxer},
        {.name = "hls",
         .summary = "HLS: a playlist and its segments",
         .endings = {".m3u8"},
         .parameters = video_parameters(),
         .open = open_with_muxer},
        {.name = "network",
         .summary = "a network address: rtsp://, rtmp://, udp://, srt://",
         .parameters = video_parameters(),
         .is_file = false,
         .open = open_with_muxer},
        {.name = "y4m",
         .summary = "y4m",
         .endings = {".y4m"},
         .parameters = y4m_sink_parameters(),
         .is_cut = true,
         .open = open_y4m_sink},
        {.name = "fwd",
         .summary = "the difference stream: every byte within the threshold, or lossless",
         .endings = {".fwd"},
         .parameters = fwd_sink_parameters(),
         .is_cut = true,
         .open = open_fwd_sink},
        {.name = "raw",
         .summary = "raw bytes",
         .endings = {".bgr", ".gray"},
         .is_cut = true,
         .open =
             [](const SinkCall& call, const Shape& frame, Rational, const SinkOptions& options) {
                 return open_raw_sink(call.path, call.ending == ".gray" ? 1 : 3, frame, options);
             }},
        {.name = "png",
         .summary = "one image, or many as img%04d.png",
         .endings = {".png"},
         .is_numbered = true,
         .open =
             [](const SinkCall& call, const Shape& frame, Rational, const SinkOptions& options) {
                 return open_image_sink(call.path, call.numbered, frame, encode_png, options);
             }},
        {.name = "image",
         .summary = "one image, or many as img%04d.jpg; lossy; several frames make an animated .webp",
         .endings = {".jpg", ".jpeg", ".webp"},
         .parameters = quality_parameter(),
         .is_numbered = true,
         .open = open_still},
        {.name = "lossless image",
         .summary = "one image, or many as img%04d.tif; lossless",
         .endings = {".tif", ".tiff", ".bmp"},
         .is_numbered = true,
         .open = open_still},
    };
}

}  // namespace framewire

// Parses sink texts. A colon separates parameters but may also be part of a path or URL: it ends the path only if the
// text before it identifies a kind and the text after it starts with `key=`.

namespace framewire {
namespace {

// Returns true for URLs.
bool is_address(std::string_view text) { return text.find("://") != text.npos; }

// Returns the kind with a name; null if there is none.
const SinkKind* kind_by_name(std::string_view name) {
    const auto& kinds = sink_registry();
    const auto found = std::ranges::find(kinds, name, &SinkKind::name);
    return found == kinds.end() ? nullptr : &*found;
}

// Returns the kind of a path, and sets `ending` to the extension that identified it; null if the kind is unknown.
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

// Returns true if a text starts with `key=`.
bool begins_with_key(std::string_view text) {
    const auto key = text.substr(0, text.find('='));
    return !key.empty() && key.size() < text.size() && std::ranges::all_of(key, [](unsigned char letter) {
        return std::isalnum(letter) || letter == '_' || letter == '-';
    });
}

// Returns the end of the path, where parameters start.
std::size_t end_of_sink_path(std::string_view text) {
    // URLs contain colons themselves, so only a known key ends the path.
    if (is_address(text)) return end_of_path(text, kind_by_name("network")->parameters);
    std::string ending;
    for (auto colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1))
        if (begins_with_key(text.substr(colon + 1)) && kind_of(text.substr(0, colon), false, ending)) return colon;
    return text.size();
}

// Throws Error{usage} with a message that lists the known extensions.
[[noreturn]] void refuse_ending(const std::string& text) {
    std::vector<std::string_view> known;
    for (const auto& kind : sink_registry()) known.insert(known.end(), kind.endings.begin(), kind.endings.end());
    fail(ErrorCode::usage,
         "{}: the file extension selects the format; known: {}, - for y4m on standard output, and URLs",
         address_without_credentials(text), fmt::join(known, " "));
}

}  // namespace

std::vector<ParameterInfo> encoder_parameters() {
    using Type = ParameterInfo::Type;
    return {
        {.name = "crf",
         .help = "constant quality on the encoder's own scale; lower is better",
         .type = Type::real,
         .minimum = 0,
         .maximum = 255,
         .optional = true},
        {.name = "bitrate",
         .help = "bits per second instead of constant quality, such as 2M or 500k",
         .type = Type::text,
         .optional = true},
        {.name = "preset",
         .help = "the encoder's preset, which trades speed for size",
         .type = Type::text,
         .optional = true},
        {.name = "gop",
         .help = "maximum number of frames between keyframes; default for live video: two seconds",
         .type = Type::integer,
         .minimum = 1,
         .maximum = 1e6,
         .optional = true},
    };
}

std::optional<std::int64_t> encoder_bitrate(const ParameterValues& values, const std::string& who) {
    if (!values.has("bitrate")) return std::nullopt;
    const auto& text = values.text("bitrate");
    const auto bits = bits_per_second_of(text);
    constexpr double most = 2e9;  // encoders take an int
    if (!bits || *bits > most)
        fail(ErrorCode::usage, "{}: bitrate {} is not a bit rate; allowed: 1k to 2G, such as 2M or 500k", who,
             in_quotes(text));
    if (values.has("crf")) fail(ErrorCode::usage, "{}: crf and bitrate cannot be combined", who);
    return std::llround(*bits);
}

const std::vector<SinkKind>& sink_registry() {
    static const auto kinds = sink_kinds();
    return kinds;
}

// Parses a sink: "clip.mp4:crf=20" is a path with parameters, "file://clip.mp4:crf=20" a path with a colon.
SinkCall parse_sink(const std::string& text) {
    const bool all_path = text.starts_with(literal_path_prefix);
    const auto whole = std::string_view(text).substr(all_path ? literal_path_prefix.size() : 0);
    const auto path_end = all_path ? whole.size() : end_of_sink_path(whole);
    SinkCall call{.path = std::string(whole.substr(0, path_end))};
    call.literal = all_path;
    call.kind = kind_of(call.path, all_path, call.ending);
    if (!call.kind) refuse_ending(text);
    if (call.kind->is_file && !all_path) call.numbered = SequencePattern::parse(call.path);
    const auto who = address_without_credentials(call.path);
    call.values = parse_parameters(whole.substr(std::min(path_end + 1, whole.size())),
                                   {.who = who, .parameters = call.kind->parameters});
    encoder_bitrate(call.values, who);
    return call;
}

}  // namespace framewire

// Joins the outputs of consecutive time ranges. Lines, raw frames and y4m are concatenated; arrays are concatenated
// along their first dimension; video files are joined packet by packet (join_videos()).

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/cutting.hpp"
#endif

namespace framewire {
namespace {

// Extensions of files that are byte-identical to those of a single run after joining.
constexpr std::array<std::string_view, 6> equal_endings{".jsonl", ".txt", ".bgr", ".gray", ".y4m", ".npy"};
#ifdef FRAMEWIRE_FFMPEG
constexpr std::array<std::string_view, 3> video_endings{".mp4", ".mkv", ".avi"};
#else
constexpr std::array<std::string_view, 0> video_endings{};
#endif
constexpr std::size_t longest_copy_bytes = std::size_t{1} << 20;

// Returns the extension in lower case.
std::string ending_of(const std::string& path) { return lower_case(std::filesystem::path(path).extension().native()); }

bool has(const auto& list, const std::string& ending) { return std::ranges::find(list, ending) != list.end(); }

void refuse_stopped(const InputFile& file) {
    if (file.stopped()) fail(ErrorCode::io, "stopped while joining {}", file.name());
}

// Reads the first line of a file with its line end, up to a maximum length.
std::string first_line(InputFile& file) {
    constexpr std::size_t longest_line_bytes = 1024;
    std::string line;
    while (line.size() < longest_line_bytes && !line.ends_with('\n')) {
        const int letter = file.get();
        if (letter < 0) break;
        line += static_cast<char>(letter);
    }
    return line;
}

// Concatenates files. With `has_header`, the first line (the header of y4m) is kept only from the first part, and must
// be equal in all parts.
void join_bytes(const std::vector<FilePart>& parts, OutputFile& output, bool has_header, const std::stop_token& stop) {
    std::vector<std::uint8_t> bytes(longest_copy_bytes);
    std::string header;
    for (const auto& one : parts) {
        InputFile file(one.path, stop);
        if (has_header) {
            const auto line = first_line(file);
            if (header.empty()) output.write(line.data(), line.size());
            if (!header.empty() && line != header)
                fail(ErrorCode::no_input, "{} has frames of a different type than the previous segment", one.path);
            header = line;
        }
        for (std::size_t got = bytes.size(); got == bytes.size();) {
            got = file.read(bytes.data(), bytes.size());
            refuse_stopped(file);
            output.write(bytes.data(), got);
        }
    }
}

// Reads the header of an array that framewire wrote, and validates it against the size of the file.
NpyHeader read_header(InputFile& file) {
    std::vector<std::uint8_t> bytes(NpyFile::header_bytes);
    bytes.resize(file.read(bytes.data(), bytes.size()));
    refuse_stopped(file);
    auto header = parse_npy_header(bytes, file.name());
    std::uint64_t frame_bytes = 4;
    const auto rest_bytes = file.length_bytes() - std::ssize(bytes);
    if (header.fortran_order || header.bytes != bytes.size() || header.shape.size() < 2 || rest_bytes < 0)
        fail(ErrorCode::no_input, "{} contains no arrays of frames", file.name());
    for (const auto side : std::span(header.shape).subspan(1))
        if (side < 1 || (frame_bytes *= static_cast<std::uint64_t>(side)) > static_cast<std::uint64_t>(rest_bytes))
            fail(ErrorCode::no_input, "{} ends within its first array", file.name());
    // The count in the header must agree with the size of the file.
    const auto frames = static_cast<std::uint64_t>(rest_bytes) / frame_bytes;
    if (frames != static_cast<std::uint64_t>(header.shape[0]) ||
        frames * frame_bytes != static_cast<std::uint64_t>(rest_bytes))
        fail(ErrorCode::no_input, "{} is truncated", file.name());
    return header;
}

// Copies `count` arrays of `values` elements.
template <class Value>
void copy_arrays(InputFile& from, std::int64_t count, std::size_t values, NpyFile& to) {
    std::vector<Value> array(values);
    for (std::int64_t number = 0; number < count; ++number) {
        const auto got = from.read(array.data(), values * sizeof(Value));
        refuse_stopped(from);
        // The file was complete when its header was read: another program has shortened it since.
        if (got < values * sizeof(Value)) fail(ErrorCode::no_input, "{} is truncated", from.name());
        to.write(array.data(), values);
    }
}

// Concatenates the arrays of all parts along their first dimension.
void join_arrays(const std::vector<FilePart>& parts, const std::string& output, const OutputFileOptions& options) {
    std::optional<NpyFile> file;
    NpyHeader first;
    for (const auto& one : parts) {
        InputFile from(one.path, options.stop);
        const auto header = read_header(from);
        const std::vector shape(header.shape.begin() + 1, header.shape.end());
        const bool floats = header.type == "<f4";
        if (!floats && header.type != "<i4") fail(ErrorCode::no_input, "{} is of type {}", one.path, header.type);
        std::size_t values = 1;
        for (const auto side : shape) values *= static_cast<std::size_t>(side);
        if (!file) {
            file.emplace(output, shape, true, options, floats ? NpyValues::float32 : NpyValues::int32);
            first = header;
        }
        if (header.type != first.type || !std::ranges::equal(shape, std::span(first.shape).subspan(1)))
            fail(ErrorCode::no_input, "{} has arrays of a different type than the previous segment", one.path);
        if (floats)
            copy_arrays<float>(from, header.shape[0], values, *file);
        else
            copy_arrays<std::int32_t>(from, header.shape[0], values, *file);
    }
    file->finish();
}

}  // namespace

bool can_be_joined(const std::string& path) {
    const auto ending = ending_of(path);
    return has(equal_endings, ending) || has(video_endings, ending);
}

void join_files(const std::vector<FilePart>& parts, const std::string& output, const OutputFileOptions& options,
                const std::optional<MediumFile>& medium, bool audio) {
    const auto ending = ending_of(output);
    if (parts.empty() || !can_be_joined(output)) fail(ErrorCode::usage, "cannot join segments into {}", output);
#ifdef FRAMEWIRE_FFMPEG
    if (has(video_endings, ending)) {
        std::vector<VideoPart> videos;
        for (const auto& one : parts) videos.push_back({one.path, one.begin_seconds});
        return join_videos(videos, output, options, medium, audio);
    }
#else
    static_cast<void>(medium), static_cast<void>(audio);
#endif
    if (ending == ".npy") return join_arrays(parts, output, options);
    OutputFile file(output, options);
    join_bytes(parts, file, ending == ".y4m", options.stop);
    file.finish();
}

}  // namespace framewire

// Names of segments. The pattern is used in both directions: strftime() makes a name from a time, and the token list
// recognizes the names that it can have made, so that other files in the folder are never removed.

namespace framewire {
namespace {

constexpr std::string_view unfinished_ending = ".part";  // the extension that OutputFile uses

// Returns true if another process holds OutputFile's lock on the file.
bool is_written_now(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return true;
    const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;
    ::close(descriptor);
    return locked;
}

// Returns true if the name exists, even as a dangling link.
bool is_there(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

// Replaces %F and %T with the conversions that they abbreviate.
std::string spelt_out(std::string_view format) {
    std::string text;
    for (std::size_t at = 0; at < format.size(); ++at) {
        text += format[at];
        if (format[at] != '%' || at + 1 == format.size()) continue;
        const char letter = format[++at];
        text.pop_back();
        text += letter == 'F' ? "%Y-%m-%d" : letter == 'T' ? "%H:%M:%S" : std::string{'%', letter};
    }
    return text;
}

}  // namespace

SegmentNames SegmentNames::parse(const std::string& path) {
    SegmentNames names;
    const auto [folder, name] = split_path(path);
    names.folder_ = folder;
    if (folder.find('%') != folder.npos)
        fail(ErrorCode::usage, "{}: times are allowed in the file name, not in folder names", path);
    const auto dot = std::min(name.rfind('.'), name.size());
    names.format_ = spelt_out(name.substr(0, dot));
    names.ending_ = name.substr(dot);

    // Conversions with their number of digits and range; %S may be 60 in a leap second.
    static constexpr std::array<std::pair<char, Digits>, 8> known{{{'Y', {4, 1, 9999}},
                                                                   {'y', {2, 0, 99}},
                                                                   {'m', {2, 1, 12}},
                                                                   {'d', {2, 1, 31}},
                                                                   {'j', {3, 1, 366}},
                                                                   {'H', {2, 0, 23}},
                                                                   {'M', {2, 0, 59}},
                                                                   {'S', {2, 0, 60}}}};
    bool any = false;
    std::string literal;
    const auto& format = names.format_;
    for (std::size_t at = 0; at < format.size(); ++at) {
        if (format[at] != '%') {
            literal += format[at];
            continue;
        }
        const char letter = at + 1 < format.size() ? format[++at] : '\0';
        if (letter == '%') {
            literal += '%';
            continue;
        }
        const auto* found = std::ranges::find(known, letter, &std::pair<char, Digits>::first);
        if (found == known.end())
            fail(ErrorCode::usage, "{}: '%{}' is not supported in segment names; supported: {}", path,
                 letter ? std::string(1, letter) : "", "%Y %y %m %d %j %H %M %S %F %T %%");
        if (!literal.empty()) names.tokens_.emplace_back(std::exchange(literal, {}));
        names.tokens_.emplace_back(found->second);
        any = true;
    }
    if (!literal.empty()) names.tokens_.emplace_back(literal);
    if (!any)
        fail(ErrorCode::usage, "{}: segments need a time in their name, such as cam-%Y%m%d-%H%M%S{}", path,
             names.ending_);
    return names;
}

// Formats the time with strftime() in local time.
std::string SegmentNames::free_path(std::chrono::system_clock::time_point at) const {
    const auto seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(at));
    std::tm local{};
    ::localtime_r(&seconds, &local);
    char text[256] = {};
    std::strftime(text, sizeof text, format_.c_str(), &local);
    for (int number = 1;; ++number) {
        auto path = fmt::format("{}{}{}{}", folder_, text, number > 1 ? fmt::format("-{}", number) : "", ending_);
        if (!is_there(path) && !is_there(path + std::string(unfinished_ending))) return path;
    }
}

// Parses the name token by token: digits must be in the range of their conversion, and the optional suffix is -N with N
// >= 2.
bool SegmentNames::matches(std::string_view name) const {
    for (const auto& token : tokens_) {
        if (const auto* literal = std::get_if<std::string>(&token)) {
            if (!name.starts_with(*literal)) return false;
            name.remove_prefix(literal->size());
            continue;
        }
        const auto& digits = std::get<Digits>(token);
        const auto count = static_cast<std::size_t>(digits.count);
        if (name.size() < count || name.substr(0, count).find_first_not_of("0123456789") != name.npos) return false;
        const auto value = number_in<int>(name.substr(0, count));
        if (!value || *value < digits.least || *value > digits.most) return false;
        name.remove_prefix(count);
    }
    if (!name.ends_with(ending_)) return false;
    name.remove_suffix(ending_.size());
    if (name.empty()) return true;
    if (!name.starts_with('-')) return false;
    name.remove_prefix(1);
    const auto number = number_in<int>(name);
    return number && *number >= 2 && fmt::format("{}", *number) == name;
}

std::vector<RecordedSegment> SegmentNames::existing() const {
    std::vector<RecordedSegment> pieces;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder_.empty() ? "." : folder_, error), end; !error && entry != end;
         entry.increment(error)) {
        const auto name = entry->path().filename().string();
        // Unfinished files of killed processes count as segments, so that they are removed in time, too.
        const bool unfinished = name.ends_with(unfinished_ending) &&
                                matches(std::string_view(name).substr(0, name.size() - unfinished_ending.size()));
        if (!unfinished && !matches(name)) continue;
        const auto path = folder_ + name;
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        if (unfinished && is_written_now(path)) continue;
        const auto changed =
            std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(
                std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec)));
        pieces.push_back({path, status.st_size, changed});
    }
    std::ranges::sort(pieces, [](const RecordedSegment& a, const RecordedSegment& b) {
        return a.changed != b.changed ? a.changed < b.changed : a.path < b.path;
    });
    return pieces;
}

}  // namespace framewire

// A recording in segments. When a segment is full, the next one is opened at once, and the old one is finished in the
// background, because flushing the encoder and writing the index of a long MP4 file take longer than a frame period.

namespace framewire {
namespace {

using WallClock = std::chrono::system_clock;

// Converts a duration to the wall clock's unit.
WallClock::duration wall_time(double seconds) {
    return std::chrono::duration_cast<WallClock::duration>(std::chrono::duration<double>(seconds));
}

// Sink that distributes frames over segments.
class SegmentedSink final : public Sink {
public:
    SegmentedSink(SinkCall call, const Shape& frame, Rational rate, const SinkOptions& options)
        : call_(std::move(call)),
          shape_(frame),
          rate_(rate),
          options_(options),
          names_(SegmentNames::parse(call_.path)) {
        options_.to_the_end = false;
        options_.replace = false;  // names are chosen to be unused
        // Fail early if the destination cannot be written.
        piece_ = open(WallClock::now(), options_.start_seconds);
    }

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        go_on_to(time);
        piece_->write(image, time);
    }

    bool write_own(const NativeFrame& own, const FrameTime& time) override {
        go_on_to(time);
        return piece_->write_own(own, time);
    }

    std::optional<YuvInfo> planes() const override { return piece_->planes(); }
    void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) override {
        go_on_to(time);
        piece_->write_planes(picture, time);
    }

    void finish(Ending ending) override {
        wait_for_finished();
        piece_->finish(ending);
        finished_bytes_ += piece_->bytes();
        piece_.reset();
        keep_within_limits(names_, options_.segments);
    }

    std::int64_t bytes() const override { return finished_bytes_ + (piece_ ? piece_->bytes() : 0); }

private:
    // Opens a segment that starts at a time of day.
    std::unique_ptr<Sink> open(WallClock::time_point at, double start_seconds) const {
        auto call = call_;
        call.path = names_.free_path(at);
        auto options = options_;
        options.start_seconds = start_seconds;
        return call.kind->open(call, shape_, rate_, options);
    }

    // Returns the time of day of a frame: its capture time for live sources, otherwise the start of the run plus the
    // frame's time in the video.
    WallClock::time_point time_of_day(const FrameTime& time) const {
        if (!options_.live || time.captured == Clock::time_point{}) return began_ + wall_time(time.seconds);
        return WallClock::now() - wall_time(milliseconds_since(time.captured) / 1000);
    }

    // Starts a new segment if the frame's time requires it. Repeated calls for one frame have no effect.
    void go_on_to(const FrameTime& time) {
        if (!std::exchange(began_writing_, true))
            cut_seconds_ = time.seconds + options_.segments.seconds;
        else if (time.seconds >= cut_seconds_)
            begin_piece(time);
    }

    void begin_piece(const FrameTime& time) {
        wait_for_finished();
        auto next = open(time_of_day(time), time.seconds);
        // Timestamps may jump, but segment boundaries stay on their grid.
        const auto pieces = std::floor((time.seconds - cut_seconds_) / options_.segments.seconds) + 1;
        cut_seconds_ += pieces * options_.segments.seconds;
        // Finish the old segment in the background: flushing the encoder and writing the index of a long segment take
        // time, during which frames arrive.
        finishing_ =
            std::async(std::launch::async, [this, piece = std::shared_ptr(std::exchange(piece_, std::move(next)))] {
                piece->finish(Ending::complete);
                finished_bytes_ += piece->bytes();
                keep_within_limits(names_, options_.segments);
            });
    }

    // Waits for the previous segment to be finished. Throws its error.
    void wait_for_finished() {
        if (finishing_.valid()) finishing_.get();
    }

    // Removes the oldest segments until the rest is within the limits, but never the newest one.
    static void keep_within_limits(const SegmentNames& names, const SegmentOptions& limits) {
        if (!limits.keep_seconds && !limits.keep_bytes) return;
        const auto pieces = names.existing();
        double bytes = 0;
        for (const auto& piece : pieces) bytes += static_cast<double>(piece.bytes);
        for (std::size_t oldest = 0; oldest + 1 < pieces.size(); ++oldest) {
            const auto& piece = pieces[oldest];
            const bool late = limits.keep_seconds && WallClock::now() - piece.changed > wall_time(*limits.keep_seconds);
            const bool large = limits.keep_bytes && bytes > *limits.keep_bytes;
            if (!late && !large) return;
            if (::unlink(piece.path.c_str()) == 0)
                log_info("{}: deleted to stay within the limit", piece.path);
            else
                log_warning("cannot remove {}: {}", piece.path, std::strerror(errno));
            bytes -= static_cast<double>(piece.bytes);
        }
    }

    SinkCall call_;
    Shape shape_;
    Rational rate_;
    SinkOptions options_;
    SegmentNames names_;
    WallClock::time_point began_ = WallClock::now();
    std::unique_ptr<Sink> piece_;  // the segment being written
    double cut_seconds_ = 0;       // start of the next segment
    bool began_writing_ = false;
    std::atomic<std::int64_t> finished_bytes_ = 0;
    std::future<void> finishing_;  // last member: its destructor waits before the others are destroyed
};

}  // namespace

std::unique_ptr<Sink> open_segmented_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                          const SinkOptions& options) {
    return std::make_unique<SegmentedSink>(call, frame, rate, options);
}

}  // namespace framewire
