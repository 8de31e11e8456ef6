// Opens sources with FFmpeg's demuxers: options per protocol, limits on what may be opened, and error messages that
// name the cause.

#include "framewire/media/ffmpeg/input/demuxer.hpp"

#include "framewire/core/log.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/media/ffmpeg/input/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace framewire {
namespace {

constexpr std::chrono::seconds longest_http_pause{4294};  // the largest value that FFmpeg accepts

// True if a lost connection is to be retried.
bool tries_again(const SourceOptions& options) {
    return options.reconnect ? options.reconnect->count() > 0 : options.retries > 0;
}

// Sets timeouts and reconnection under the option names of each protocol.
void set_network_options(Dictionary& dictionary, const FfmpegAddress& address, const SourceOptions& options) {
    const auto timeout_us = std::chrono::microseconds(options.timeout).count();
    if (begins_with_any(address.url, {"http://", "https://"})) {
        dictionary.set("rw_timeout", timeout_us);
        if (tries_again(options)) {
            dictionary.set("reconnect", 1);
            dictionary.set("reconnect_delay_max", last_http_pause_s(options));
        }
    } else if (begins_with_any(address.url, {"rtsp://", "rtsps://"})) {
        dictionary.set("rtsp_flags", "prefer_tcp");
        dictionary.set("timeout", timeout_us);
    } else if (begins_with_any(address.url, {"udp://", "srt://"})) {
        dictionary.set("timeout", timeout_us);
    } else {
        dictionary.set("rw_timeout", timeout_us);
    }
}

// True for the multipart MJPEG streams of HTTP cameras.
bool is_multipart_jpeg(const AVFormatContext& format) {
    return std::string_view(format.iformat->name) == "mpjpeg" && format.nb_streams > 0;
}

// Reads stream headers. FFmpeg decodes the first pictures of streams whose headers lack the size; `max_pixels` keeps
// it from decoding larger ones.
int find_stream_info(AVFormatContext& format, std::int64_t max_pixels) {
    std::vector<Dictionary> of_streams(format.nb_streams);
    std::vector<AVDictionary*> entries;
    for (auto& of_stream : of_streams) {
        of_stream.set("max_pixels", max_pixels);
        entries.push_back(*of_stream.address());
    }
    const int error = avformat_find_stream_info(&format, entries.empty() ? nullptr : entries.data());
    for (std::size_t index = 0; index < entries.size(); ++index) *of_streams[index].address() = entries[index];
    return error;
}

}  // namespace

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](auto beginning) { return text.starts_with(beginning); });
}

// With R retries FFmpeg pauses 0, 1, 3 ... 2^(R-1) - 1 seconds.
std::int64_t last_http_pause_s(const SourceOptions& options) {
    using std::chrono::seconds;
    if (options.reconnect)
        return std::min(std::chrono::duration_cast<seconds>(*options.reconnect / 2), longest_http_pause).count();
    return (std::int64_t{1} << std::clamp(options.retries - 1, 0, 5)) - 1;
}

// Replacement for AVFormatContext::io_open that opens only the file itself: no demuxer can read another file as a part
// of it.
int FfmpegDemuxer::open_own_file(AVFormatContext* format, AVIOContext** io, const char* url, int flags,
                                 AVDictionary** options) {
    const auto& self = *static_cast<const FfmpegDemuxer*>(format->opaque);
    if (url != self.url_) {
        log_debug("{}: its link to {} is not followed", self.name_, without_credentials(url));
        return AVERROR(EPERM);
    }
    return self.open_any_(format, io, url, flags, options);
}

// Reports the most specific reason: stopped, timed out, a format that is not allowed, or FFmpeg's error.
void FfmpegDemuxer::fail_open(const FfmpegAddress& address, int error, const Interrupt& interrupt,
                              std::chrono::milliseconds patience) const {
    const auto text = ffmpeg_error(error);
    if (interrupt.stopped()) fail(ErrorCode::no_input, "{}: stopped while it was opened", name_);
    if (interrupt.late())
        fail(ErrorCode::no_input, "cannot open {}: no answer within {:.1f} s", name_,
             std::chrono::duration<double>(patience).count());
    if (const auto refused = address.kind == FfmpegAddress::Kind::file ? refused_format(address) : std::nullopt) {
        const bool image = address.contents == FfmpegAddress::Contents::image;
        fail(ErrorCode::no_input, "{} is no {}: it holds {}{}", name_, image ? "image" : "video", refused->name,
             refused->is_playlist ? "; playlists are followed where their names end in .m3u8, .m3u, .mpd or .ffconcat"
                                  : "");
    }
    fail(ErrorCode::no_input, "cannot open {}: {}", name_, text);
}

FfmpegDemuxer::FfmpegDemuxer(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
                             std::chrono::milliseconds patience)
    : name_(address.name), url_(address.url) {
    open(address, options, interrupt, patience);
}

void FfmpegDemuxer::open(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
                         std::chrono::milliseconds patience) {
    const AVInputFormat* demuxer = nullptr;
    if (address.kind == FfmpegAddress::Kind::camera || address.kind == FfmpegAddress::Kind::generator)
        register_ffmpeg_devices();
    if (!address.format.empty()) {
        demuxer = av_find_input_format(address.format.c_str());
        if (!demuxer) fail(ErrorCode::config, "{}: this FFmpeg has no input format '{}'", name_, address.format);
    }
    Dictionary dictionary;
    dictionary.set("pattern_type", "none");  // no patterns: a percent sign in an image's name is a literal character
    if (address.kind == FfmpegAddress::Kind::network) set_network_options(dictionary, address, options);
    for (const auto& [key, value] : address.options) dictionary.set(key.c_str(), value);
    if (const auto formats = allowed_formats(address); !formats.empty()) dictionary.set("format_whitelist", formats);
    if (const auto protocols = allowed_protocols(address); !protocols.empty())
        dictionary.set("protocol_whitelist", protocols);

    auto* format = avformat_alloc_context();
    if (!format) fail(ErrorCode::config, "no memory to open {}", name_);
    format->interrupt_callback = interrupt.callback();
    if (address.kind == FfmpegAddress::Kind::file && address.contents != FfmpegAddress::Contents::playlist) {
        open_any_ = format->io_open;
        format->opaque = this;
        format->io_open = open_own_file;
    }
    // Without this flag, a camera that blocks inside its driver could neither be stopped nor time out.
    if (address.kind == FfmpegAddress::Kind::camera) format->flags |= AVFMT_FLAG_NONBLOCK;

    // avformat_open_input() frees the context on failure.
    int error = avformat_open_input(&format, address.url.c_str(), demuxer, dictionary.address());
    if (error >= 0) {
        format_.reset(format);
        if (address.kind == FfmpegAddress::Kind::camera) return;
        error = find_stream_info(*format, options.max_pixels);
        if (error >= 0 && is_multipart_jpeg(*format) && format->streams[0]->codecpar->width == 0)
            error = AVERROR_INVALIDDATA;
    }
    if (error == AVERROR_INVALIDDATA && address.format.empty() && address.kind == FfmpegAddress::Kind::network &&
        begins_with_any(address.url, {"http://", "https://"}) && !interrupt.stopped() && !interrupt.late()) {
        // FFmpeg's demuxer for multipart MJPEG requires a boundary before the first picture and the type image/jpeg
        // for each. Its JPEG parser works without both, but delivers a picture only when the next one starts.
        log_debug("{}: {}; read as one JPEG after the other", name_, ffmpeg_error(error));
        auto bare = address;
        bare.format = "mjpeg";
        format_.reset();
        return open(bare, options, interrupt, patience);
    }
    if (error < 0) fail_open(address, error, interrupt, patience);
}

}  // namespace framewire
