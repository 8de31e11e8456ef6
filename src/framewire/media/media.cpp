#include "framewire/media/media.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/sinks.hpp"
#include "framewire/media/sources.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

// Public entry points. open_source() wraps the source that a kind opens: first the time range, then the loop around it,
// so that a looping source repeats its range.
//
//    kind.open -> RangeSource (start, duration, seekable) -> LoopingSource (loop)

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/libav.hpp"
#endif

namespace framewire {

std::string_view to_string(DecodeChoice choice) {
    switch (choice) {
        case DecodeChoice::automatic: return "auto";
        case DecodeChoice::cpu: return "cpu";
        case DecodeChoice::cuda: break;
    }
    return "cuda";
}

DecodeChoice parse_decode(std::string_view text) {
    if (text == "auto") return DecodeChoice::automatic;
    if (text == "cpu") return DecodeChoice::cpu;
    if (text == "cuda") return DecodeChoice::cuda;
    fail(ErrorCode::usage, "unknown decoder '{}'; allowed: auto, cpu, cuda", text);
}
namespace {

#ifdef FRAMEWIRE_FFMPEG
std::string ffmpeg_name() { return std::string("FFmpeg ") + av_version_info(); }
#else
std::string ffmpeg_name() { return "no FFmpeg"; }
#endif

// Returns "; did you mean 'synth:'?" if a missing path starts like a mistyped prefix; otherwise an empty text.
std::string meant_prefix(const std::string& path) {
    const auto colon = path.find(':');
    if (colon == path.npos) return {};
    std::vector<std::string_view> prefixes;
    for (const auto& kind : source_registry())
        if (!kind.prefix.empty()) prefixes.push_back(kind.prefix);
    return did_you_mean(std::string_view(path).substr(0, colon + 1), prefixes);
}

// Throws Error{no_input} if nothing exists at the path.
void require_file(const std::string& path) {
    std::error_code unknown;
    const auto status = std::filesystem::status(path, unknown);
    if (std::filesystem::exists(status)) return;
    if (status.type() == std::filesystem::file_type::not_found)
        fail(ErrorCode::no_input, "{}: no such file{}", path, meant_prefix(path));
    fail(ErrorCode::no_input, "cannot open {}: {}", path, unknown.message());
}

// Parses a source and checks what can be checked without opening it.
SourceCall checked_source(const std::string& text) {
    auto call = parse_source(text);
    if (call.kind->must_exist) require_file(call.path);
    if (!call.kind->open) fail_without_ffmpeg(text);
    return call;
}

// Opens a source limited to the requested time range.
std::unique_ptr<Source> open_range(const OpenSource& open, bool may_open_again, const SourceOptions& options) {
    if (options.start_seconds <= 0 && !options.duration_seconds && !options.seekable) return open(options);
    return make_range_source(
        [open, options = SourceOptions(options)]() mutable {
            auto source = open(options);
            options.replace_truth = true;  // the file exists when the source is opened again
            return source;
        },
        may_open_again, {options.start_seconds, options.duration_seconds}, options.stop);
}

// Opens a source that loops if requested.
std::unique_ptr<Source> open_loop(const OpenSource& open, bool may_open_again, const SourceOptions& options) {
    if (!options.loop) return open_range(open, may_open_again, options);
    return make_looping_source(
        [open, may_open_again, options = SourceOptions(options)]() mutable {
            auto source = open_range(open, may_open_again, options);
            options.replace_truth = true;  // the file exists in the next pass
            return source;
        },
        options.stop);
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options) {
    if (options.loop && text == "-")
        fail(ErrorCode::usage, "standard input cannot be looped, because it cannot be read again");
    const auto open = [text](const SourceOptions& each) {
        const auto call = checked_source(text);
        return call.kind->open(call, each);
    };
    return open_loop(open, text != "-", options);
}

std::unique_ptr<Source> open_source(const OpenSource& open, const SourceOptions& options) {
    return open_loop(open, true, options);
}

void check_source(const std::string& text) { checked_source(text); }

std::string ffmpeg_version() {
#ifdef FRAMEWIRE_FFMPEG
    const auto words = [](unsigned version) {
        return fmt::format("{}.{}.{}", AV_VERSION_MAJOR(version), AV_VERSION_MINOR(version), AV_VERSION_MICRO(version));
    };
    return fmt::format("{}, libavformat {}, libavcodec {}", av_version_info(), words(avformat_version()),
                       words(avcodec_version()));
#else
    return {};
#endif
}

std::vector<std::string> files_read_by(const std::string& text) {
    const auto call = parse_source(text);
    return call.kind->reads ? call.kind->reads(call) : std::vector<std::string>{};
}

std::vector<std::string> files_written_by(const std::string& text) {
    const auto call = parse_source(text);
    return call.kind->writes ? call.kind->writes(call) : std::vector<std::string>{};
}

std::vector<std::string> files_of_sink(const std::string& text) {
    if (text.empty()) return {};
    const auto call = parse_sink(text);
    if (!call.kind->is_file) return {};
    const auto& pattern = call.numbered;
    if (!pattern || !call.kind->is_numbered) return {call.path};
    std::vector<std::string> files;
    try {
        for (const auto number : pattern->existing()) files.push_back(pattern->path(number));
    } catch (const Error&) {  // the folder does not exist; the sink reports that
    }
    if (auto first = pattern->path(0); files.empty() || files.front() != first) files.push_back(std::move(first));
    return files;
}

std::string literal_sink(const std::string& path) {
    return path.empty() ? path : std::string(literal_path_prefix) + path;
}

bool is_network_sink(std::string_view text) {
    return !text.starts_with(literal_path_prefix) && text.find("://") != text.npos;
}

std::unique_ptr<Sink> open_sink(const std::string& text, const Shape& frame, Rational rate,
                                const SinkOptions& options) {
    validate(frame, "the frame to write");
    const auto name = address_without_credentials(text);
    if (frame.frames != 1) fail(ErrorCode::usage, "{} takes single frames, not batches of {}", name, frame.frames);
    // All formats and FFmpeg's 32-bit rationals can hold these limits.
    constexpr std::int64_t largest = 1'000'000'000;
    if (rate.numerator < 1 || rate.denominator < 1 || rate.numerator > largest || rate.denominator > largest ||
        rate.value() > 1000)
        fail(ErrorCode::usage, "{}: {}/{} frames per second; allowed: more than 0, up to 1000", name, rate.numerator,
             rate.denominator);

    const auto call = parse_sink(text);
    const auto& kind = *call.kind;
    if (!kind.open) fail_without_ffmpeg(call.path);
    // A segmented recording opens its files itself.
    if (options.segments.seconds > 0) {
        if (!kind.is_cut) fail(ErrorCode::usage, "{} cannot be split into segments; only video files can", name);
        if (call.literal)
            fail(ErrorCode::usage, "{}: segments need a time in their name, but file:// takes the name literally",
                 name);
        return open_segmented_sink(call, frame, rate, options);
    }
    if (!kind.is_numbered && call.numbered)
        fail(ErrorCode::usage,
             "{}: only image formats (.png, .jpg ...) take a number in the name, for one file per frame", call.path);
    // The image files written here store no pixel aspect ratio, so the pictures would look distorted.
    if (const auto& aspect = options.facts.pixel_aspect; kind.is_numbered && aspect.numerator != aspect.denominator)
        log_warning("{}: images have square pixels, but the video's are {}:{}; correct this with 'scale=iw*{}/{}:ih'",
                    name, aspect.numerator, aspect.denominator, aspect.numerator, aspect.denominator);
    return kind.open(call, frame, rate, options);
}

std::string media_libraries() { return ffmpeg_name(); }

const ThreadPool& media_threads() {
    static const ThreadPool threads;
    return threads;
}

}  // namespace framewire
