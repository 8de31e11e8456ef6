#include "framewire/media/sources.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/fwd.hpp"
#include "framewire/media/image_formats.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

// Endless repetition of a source that ends.
//
//    pass      1        2        3
//    index     0 1 2    3 4 5    6 7 8      first_index_ + index within the pass
//    seconds   0 ...    follows one frame period after the last frame of the previous pass

namespace framewire {
namespace {

// Source that loops by reopening: not every source can seek, and a reopened one starts in a known state.
class LoopingSource final : public Source {
public:
    LoopingSource(std::function<std::unique_ptr<Source>()> open, std::stop_token stop)
        : open_(std::move(open)), stop_(std::move(stop)), source_(open_()), info_(endless(source_->info())) {}

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        return next(time, [&] { return source_->read(image, time); });
    }
    bool read_own(HostView<std::uint8_t> image, FrameTime& time) override {
        return next(time, [&] { return source_->read_own(image, time); });
    }
    bool capture(Frame& frame, FrameTime& time) override {
        return next(time, [&] { return source_->capture(frame, time); });
    }

    // A live source never loops, so the source that controls the camera stays the same.
    Adjustment set_adjustment(const Adjustment& wanted) override {
        return info_.live ? source_->set_adjustment(wanted) : wanted;
    }

    // Seeks within the current pass; index and time then count from that pass.
    bool seek(double seconds) override {
        if (!source_ || !source_->seek(seconds)) return false;
        first_index_ = 0;
        first_seconds_ = 0;
        return true;
    }

    bool take_new_size() override {
        if (!source_ || !source_->take_new_size()) return false;
        info_ = endless(source_->info());
        return true;
    }
    bool is_at_new_size() const override { return source_ && source_->is_at_new_size(); }

    // Returns the total over all passes.
    std::int64_t damaged() const override { return damaged_before_ + (source_ ? source_->damaged() : 0); }
    // Reports damage of an earlier pass even if the current one is intact.
    void require_whole() const override {
        if (damage_before_) throw *damage_before_;
        if (source_) source_->require_whole();
    }

    std::shared_ptr<const NativeFrame> native_frame() const override {
        return source_ ? source_->native_frame() : nullptr;
    }

private:
    static SourceInfo endless(SourceInfo info) {
        info.frames.reset();
        info.medium.reset();
        return info;
    }

    // Returns false if a stop request ended the opening.
    bool reopen() {
        try {
            source_ = open_();
            return true;
        } catch (const Error&) {
            if (!stop_.stop_requested()) throw;
            return false;
        }
    }

    // Reads a frame with read_one(). At the end, reopens the source and shifts the next pass so that it follows the
    // last frame.
    template <class ReadOne>
    bool next(FrameTime& time, ReadOne&& read_one) {
        if (!source_) return false;
        if (!read_one()) {
            if (info_.live || is_at_new_size() || !frames_in_pass_ || stop_.stop_requested()) return false;
            keep_damage();
            source_.reset();  // release the source's files before they are opened again
            if (!reopen()) return false;
            if (source_->info().shape != info_.shape)
                fail(ErrorCode::source_lost, "{} changed from {} to {} when it was reopened", info_.name,
                     to_string(info_.shape), to_string(source_->info().shape));
            frames_in_pass_ = false;
            if (!read_one()) return false;
            first_index_ = last_.index + 1 - time.index;
            first_seconds_ = last_.seconds + 1 / info_.rate.value() - time.seconds;
        }
        frames_in_pass_ = true;
        time.index += first_index_;
        time.seconds += first_seconds_;
        last_ = time;
        return true;
    }

    // Adds the damage of the pass that ends to the total.
    void keep_damage() {
        damaged_before_ += source_->damaged();
        try {
            if (!damage_before_) source_->require_whole();
        } catch (const Error& error) {
            damage_before_ = error;
        }
    }

    std::function<std::unique_ptr<Source>()> open_;
    std::stop_token stop_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    FrameTime last_{};
    std::int64_t first_index_ = 0;
    double first_seconds_ = 0;
    bool frames_in_pass_ = false;
    std::int64_t damaged_before_ = 0;
    std::optional<Error> damage_before_;
};

}  // namespace

std::unique_ptr<Source> make_looping_source(std::function<std::unique_ptr<Source>()> open, std::stop_token stop) {
    return std::make_unique<LoopingSource>(std::move(open), std::move(stop));
}

}  // namespace framewire

// Limits a source to a time range. Tries seek() of the source itself first; a source that cannot seek is read from its
// start, and the first frame of the range, which has then been read already, waits in skipped_.

namespace framewire {
namespace {

// Frame times are sums of fractions: times this close are equal.
constexpr double same_time_s = 1e-6;

// Source that limits another one to a time range, and adds seek() by reading to sources that cannot seek.
class RangeSource final : public Source {
public:
    RangeSource(std::function<std::unique_ptr<Source>()> open, bool opens_again, const TimeRange& range,
                std::stop_token stop)
        : open_(std::move(open)),
          opens_again_(opens_again),
          range_(range),
          stop_(std::move(stop)),
          source_(open_()),
          info_(limited(source_->info())) {
        if (info_.live && range_.start_seconds > 0)
            fail(ErrorCode::usage, "{} is live: it cannot start at {} s; only a duration is possible", info_.name,
                 range_.start_seconds);
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        return next(
            time, [&] { return source_->read(image, time); }, [&] { return image; });
    }
    bool read_own(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        return next(
            time, [&] { return source_->read_own(image, time); }, [&] { return image; });
    }
    // Captures a frame. A frame that was read while skipping is on the host and is copied from there.
    bool capture(Frame& frame, FrameTime& time) override {
        return next(
            time, [&] { return source_->capture(frame, time); }, [&] { return frame.fill_on_host(); });
    }

    std::shared_ptr<const NativeFrame> native_frame() const override { return source_->native_frame(); }

    bool seek(double seconds) override {
        if (info_.live) return false;
        began_ = true;
        seconds = std::max(seconds, range_.start_seconds);
        has_skipped_ = false;
        return source_->seek(seconds) || read_up_to(seconds);
    }

    bool take_new_size() override {
        if (!is_at_new_size() || !source_->take_new_size()) return false;
        info_ = limited(source_->info());
        return true;
    }
    // Returns true if the source has a new size. A frame that was read while skipping has the old size and comes first.
    bool is_at_new_size() const override { return !has_skipped_ && source_->is_at_new_size(); }

    std::int64_t damaged() const override { return source_->damaged(); }
    void require_whole() const override { source_->require_whole(); }

    Adjustment set_adjustment(const Adjustment& wanted) override { return source_->set_adjustment(wanted); }

private:
    // Removes the number of frames, which is unknown in a range, except for a still image.
    SourceInfo limited(SourceInfo info) const {
        if (info.frames != 1 && (range_.start_seconds > 0 || range_.duration_seconds)) info.frames.reset();
        return info;
    }

    // Reads the next frame of the range with read_one(); a frame that was read while skipping is copied to image()
    // instead.
    template <class ReadOne, class Image>
    bool next(FrameTime& time, ReadOne&& read_one, Image&& image) {
        const bool starts = !std::exchange(began_, true) && range_.start_seconds > 0;
        if (starts && !seek(range_.start_seconds))
            fail(ErrorCode::no_input, "cannot read {} up to {} s", info_.name, range_.start_seconds);
        if (std::exchange(has_skipped_, false)) {
            copy(std::as_const(skipped_).view(), image());
            time = skipped_time_;
        } else if (!read_one()) {
            if (!starts || stop_.stop_requested()) return false;
            fail(ErrorCode::no_input, "{} ends before the start at {} s", info_.name, range_.start_seconds);
        }
        position_s_ = time.seconds;
        if (range_.duration_seconds)
            time.duration_seconds =
                std::min(time.duration_seconds, range_.start_seconds + *range_.duration_seconds - time.seconds);
        return !range_.duration_seconds || time.seconds < range_.start_seconds + *range_.duration_seconds - same_time_s;
    }

    // Reads up to `seconds`; reopens the source if that time has passed. Returns false if it cannot be reopened.
    bool read_up_to(double seconds) {
        if (seconds <= position_s_ + same_time_s && !open_again()) return false;
        if (skipped_.shape() != info_.shape) skipped_ = HostImage(info_.shape);
        while (!has_skipped_ && source_->read(skipped_.view(), skipped_time_)) {
            position_s_ = skipped_time_.seconds;
            has_skipped_ = position_s_ >= seconds - same_time_s;
        }
        return true;
    }

    // Opens the source again, so that it can be read up to an earlier time.
    bool open_again() {
        if (!opens_again_) return false;
        source_.reset();  // release the source's files before they are opened again
        source_ = open_();
        position_s_ = -1;
        if (source_->info().shape != info_.shape)
            fail(ErrorCode::source_lost, "{} changed from {} to {} when it was reopened", info_.name,
                 to_string(info_.shape), to_string(source_->info().shape));
        return true;
    }

    std::function<std::unique_ptr<Source>()> open_;
    bool opens_again_;
    TimeRange range_;
    std::stop_token stop_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    HostImage skipped_;  // last frame that was read while skipping
    FrameTime skipped_time_{};
    bool has_skipped_ = false;  // skipped_ is the next frame
    bool began_ = false;
    double position_s_ = -1;  // time of the last frame read
};

}  // namespace

std::unique_ptr<Source> make_range_source(std::function<std::unique_ptr<Source>()> open, bool opens_again,
                                          const TimeRange& range, std::stop_token stop) {
    return std::make_unique<RangeSource>(std::move(open), opens_again, range, std::move(stop));
}

}  // namespace framewire

// Finds frame times by the cheapest exact method: the index of a `.fwd` file, the packets of a video, or the constant
// rate of everything else.

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/cutting.hpp"
#endif

namespace framewire {
namespace {

FrameTimes unknown_times(std::string why) { return {.unknown = std::move(why)}; }

// Returns times for a constant frame rate; every frame is an entry point.
FrameTimes even_times(std::int64_t frames, Rational rate) {
    FrameTimes times;
    for (std::int64_t number = 0; number < frames; ++number) {
        times.seconds.push_back(even_time(number, rate));
        times.entries.push_back(static_cast<std::size_t>(number));
    }
    return times;
}

}  // namespace

FrameTimes frame_times_of(const std::string& text, const SourceOptions& options) {
    const auto info = open_source(text, options)->info();
    if (info.live) return unknown_times("it is live");
    const auto call = parse_source(text);
    if (call.kind->name == "fwd") return fwd_frame_times(call.path, options);
    if (call.kind->name == "playlist") return unknown_times("it is a playlist");
#ifdef FRAMEWIRE_FFMPEG
    if (info.medium) return packet_times(*info.medium, options);
#endif
    if (!info.frames) return unknown_times("its number of frames is unknown");
    if (*info.frames > most_frames_of_times) return unknown_times("it has too many frames");
    return even_times(*info.frames, info.rate);
}

}  // namespace framewire

// Kinds of sources without files of their own: paths, and what FFmpeg opens.

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/input.hpp"
#include "framewire/media/ffmpeg/source.hpp"
#endif

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
        fail(ErrorCode::usage, "{0}: raw bytes have no header; write raw:{0}:size=WxH:fps=30", call.path);
    return open_file(call, options);
}

// Returns true for the address of a framewire server. A URL with a query is left to FFmpeg.
bool is_stream_address(const std::string& text) {
    static constexpr std::string_view schemes[] = {"tcp://", "tls://", "ws://", "wss://"};
    return text.find('?') == text.npos &&
           std::ranges::any_of(schemes, [&](std::string_view scheme) { return text.starts_with(scheme); });
}

// Returns true for a pattern, unless a file with exactly that name exists.
bool is_sequence(const std::string& text) {
    std::error_code error;
    return !std::filesystem::exists(text, error) && SequencePattern::parse(text);
}

// Returns all entries of a folder.
std::vector<std::string> reads_folder(const SourceCall& call) {
    std::vector<std::string> files;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(call.path, error), end; !error && entry != end;
         entry.increment(error))
        files.push_back(entry->path());
    return files;
}

// Returns the existing images of a sequence.
std::vector<std::string> reads_sequence(const SourceCall& call) {
    const auto pattern = *SequencePattern::parse(call.path);
    std::vector<std::string> files;
    for (const auto number : pattern.existing()) files.push_back(pattern.path(number));
    return files;
}

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

// Opens a file with FFmpeg. TIFF files are read by libtiff where possible, which is more exact.
std::unique_ptr<Source> open_with_ffmpeg(const std::string& path, const SourceOptions& options) {
    if (!is_tiff(path)) return open_by_ffmpeg(path, options);
    auto tiff = open_tiff_source(path, options);
    return tiff ? std::move(tiff) : open_by_ffmpeg(path, options);
}

// Opens an image; PNG is read without FFmpeg.
std::unique_ptr<Source> open_image(const std::string& path, const SourceOptions& options) {
    if (lower_case(path).ends_with(".png")) return open_png_source(path, options);
    return open_with_ffmpeg(path, options);
}

void fail_without_ffmpeg(const std::string& text) {
    fail(ErrorCode::config, "{}: this build has no FFmpeg; it supports y4m, raw, PNG and the synthetic camera",
         address_without_credentials(text));
}

// Returns the table entry for filter graphs of FFmpeg.
SourceKind lavfi_source() {
    return {.name = "lavfi",
            .form = "lavfi:GRAPH",
            .summary = "FFmpeg's test sources and filters",
            .prefix = "lavfi:",
            .examples = {"lavfi:testsrc2=size=1280x720"},
            .has_path = true,
            .open = open_graph};
}

// Returns the table entry for streams of framewire servers. It lets the registry recognize their addresses; the session
// opens them, because this library does not depend on the network library.
SourceKind stream_source() {
    return {.name = "stream",
            .form = "tcp://HOST:PORT/NAME, tls://..., ws://..., wss://...",
            .summary = "the stream of a framewire server; FFmpeg opens addresses with a query",
            .examples = {"tcp://127.0.0.1:7878/door"},
            .has_path = true,
            .may_be_away = true,
            .matches = is_stream_address,
            .open = [](const SourceCall& call, const SourceOptions&) -> std::unique_ptr<Source> {
                fail(ErrorCode::config,
                     "{}: streams of framewire servers are opened by net::Client, fw_viewer_connect() or Viewer",
                     address_without_credentials(call.text));
            }};
}

// Returns the table entry for all other URLs.
SourceKind network_source() {
    return {.name = "network",
            .form = "rtsp://..., http://..., udp://..., srt://...",
            .summary = "a network source; reconnects with increasing delays after a loss",
            .examples = {"rtsp://camera.local/stream"},
            .has_path = true,
            .may_be_away = true,
            .matches = [](const std::string& text) { return text.find("://") != text.npos; },
            .open = open_address};
}

// Returns the table entry for folders of images.
SourceKind folder_source() {
    return {.name = "folder",
            .form = "FOLDER",
            .summary = "the images in a folder, sorted by the bytes of their names",
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

// Returns the table entry for numbered images.
SourceKind sequence_source() {
    return {.name = "sequence",
            .form = "img%04d.png",
            .summary = "a numbered sequence of images; gaps are skipped",
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

// Returns the table entry for PNG files, which are read without FFmpeg.
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

// Returns the table entry for other image formats.
SourceKind image_source() {
    return {.name = "image",
            .form = "PATH",
            .summary = "an image, read by libtiff or FFmpeg's image demuxers",
            .endings = {".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pnm"},
            .examples = {"photo.jpg"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .open = open_file,
            .reads = reads_path};
}

// Returns the table entry for playlists, the only files that may refer to other files.
SourceKind playlist_source() {
    return {.name = "playlist",
            .form = "PATH",
            .summary = "a playlist, which may only refer to local files: HLS, DASH, concat scripts",
            .endings = {".m3u8", ".m3u", ".mpd", ".ffconcat"},
            .examples = {"list.m3u8"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .open = open_file,
            .reads = reads_path};
}

// Returns the table entry for everything else. It matches any text and must be the last one in the registry.
SourceKind video_source() {
    return {.name = "video",
            .form = "PATH",
            .summary = "any other file: a video that FFmpeg reads; this and the paths above may begin with file://",
            .examples = {"vtest.avi", "file://vtest.avi"},
            .has_path = true,
            .named_by_path = true,
            .must_exist = true,
            .matches = [](const std::string&) { return true; },
            .open = open_video,
            .reads = reads_path};
}

}  // namespace framewire

// Finds the kind of a source text. Prefixes are checked first ("synth:", "raw:"), then each kind's own test and
// extensions, in the order of the table; the last kind accepts everything.

// Lists all kinds of sources, in the order in which they are matched against a text.
// clang-format off
#define FRAMEWIRE_SOURCES(kind) \
    kind(standard_input) \
    kind(synth) \
    kind(raw) \
    kind(camera) \
    kind(lavfi) \
    kind(stream) \
    kind(network) \
    kind(folder) \
    kind(sequence) \
    kind(y4m) \
    kind(fwd) \
    kind(png) \
    kind(image) \
    kind(playlist) \
    kind(video)
// clang-format on

namespace framewire {

#define FRAMEWIRE_DECLARE(name) SourceKind name##_source();
FRAMEWIRE_SOURCES(FRAMEWIRE_DECLARE)
#undef FRAMEWIRE_DECLARE

const std::vector<SourceKind>& source_registry() {
#define FRAMEWIRE_CALL(name) name##_source(),
    static const std::vector<SourceKind> kinds = {FRAMEWIRE_SOURCES(FRAMEWIRE_CALL)};
#undef FRAMEWIRE_CALL
    return kinds;
}

namespace {

constexpr std::string_view path_prefix = "file://";

// Returns true if the text starts with the kind's prefix. A kind without a path also matches its bare name, "synth".
bool has_prefix(const SourceKind& kind, std::string_view text) {
    if (kind.prefix.empty()) return false;
    return text.starts_with(kind.prefix) || (!kind.has_path && text == kind.prefix.substr(0, kind.prefix.size() - 1));
}

// Returns true if the kind recognizes the text or its extension.
bool is_of(const SourceKind& kind, const std::string& text) {
    if (kind.matches && kind.matches(text)) return true;
    const auto lower = lower_case(text);
    return std::any_of(kind.endings.begin(), kind.endings.end(), [&](auto ending) { return lower.ends_with(ending); });
}

// Splits the text into path and parameters.
SourceCall read(const SourceKind& kind, const std::string& text, std::string_view rest) {
    SourceCall call{.kind = &kind, .text = text};
    const auto path_end = kind.has_path ? end_of_path(rest, kind.parameters) : 0;
    call.path = rest.substr(0, path_end);
    if (kind.has_path) rest.remove_prefix(std::min(path_end + 1, rest.size()));
    call.values = parse_parameters(rest, {.who = std::string(kind.name), .parameters = kind.parameters});
    return call;
}

}  // namespace

std::vector<std::string> reads_path(const SourceCall& call) { return {call.path}; }

SourceCall parse_source(const std::string& text) {
    if (text.empty()) fail(ErrorCode::usage, "the source is empty; give a path, a URL, a camera, synth or -");
    for (const auto& kind : source_registry())
        if (has_prefix(kind, text))
            return read(kind, text, std::string_view(text).substr(std::min(kind.prefix.size(), text.size())));
    const bool is_path = text.starts_with(path_prefix);
    const auto named = is_path ? text.substr(path_prefix.size()) : text;
    for (const auto& kind : source_registry())
        if ((kind.named_by_path || !is_path) && is_of(kind, named)) return read(kind, named, named);
    fail(ErrorCode::internal, "{} is not a source", text);  // the last kind accepts all texts
}

}  // namespace framewire
