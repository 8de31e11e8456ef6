#include "framewire/media/media.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/ffmpeg/sink.hpp"
#include "framewire/media/ffmpeg/source.hpp"

namespace framewire {
std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options) {
    if (text.find("://") != std::string::npos)
        return open_ffmpeg_source({text, text, "", FfmpegAddress::Kind::network}, options);
    if (text.starts_with("lavfi:"))
        return open_ffmpeg_source({text, text.substr(6), "lavfi", FfmpegAddress::Kind::generator}, options);
    return open_ffmpeg_source({text, "file:" + text, "", FfmpegAddress::Kind::file}, options);
}
std::unique_ptr<Sink> open_sink(const std::string& text, const Shape& frame, Rational rate, const SinkOptions& options) {
    return open_ffmpeg_sink(text, frame, rate, options);
}
}  // namespace framewire
