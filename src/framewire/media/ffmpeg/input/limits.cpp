// FFmpeg may open, depending on the kind of address (the demuxers in `never` excepted):
//
//    address           demuxers                                     protocols
//    file, video       media demuxers without playlists and sdp     file
//    file, image       image demuxers                               file
//    file, playlist    also the one that its extension names        file, crypto, data
//    network           all; HLS and DASH from HTTP servers only     its own and those below it, never file
//    camera, lavfi     not limited: they are not files

#include "framewire/media/ffmpeg/input/limits.hpp"

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace framewire {
namespace {

using Kind = FfmpegAddress::Kind;
using Contents = FfmpegAddress::Contents;

// Demuxer that opens other files, and the extension that permits it.
struct Playlist {
    std::string_view demuxer, ending;
    bool of_the_web;
};
constexpr std::array<Playlist, 5> playlists{{{"hls", ".m3u8", true},
                                             {"hls", ".m3u", true},
                                             {"dash", ".mpd", true},
                                             {"webm_dash_manifest", ".mpd", true},
                                             {"concat", ".ffconcat", false}}};

// Never allowed: demuxers that open other files without need, run scripts, or render any text as a picture.
constexpr std::array<std::string_view, 5> never{"avisynth", "imf", "tty", "vapoursynth", "vobsub"};

bool is_playlist(std::string_view demuxer) {
    return std::ranges::any_of(playlists, [&](const auto& list) { return list.demuxer == demuxer; });
}

// True if the address permits this playlist demuxer.
bool is_meant(std::string_view demuxer, const FfmpegAddress& address) {
    const auto url = lower_case(address.url);
    return std::ranges::any_of(playlists, [&](const auto& list) {
        if (list.demuxer != demuxer) return false;
        if (address.kind == Kind::network) return list.of_the_web && url.starts_with("http");
        return address.contents == Contents::playlist && url.ends_with(list.ending);
    });
}

// First of a demuxer's names.
std::string_view name_of(const AVInputFormat& format) {
    const std::string_view names = format.name;
    return names.substr(0, names.find(','));
}

// True for libavdevice's inputs: cameras, screens, generators.
bool is_device(const AVInputFormat& format) {
    return format.priv_class && AV_IS_INPUT_DEVICE(format.priv_class->category);
}

// FFmpeg has one demuxer per image format (NAME_pipe), and image2, which goes by file names. SVG is excluded.
bool is_of_images(std::string_view name) { return name == "image2" || (name.ends_with("_pipe") && name != "svg_pipe"); }

// The policy that all functions here share.
bool is_allowed(const AVInputFormat& format, const FfmpegAddress& address) {
    const auto name = name_of(format);
    if (is_device(format) || std::ranges::find(never, name) != never.end()) return false;
    if (is_playlist(name)) return is_meant(name, address);
    if (address.kind == Kind::network) return true;
    if (address.contents == Contents::image) return is_of_images(name);
    // Session descriptions (SDP) refer to the network. Demuxers with AVFMT_NOFILE open their input themselves, which
    // bypasses the limits; image2 is the only harmless one.
    return name != "sdp" && (!(format.flags & AVFMT_NOFILE) || name == "image2");
}

}  // namespace

FfmpegAddress::Contents contents_of(const std::string& path) {
    const auto lower = lower_case(path);
    if (std::ranges::any_of(playlists, [&](const auto& list) { return lower.ends_with(list.ending); }))
        return Contents::playlist;
    return is_image_name(path) ? Contents::image : Contents::video;
}

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
            // The requested protocol and those on which the allowed ones are layered.
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
    const auto name = name_of(*format);
    if (name == "tty") return RefusedFormat{"text", false};
    return RefusedFormat{format->long_name ? format->long_name : format->name, is_playlist(name)};
}

}  // namespace framewire
