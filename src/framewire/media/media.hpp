#pragma once

#include "framewire/core/thread_pool.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/media/sound.hpp"
#include "framewire/plan/source.hpp"
#include "framewire/plan/statistics.hpp"

#include <cctype>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Reading and writing of media. A source delivers frames as BGR or gray bytes with their times, and a sink accepts
/// such frames:
///
/// @code
/// const auto source = framewire::open_source("clip.mp4");
/// const auto& info = source->info();
/// const auto sink = framewire::open_sink("copy.mkv", info.shape, info.rate);
/// framewire::HostImage image(info.shape);
/// for (framewire::FrameTime time; source->read(image.view(), time);) sink->write(image.view(), time); sink->finish();
/// @endcode
///
/// Use a source or sink from one thread at a time. Different ones are independent of each other.
namespace framewire {

/// Values of the option `--decode`: where FFmpeg's videos are decoded.
enum class DecodeChoice {
    automatic,  ///< on the GPU if the source is live and the GPU gives the CPU's bytes, otherwise on the CPU
    cpu,        ///< on the CPU
    cuda        ///< on the GPU, even if its bytes differ; opening or reading fails if it cannot decode the video
};

/// Returns "auto", "cpu" or "cuda".
std::string_view to_string(DecodeChoice choice);
/// Parses what to_string() returns. Throws Error{usage} for any other text.
DecodeChoice parse_decode(std::string_view text);

/// Options for opening a source. The defaults suit files, cameras and the network.
struct SourceOptions {
    std::stop_token stop{};                      ///< ends a read within 250 ms, even one that blocks
    std::chrono::milliseconds timeout{10'000};   ///< longest wait for the next data from a camera or the network
    int retries = 5;                             ///< attempts to reopen a lost camera or network source
    std::chrono::milliseconds retry_pause{250};  ///< pause before the first attempt; doubles with each
    std::chrono::milliseconds longest_retry_pause{8'000};
    /// Optional. Replaces `retries`: how long to try to reopen a lost source, from its loss to its next frame. A file
    /// over HTTP, which resumes at its position, is retried for about that time.
    std::optional<std::chrono::milliseconds> reconnect{};
    static constexpr std::chrono::milliseconds for_ever = std::chrono::milliseconds::max();
    /// Optional. Draws over the last frame while a lost camera or network source is away. Called once at the loss and
    /// once after each failed attempt; each result is delivered as a frame. If empty, the source delivers no frames
    /// meanwhile.
    std::function<void(HostView<std::uint8_t>)> draw_loss{};
    /// If true, a camera or network source that comes back with frames of another size ends before them, until
    /// Source::take_new_size() is called. If false, these frames are scaled to the first size.
    bool follows_size = false;
    int width_px = 0;                ///< width requested from a camera; 0: the camera's choice
    int height_px = 0;               ///< height requested from a camera; 0: the camera's choice
    std::optional<Rational> rate{};  ///< rate requested from a camera, or rate of an image sequence, which stores none
                                     ///< (default 30)
    bool loop = false;               ///< restarts a source that ends; its timestamps continue
    double start_seconds = 0;        ///< earlier frames are skipped; not for live sources
    std::optional<double> duration_seconds{};  ///< frames at or after start + duration are skipped
    bool seekable = false;                     ///< makes seek() work for every source that can be opened again
    bool one_size = false;  ///< rejects images whose size differs from the first instead of scaling them
    DecodeChoice decode = DecodeChoice::cpu;          ///< which processor decodes videos; see docs/decoding.md
    std::shared_ptr<DecodeMonitor> decode_monitor{};  ///< optional: gets where the video is decoded
    /// Optional. Gets the packets of the best audio stream if their codec is one of SoundCodec. Nothing with
    /// `every_frame`.
    std::shared_ptr<SoundTap> sound{};
    int gpu = 0;              ///< index of the GPU that decodes, see cuda::devices()
    int decoder_threads = 0;  ///< FFmpeg's decoder threads, at most 16; 0: number of cores + 2
    /// Limit on the size of a picture; larger ones are rejected before memory is allocated.
    std::int64_t max_pixels = std::int64_t{max_side_px} * max_side_px;
    std::optional<YuvMatrix> matrix{};  ///< overrides the YUV matrix that the medium declares or omits
    std::optional<bool> full_range{};   ///< overrides the YUV range that the medium declares or omits
    /// Keeps every frame of a camera or network source: while earlier frames are processed, later ones wait in memory
    /// in their encoded form.
    bool every_frame = false;
    bool replace_truth = false;  ///< allows the file that `truth=` of the synthetic camera names to be replaced
};

/// Opens the source that `text` names, one of the kinds in source_registry(); `framewire sources` and docs/sources.md
/// list them. Frames have 3 channels (BGR), or 1 if the medium is gray. They are rotated and mirrored as the medium
/// declares, and transparent pixels are composited on black. FrameTime::seconds counts from the start of the source. A
/// file may refer to other files only if its name is that of a playlist (`.m3u8`, `.m3u`, `.mpd`, `.ffconcat`). Blocks
/// for up to options.timeout on a camera or the network.
/// Throws Error{no_input} if the source does not exist, has no video, or a stop was requested first;
/// Error{source_lost} if it exists but no frame can be decoded; Error{usage} if `text` cannot be parsed; Error{config}
/// if this build or machine cannot read it.
std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options = {});

/// Function that opens a source of a kind that this library does not know. It is called once, or several times if the
/// source loops or has a start time; `options` are the options for that opening.
using OpenSource = std::function<std::unique_ptr<Source>(const SourceOptions& options)>;

/// Opens a source through `open` and applies loop and time range as for a source that is given as text.
std::unique_ptr<Source> open_source(const OpenSource& open, const SourceOptions& options);

/// Checks the text of a source as far as possible without opening the source. Throws Error{usage}, Error{no_input} and
/// Error{config} as open_source() does.
void check_source(const std::string& text);

/// Returns the versions of the FFmpeg libraries loaded at run time: "5.1.6, libavformat 59.27.100 ...". Empty in a
/// build without FFmpeg.
std::string ffmpeg_version();

/// Returns the local files that a source given as `text` would read: a file, `-`, or all images of a sequence or
/// folder. Throws as parse_source() does.
std::vector<std::string> files_read_by(const std::string& text);
/// Returns the local files that a source given as `text` would write: the one that `truth=` of the synthetic camera
/// names. Throws as parse_source() does.
std::vector<std::string> files_written_by(const std::string& text);
/// Returns the local files that a sink given as `text` would write, if their names are known in advance: a file, `-`, a
/// playlist, or the first image of a sequence and all of its images that exist. Throws as parse_sink() does.
std::vector<std::string> files_of_sink(const std::string& text);

/// Returns the sink text for a file of exactly this name, whatever characters the name contains. Use it for names that
/// are derived from other files' names. Empty if `path` is empty.
std::string literal_sink(const std::string& path);

/// Returns true if a sink given as `text` sends to a network address instead of writing a file.
bool is_network_sink(std::string_view text);

/// Options for splitting a recording into segments; see open_segmented_sink().
struct SegmentOptions {
    double seconds = 0;                    ///< length of each segment; 0: one file
    std::optional<double> keep_seconds{};  ///< age at which completed segments are removed
    std::optional<double> keep_bytes{};    ///< total size of all segments, above which the oldest are removed
};

/// Options for opening a sink.
struct SinkOptions {
    std::stop_token stop{};                     ///< ends writes to a pipe or a network peer that does not read
    std::chrono::milliseconds timeout{10'000};  ///< longest wait for the network to accept data
    int encoder_threads = 0;  ///< FFmpeg's encoder threads, 1 to 64; 0: 1.5 times the number of cores, up to 12
    bool live = false;        ///< encodes for low delay rather than size; network sinks always do
    bool hurry = false;       ///< encodes quickly because frames arrive in real time, though not for low delay
    bool replace = false;     ///< see OutputFileOptions
    bool once_only = false;   ///< see OutputFileOptions
    SegmentOptions segments{};
    /// Source time that is 0 in the output; default: time of the first frame.
    std::optional<double> begin_seconds{};
    double start_seconds = 0;  ///< SourceOptions::start_seconds, for the time code of the first frame
    /// Longest part of a recording, in recorded time, that a killed process loses in addition to what its encoder
    /// buffers.
    std::chrono::milliseconds longest_held_back{500};
    /// File whose audio, subtitles, chapters and metadata are copied to the output.
    std::optional<MediumFile> medium{};
    bool audio = true;        ///< copies the audio, too
    bool to_the_end = false;  ///< lets copied streams continue after the last frame, as in the medium
    /// Bound of the difference stream from which the frames come: no byte differs by more from the frame that was
    /// encoded. A recording of such a source is then lossless unless its mode or threshold is specified, so that errors
    /// do not add up.
    std::optional<int> source_threshold{};
    /// Colour coding, subsampling and pixel aspect of the medium, as far as they still apply to the frames.
    PictureFacts facts{};

    /// Returns the part of these options that concerns the output file.
    OutputFileOptions file_options() const { return {stop, replace, once_only}; }
};

/// Opens the sink that `text` names, one of the kinds in sink_registry(). The extension, in any case, selects it:
/// `.mp4`, `.mov`, `.ts` (H.264), `.mkv` (FFV1, lossless), `.webm` (VP9), `.avi` (Motion JPEG), `.gif`, `.y4m`, `.png`,
/// `.jpg`, `.webp`, `.tif` and `.bmp` (one image, or many as `img%04d.png`; several frames in one WebP make an
/// animation), `.fwd` (the difference stream; see docs/recordings.md), `.bgr`, `.gray` (raw bytes), `.m3u8` (HLS), `-`
/// (y4m on standard output) or a URL that FFmpeg writes (`rtsp://`, `udp://`, `srt://`, `rtmp://`). Parameters follow
/// as `:key=value`; see parse_sink().
/// Files get their names when finish() returns; HLS files appear while the stream runs. H.264 is 4:2:0, or 4:4:4 if a
/// side is odd, because 4:2:0 requires even sizes and framewire neither pads nor crops. `frame` is the shape of one
/// frame: 1 (gray) or 3 (BGR) channels. In a colour format, a gray frame has its value in all three channels. Throws
/// Error{usage} if the extension is unknown or the format cannot hold the frame, Error{config} if this build cannot
/// write it, Error{io} if the destination cannot be written.
std::unique_ptr<Sink> open_sink(const std::string& text, const Shape& frame, Rational rate,
                                const SinkOptions& options = {});

/// Returns the library besides framewire that reads and writes media in this build: "FFmpeg 5.1.6", or "no FFmpeg".
std::string media_libraries();

/// Converts A to Z in `text` to lower case, for file extensions and similar names.
inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (auto& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return lower;
}

/// Returns the process-wide thread pool of the media module, for colour conversion and large file copies.
const ThreadPool& media_threads();

}  // namespace framewire
