// Kinds of sources without a folder of their own: paths, and what FFmpeg opens.

#include "framewire/core/error.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/media/files/network_address.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/images/png.hpp"
#include "framewire/media/images/sequence.hpp"
#include "framewire/media/images/tiff.hpp"
#include "framewire/media/names.hpp"
#include "framewire/media/sources/open_file.hpp"
#include "framewire/media/sources/source_kind.hpp"

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/input/limits.hpp"
#include "framewire/media/ffmpeg/input/source.hpp"
#endif

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace framewire {
namespace {

#ifdef FRAMEWIRE_FFMPEG

// Opens a filter graph that generates frames.
std::unique_ptr<Source> open_graph(const SourceCall& call, const SourceOptions& options) {
    return open_ffmpeg_source(
        {address_without_credentials(call.text), call.path, "lavfi", FfmpegAddress::Kind::generator}, options);
}

// Opens a URL; the displayed name has no credentials.
std::unique_ptr<Source> open_address(const SourceCall& call, const SourceOptions& options) {
    return open_ffmpeg_source(
        {address_without_credentials(call.text), network_address(call.text), "", FfmpegAddress::Kind::network},
        options);
}

#else

constexpr auto open_graph = nullptr, open_address = nullptr;

#endif

// Opens a file that is known to be an image or a playlist.
std::unique_ptr<Source> open_file(const SourceCall& call, const SourceOptions& options) {
    return open_with_ffmpeg(call.path, options);
}

// Opens a file with FFmpeg; explains raw files, which FFmpeg would misdetect.
std::unique_ptr<Source> open_video(const SourceCall& call, const SourceOptions& options) {
    const auto lower = lower_case(call.path);
    if (lower.ends_with(".bgr") || lower.ends_with(".gray"))
        fail(ErrorCode::usage, "{0}: raw bytes do not say what they are; write raw:{0}:size=WxH:fps=30", call.path);
    return open_file(call, options);
}

// True for the address of a framewire server. With a query the URL is left to FFmpeg.
bool is_stream_address(const std::string& text) {
    static constexpr std::string_view schemes[] = {"tcp://", "tls://", "ws://", "wss://"};
    return text.find('?') == text.npos &&
           std::ranges::any_of(schemes, [&](std::string_view scheme) { return text.starts_with(scheme); });
}

// True for a pattern, unless a file has that very name.
bool is_sequence(const std::string& text) {
    std::error_code error;
    return !std::filesystem::exists(text, error) && SequencePattern::parse(text);
}

// All entries of a folder.
std::vector<std::string> reads_folder(const SourceCall& call) {
    std::vector<std::string> files;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(call.path, error), end; !error && entry != end;
         entry.increment(error))
        files.push_back(entry->path());
    return files;
}

// The existing images of a sequence.
std::vector<std::string> reads_sequence(const SourceCall& call) {
    const auto pattern = *SequencePattern::parse(call.path);
    std::vector<std::string> files;
    for (const auto number : pattern.existing()) files.push_back(pattern.path(number));
    return files;
}

}  // namespace

namespace {

// Opens a local file with FFmpeg; fails in a build without it.
std::unique_ptr<Source> open_by_ffmpeg(const std::string& path, const SourceOptions& options) {
#ifdef FRAMEWIRE_FFMPEG
    return open_ffmpeg_source({path, "file:" + path, "", FfmpegAddress::Kind::file, contents_of(path)}, options);
#else
    static_cast<void>(options);
    fail_without_ffmpeg(path);
#endif
}

}  // namespace

// TIFF files are read by libtiff where possible, which is more exact.
std::unique_ptr<Source> open_with_ffmpeg(const std::string& path, const SourceOptions& options) {
    if (!is_tiff(path)) return open_by_ffmpeg(path, options);
    auto tiff = open_tiff_source(path, options);
    return tiff ? std::move(tiff) : open_by_ffmpeg(path, options);
}

// PNG is read without FFmpeg.
std::unique_ptr<Source> open_image(const std::string& path, const SourceOptions& options) {
    if (lower_case(path).ends_with(".png")) return open_png_source(path, options);
    return open_with_ffmpeg(path, options);
}

void fail_without_ffmpeg(const std::string& text) {
    fail(ErrorCode::config, "{}: this build has no FFmpeg; it knows y4m, raw, PNG and the synthetic camera",
         address_without_credentials(text));
}

// The table entry for filter graphs of FFmpeg.
SourceKind lavfi_source() {
    return {.name = "lavfi",
            .form = "lavfi:GRAPH",
            .summary = "FFmpeg's test sources and filters",
            .prefix = "lavfi:",
            .examples = {"lavfi:testsrc2=size=1280x720"},
            .has_path = true,
            .open = open_graph};
}

// The table entry for streams of framewire servers. It lets the registry recognize their addresses; the session opens
// them, because this library does not depend on the network library.
SourceKind stream_source() {
    return {.name = "stream",
            .form = "tcp://HOST:PORT/NAME, tls://..., ws://..., wss://...",
            .summary = "the stream of a framewire server; with a query the address is FFmpeg's",
            .examples = {"tcp://127.0.0.1:7878/door"},
            .has_path = true,
            .may_be_away = true,
            .matches = is_stream_address,
            .open = [](const SourceCall& call, const SourceOptions&) -> std::unique_ptr<Source> {
                fail(ErrorCode::config, "{}: streams are read by the network library, not by the media library",
                     address_without_credentials(call.text));
            }};
}

// The table entry for all other URLs.
SourceKind network_source() {
    return {.name = "network",
            .form = "rtsp://..., http://..., udp://..., srt://...",
            .summary = "a network source; one that dies is tried again with growing pauses",
            .examples = {"rtsp://camera.local/stream"},
            .has_path = true,
            .may_be_away = true,
            .matches = [](const std::string& text) { return text.find("://") != text.npos; },
            .open = open_address};
}

// The table entry for folders of images.
SourceKind folder_source() {
    return {.name = "folder",
            .form = "FOLDER",
            .summary = "the images in a folder, by the bytes of their names",
            .examples = {"photos/"},
            .has_path = true,
            .named_by_path = true,
            .matches = is_folder,
            .open =
                [](const SourceCall& call, const SourceOptions& options) {
                    return open_images_source(call.path, images_in(call.path), open_image, options);
                },
            .reads = reads_folder};
}

// The table entry for numbered images.
SourceKind sequence_source() {
    return {.name = "sequence",
            .form = "img%04d.png",
            .summary = "a numbered sequence of images, over gaps too",
            .examples = {"shots/img%04d.png"},
            .has_path = true,
            .named_by_path = true,
            .matches = is_sequence,
            .open =
                [](const SourceCall& call, const SourceOptions& options) {
                    return open_sequence_source(call.path, *SequencePattern::parse(call.path), open_image, options);
                },
            .reads = reads_sequence};
}

// The table entry for PNG files, which are read without FFmpeg.
SourceKind png_source() {
    return {.name = "png",
            .form = "PATH",
            .summary = "an image, read by libpng",
            .endings = {".png"},
            .examples = {"photo.png"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .open = [](const SourceCall& call,
                       const SourceOptions& options) { return open_png_source(call.path, options); },
            .reads = reads_path};
}

// The table entry for other image formats.
SourceKind image_source() {
    return {.name = "image",
            .form = "PATH",
            .summary = "an image, read by libtiff or FFmpeg's demuxers of images",
            .endings = {".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pnm"},
            .examples = {"photo.jpg"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .open = open_file,
            .reads = reads_path};
}

// The table entry for playlists, the only files that may refer to other files.
SourceKind playlist_source() {
    return {.name = "playlist",
            .form = "PATH",
            .summary = "a playlist, which leads to other files of this machine only: HLS, DASH, concat scripts",
            .endings = {".m3u8", ".m3u", ".mpd", ".ffconcat"},
            .examples = {"list.m3u8"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .open = open_file,
            .reads = reads_path};
}

// The table entry for everything else. It matches any text and must be the last one in the registry.
SourceKind video_source() {
    return {.name = "video",
            .form = "PATH",
            .summary = "any other file: a video that FFmpeg reads; file:// may stand before this and the paths above",
            .examples = {"vtest.avi", "file://vtest.avi"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .matches = [](const std::string&) { return true; },
            .open = open_video,
            .reads = reads_path};
}

}  // namespace framewire
