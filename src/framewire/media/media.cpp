#include "framewire/media/media.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/core/text/nearest_name.hpp"
#include "framewire/media/images/png.hpp"
#include "framewire/media/images/sequence.hpp"
#include "framewire/media/raw/raw.hpp"
#include "framewire/media/sources/looping_source.hpp"
#include "framewire/media/sources/open_file.hpp"
#include "framewire/media/sources/range_source.hpp"
#include "framewire/media/sources/source_registry.hpp"
#include "framewire/media/y4m/y4m.hpp"

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/output/sink.hpp"
#endif

#include <filesystem>
#include <string_view>
#include <system_error>

namespace framewire {
namespace {

bool is_url(std::string_view text) { return text.find("://") != std::string_view::npos; }

#ifdef FRAMEWIRE_FFMPEG

std::unique_ptr<Sink> open_sink_with_ffmpeg(const std::string& text, const Shape& frame, Rational rate,
                                            const SinkOptions& options) {
    return open_ffmpeg_sink(text, frame, rate, options);
}

EncodeImage jpeg_encoder(const std::string&) { return encode_jpeg; }

#else

std::unique_ptr<Sink> open_sink_with_ffmpeg(const std::string& text, const Shape&, Rational, const SinkOptions&) {
    fail_without_ffmpeg(text);
}
EncodeImage jpeg_encoder(const std::string& text) { fail_without_ffmpeg(text); }

#endif

// "; did you mean 'synth:'?" where a path that is not there begins like a mistyped prefix.
std::string meant_prefix(const std::string& path) {
    const auto colon = path.find(':');
    if (colon == path.npos) return {};
    std::vector<std::string_view> prefixes;
    for (const auto& kind : source_registry())
        if (!kind.prefix.empty()) prefixes.push_back(kind.prefix);
    return did_you_mean(std::string_view(path).substr(0, colon + 1), prefixes);
}

void require_file(const std::string& path) {
    std::error_code unknown;
    const auto status = std::filesystem::status(path, unknown);
    if (std::filesystem::exists(status)) return;
    if (status.type() == std::filesystem::file_type::not_found)
        fail(ErrorCode::no_input, "{}: there is no such file{}", path, meant_prefix(path));
    fail(ErrorCode::no_input, "cannot open {}: {}", path, unknown.message());
}

std::unique_ptr<Source> open_once(const std::string& text, const SourceOptions& options) {
    const auto call = parse_source(text);
    const auto& kind = *call.kind;
    if (kind.must_exist) require_file(call.path);
    if (!kind.open) fail_without_ffmpeg(text);
    return kind.open(call, options);
}

// What of it is asked for.
std::unique_ptr<Source> open_range(const std::string& text, const SourceOptions& options) {
    if (options.start_seconds <= 0 && !options.duration_seconds && !options.seekable) return open_once(text, options);
    return make_range_source(
        [text, options = SourceOptions(options)]() mutable {
            auto source = open_once(text, options);
            options.replace_truth = true;  // by what is read from then on
            return source;
        },
        text != "-", {options.start_seconds, options.duration_seconds}, options.stop);
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options) {
    if (!options.loop) return open_range(text, options);
    if (text == "-") fail(ErrorCode::usage, "standard input cannot be read again: no loop");
    return make_looping_source(
        [text, options = SourceOptions(options)]() mutable {
            auto source = open_range(text, options);
            options.replace_truth = true;  // by the next pass's
            return source;
        },
        options.stop);
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
    if (text.empty() || is_url(text)) return {};
    const auto pattern = SequencePattern::parse(text);
    if (!pattern) return {text};
    std::vector<std::string> files;
    try {
        for (const auto number : pattern->existing()) files.push_back(pattern->path(number));
    } catch (const Error&) {  // there is no such folder, which the sink will say
    }
    if (auto first = pattern->path(0); files.empty() || files.front() != first) files.push_back(std::move(first));
    return files;
}

std::unique_ptr<Sink> open_sink(const std::string& text, const Shape& frame, Rational rate,
                                const SinkOptions& options) {
    validate(frame, "the frame to write");
    const auto name = without_credentials(text);
    if (frame.frames != 1) fail(ErrorCode::usage, "{} takes single frames, not batches of {}", name, frame.frames);
    constexpr std::int64_t largest = 1'000'000'000;
    if (rate.numerator < 1 || rate.denominator < 1 || rate.numerator > largest || rate.denominator > largest ||
        rate.value() > 1000)
        fail(ErrorCode::usage, "{}: {}/{} frames a second; allowed are more than 0, up to 1000", name, rate.numerator,
             rate.denominator);

    const auto ends = [&](std::string_view ending) { return text.ends_with(ending); };
    if (!is_url(text) && SequencePattern::parse(text) && !ends(".png") && !ends(".jpg") && !ends(".jpeg"))
        fail(ErrorCode::usage,
             "{}: a number in the name is of images (.png .jpg), one for each frame; this is one file", text);
    if (text == "-" || (ends(".y4m") && !is_url(text))) return open_y4m_sink(text, frame, rate, options);
    if (is_url(text) || ends(".mp4") || ends(".mkv") || ends(".avi") || ends(".m3u8"))
        return open_sink_with_ffmpeg(text, frame, rate, options);
    if (ends(".bgr") || ends(".gray")) return open_raw_sink(text, frame, options);
    if (ends(".png")) return open_image_sink(text, frame, encode_png, options);
    if (ends(".jpg") || ends(".jpeg")) return open_image_sink(text, frame, jpeg_encoder(text), options);
    fail(ErrorCode::usage,
         "{}: what to write is told by the ending; known are .mp4 .mkv .avi .y4m .png .jpg .bgr .gray "
         ".m3u8, - for y4m on standard output, and URLs",
         name);
}

}  // namespace framewire
