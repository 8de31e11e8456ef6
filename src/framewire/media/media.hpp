#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/source.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// How a source is opened; the defaults suit files, cameras and the network alike.
struct SourceOptions {
    std::stop_token stop{};                      ///< ends a read, a blocking one too, within a quarter of a second
    std::chrono::milliseconds timeout{10'000};   ///< longest wait for a camera's or the network's next data
    int retries = 5;                             ///< attempts to get a lost camera or network source back
    std::chrono::milliseconds retry_pause{250};  ///< before the first attempt; doubles with each
    std::chrono::milliseconds longest_retry_pause{8'000};
    /// In place of `retries`: how long it is tried to be had back, from its loss to its next frame. A file over HTTP,
    /// which goes on where it was, is tried about as long.
    std::optional<std::chrono::milliseconds> reconnect{};
    static constexpr std::chrono::milliseconds for_ever = std::chrono::milliseconds::max();
    /// Draws what is read while a lost camera or network source is away, over what was read last: a frame at once, and
    /// one after each attempt that failed. None: no frames come meanwhile.
    std::function<void(HostView<std::uint8_t>)> draw_loss{};
    /// A camera or network source that is back with pictures of another size ends before them, until
    /// Source::take_new_size(); else they are scaled to the first size.
    bool follows_size = false;
    int width_px = 0;                          ///< asked of a camera; 0 leaves it to the camera
    int height_px = 0;                         ///< asked of a camera; 0 leaves it to the camera
    std::optional<Rational> rate{};            ///< asked of a camera; the rate of images, which have none (30)
    bool loop = false;                         ///< a source that ends begins again; its timestamps go on
    double start_seconds = 0;                  ///< frames before that time are left out; not of what is live
    std::optional<double> duration_seconds{};  ///< frames so long after the start, and later, are left out
    bool seekable = false;                     ///< seek() works wherever a source can be opened again
    bool one_size = false;                     ///< images of a size unlike the first's are refused, not scaled
    int decoder_threads = 0;                   ///< of FFmpeg's decoder, at most 16; 0: two more than there are cores
    std::int64_t max_pixels = std::int64_t{max_side_px} * max_side_px;  ///< larger pictures are refused unallocated
    std::optional<YuvMatrix> matrix{};  ///< instead of what a medium says, or leaves open, of its YUV colours
    std::optional<bool> full_range{};   ///< likewise
    /// Frames of a camera or network source are all wanted: they wait in memory, still encoded, while earlier ones are
    /// processed.
    bool every_frame = false;
    bool replace_truth = false;  ///< the file that `truth=` of the synthetic camera names may be replaced
};

/// Opens what `text` names: one of source_registry()'s kinds, which `framewire sources` and docs/sources.md list.
/// Frames have 3 channels, or 1 where the medium is gray; they are turned as the medium says and transparency lies on
/// black. FrameTime::seconds is from the source's start. A file leads to no other file but where it is named as a
/// playlist
/// (`.m3u8`, `.m3u`, `.mpd`, `.ffconcat`). Blocks up to options.timeout on a camera or the network.
/// Throws Error{no_input} when there is nothing, no video, or a stop came first; Error{source_lost} when there is one
/// but not a frame of it can be decoded; Error{usage} on a text that means nothing; Error{config} when this build or
/// this machine cannot read it.
std::unique_ptr<Source> open_source(const std::string& text, const SourceOptions& options = {});

/// Opens a source of a kind that this library does not know; `options` are what it is opened with, once or, with a loop
/// or a start, several times.
using OpenSource = std::function<std::unique_ptr<Source>(const SourceOptions& options)>;

/// The same for a source that `open` opens, which may be opened again.
std::unique_ptr<Source> open_source(const OpenSource& open, const SourceOptions& options);

/// What can be told of a source's text without opening it. Throws Error{usage}, Error{no_input} and Error{config} as
/// open_source() does.
void check_source(const std::string& text);

/// Of FFmpeg's libraries, as they are at run time: "5.1.6, libavformat 59.27.100 ..."; empty in a build without them.
std::string ffmpeg_version();

/// Files on this machine that a source of this text would read: a file, `-`, all images of a sequence or a folder.
std::vector<std::string> files_read_by(const std::string& text);
/// Files that it would write: what `truth=` of the synthetic camera names. Both throw as parse_source() does.
std::vector<std::string> files_written_by(const std::string& text);
/// Files that a sink of this text would write, as far as there are names for them yet: a file, `-`, a playlist, the
/// images of a sequence that are there already and its first one. Throws as parse_sink() does.
std::vector<std::string> files_of_sink(const std::string& text);

/// The sink text of a file of exactly this name, whatever characters it holds: names made from other files' names go
/// through this. Empty if `path` is.
std::string literal_sink(const std::string& path);

/// A recording in pieces; see open_segmented_sink().
struct SegmentOptions {
    double seconds = 0;                    ///< of each piece; 0: all is one file
    std::optional<double> keep_seconds{};  ///< pieces that were completed longer ago are removed
    std::optional<double> keep_bytes{};    ///< the oldest are removed until all have no more than so many
};

/// How a sink is opened.
struct SinkOptions {
    std::stop_token stop{};                     ///< ends writes to a pipe or the network that nobody takes
    std::chrono::milliseconds timeout{10'000};  ///< longest wait for the network to take data
    int encoder_threads = 0;  ///< of FFmpeg's encoder, 1 to 64; 0 takes half more than cores, up to 12
    bool live = false;        ///< encode for low delay rather than size; network sinks always do
    bool hurry = false;       ///< frames come when they come: encode quickly, though not for low delay
    bool replace = false;     ///< see OutputFileOptions
    bool once_only = false;   ///< see OutputFileOptions
    SegmentOptions segments{};
    std::optional<double> begin_seconds{};  ///< which time is the output's 0; none: that of its first frame
    double start_seconds = 0;               ///< SourceOptions::start_seconds, for the time code of the first frame
    /// The most of a recording, in its own time, that a killed run loses beside what its encoder holds.
    std::chrono::milliseconds longest_held_back{500};
    std::optional<MediumFile> medium{};  ///< whose sound, subtitles, chapters and words go along
    bool audio = true;                   ///< without, its sound stays behind
    bool to_the_end = false;             ///< what goes along may go on after the last picture, as in the medium
    /// Of a difference stream that the frames come from: no byte is further from what was encoded. A recording of it is
    /// then lossless unless its mode or threshold is given, so that a second error is not added.
    std::optional<int> source_threshold{};
    PictureFacts facts{};  ///< of the medium that the frames come from, where they are as it has them

    OutputFileOptions file_options() const { return {stop, replace, once_only}; }
};

/// Opens what `text` names, one of sink_registry()'s kinds, by its ending in any case: `.mp4`, `.mov`, `.ts` (H.264),
/// `.mkv` (FFV1, lossless), `.webm` (VP9), `.avi` (Motion JPEG), `.gif`, `.y4m`, `.png`, `.jpg`, `.webp`, `.tif` and
/// `.bmp` (one image, or many as `img%04d.png`; several frames into one WebP move), `.fwd` (the difference stream; see
/// docs/recordings.md), `.bgr`, `.gray` (raw bytes),
/// `.m3u8` (HLS), `-` (y4m on standard output) or a URL FFmpeg writes (`rtsp://`, `udp://`, `srt://`, `rtmp://`).
/// Parameters follow as `:key=value`; see parse_sink(). Files appear under their name when finish() returns, HLS as it
/// goes. H.264 is 4:2:0, but 4:4:4 where a side is odd, for 4:2:0 knows even sizes only and framewire neither pads nor
/// cuts. `frame` is of one frame: 1 (gray) or 3 (BGR) channels. A gray frame into a colour format keeps its value in
/// all three. Throws Error{usage} on an ending it does not know or a frame the format cannot take, Error{config} when
/// this build cannot write it, Error{io} when the place cannot be written to.
std::unique_ptr<Sink> open_sink(const std::string& text, const Shape& frame, Rational rate,
                                const SinkOptions& options = {});

/// What else reads and writes media in this build: "FFmpeg 5.1.6", or "no FFmpeg".
std::string media_libraries();

}  // namespace framewire
