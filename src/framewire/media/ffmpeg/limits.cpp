#include "framewire/media/ffmpeg/limits.hpp"

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace framewire {
namespace {

using Kind = FfmpegAddress::Kind;
using Contents = FfmpegAddress::Contents;

// What HLS and DASH come as, and concat scripts; each is followed where it is meant.
constexpr std::array<std::string_view, 3> web_playlists{"hls", "dash", "webm_dash_manifest"};
constexpr std::string_view concat = "concat";

// What leads elsewhere and is never followed, runs scripts, or draws any text as a picture.
constexpr std::array<std::string_view, 5> never{"avisynth", "imf", "tty", "vapoursynth", "vobsub"};

template <class Names>
bool is_among(std::string_view name, const Names& names) {
    return std::ranges::find(names, name) != names.end();
}

bool is_device(const AVInputFormat& format) {
    return format.priv_class && AV_IS_INPUT_DEVICE(format.priv_class->category);
}

// FFmpeg has one demuxer for each kind of image, and one that goes by names.
bool is_of_images(std::string_view name) { return name == "image2" || (name.ends_with("_pipe") && name != "svg_pipe"); }

bool is_allowed(const AVInputFormat& format, const FfmpegAddress& address) {
    const std::string_view name = format.name;
    if (is_device(format) || is_among(name, never)) return false;
    if (address.kind == Kind::network) {
        const auto scheme = lower_case(address.url.substr(0, 5));
        return name != concat && (scheme.starts_with("http") || !is_among(name, web_playlists));
    }
    if (address.contents == Contents::image) return is_of_images(name);
    if (address.contents == Contents::playlist && (name == concat || is_among(name, web_playlists))) return true;
    // Descriptions of sessions lead to the network, and so do demuxers that open what they read themselves, all but
    // that of images.
    return name != "sdp" && name != concat && !is_among(name, web_playlists) &&
           (!(format.flags & AVFMT_NOFILE) || name == "image2");
}

}  // namespace

std::string allowed_formats(const FfmpegAddress& address) {
    if (address.kind == Kind::camera || address.kind == Kind::generator) return {};
    std::string names;
    void* at = nullptr;
    while (const auto* format = av_demuxer_iterate(&at)) {
        if (!is_allowed(*format, address)) continue;
        if (!names.empty()) names += ',';
        names += format->name;
    }
    return names;
}

std::string allowed_protocols(const FfmpegAddress& address) {
    switch (address.kind) {
        case Kind::file: return address.contents == Contents::playlist ? "file,crypto,data" : "file";
        case Kind::network:
            // With the one that was asked for, and what such stand on.
            return "crypto,data,ffrtmpcrypt,ffrtmphttp,http,httpproxy,https,rtp,srtp,tcp,tls,udp," +
                   address.url.substr(0, address.url.find_first_of(":,"));
        case Kind::camera:
        case Kind::generator: break;
    }
    return {};
}

std::optional<RefusedFormat> refused_format(const FfmpegAddress& file) {
    AVIOContext* io = nullptr;
    if (avio_open(&io, file.url.c_str(), AVIO_FLAG_READ) < 0) return std::nullopt;
    const AVInputFormat* format = nullptr;
    const int score = av_probe_input_buffer2(io, &format, file.url.c_str(), nullptr, 0, 0);
    avio_closep(&io);
    if (score < 0 || !format || is_allowed(*format, file)) return std::nullopt;
    const std::string_view name = format->name;
    if (name == "tty") return RefusedFormat{"text", false};
    return RefusedFormat{format->long_name ? format->long_name : format->name,
                         name == concat || is_among(name, web_playlists)};
}

}  // namespace framewire
