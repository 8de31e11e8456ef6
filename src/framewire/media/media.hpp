#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/source.hpp"

#include <chrono>
#include <cstdint>
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
    std::chrono::milliseconds retry_pause{250};  ///< before the first attempt; doubles with each, up to 8 s
    int width_px = 0;                            ///< asked of a camera; 0 leaves it to the camera
    int height_px = 0;                           ///< asked of a camera; 0 leaves it to the camera
    std::optional<Rational> rate{};              ///< asked of a camera; the rate of images, which have none (30)
    bool loop = false;                           ///< a source that ends begins again; its timestamps go on
    double start_seconds = 0;                    ///< frames before that time are left out; not of what is live
    std::optional<double> duration_seconds{};    ///< frames so long after the start, and later, are left out
    bool seekable = false;                       ///< seek() works wherever a source can be opened again
    bool one_size = false;                       ///< images of a size unlike the first's are refused, not scaled
    int decoder_threads = 2;                     ///< of FFmpeg's decoder, 1 to 16
    std::int64_t max_pixels = std::int64_t{max_side_px} * max_side_px;  ///< larger pictures are refused unallocated
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

/// Files on this machine that a source of this text would read: a file, `-`, all images of a sequence or a folder.
std::vector<std::string> files_read_by(const std::string& text);
/// Files that it would write: what `truth=` of the synthetic camera names. Both throw as parse_source() does.
std::vector<std::string> files_written_by(const std::string& text);
/// Files that a sink of this text would write, as far as there are names for them yet: a file, `-`, a playlist, the
/// images of a sequence that are there already and its first one.
std::vector<std::string> files_of_sink(const std::string& text);

/// How a sink is opened.
struct SinkOptions {
    std::stop_token stop{};                     ///< ends writes to a pipe or the network that nobody takes
    std::chrono::milliseconds timeout{10'000};  ///< longest wait for the network to take data
    int encoder_threads = 0;                    ///< of FFmpeg's encoder, 1 to 64; 0 takes what the machine has, up to 8
    bool live = false;                          ///< encode for low delay rather than size; network sinks always do
    bool replace = false;                       ///< see OutputFileOptions
    bool once_only = false;                     ///< see OutputFileOptions

    OutputFileOptions file_options() const { return {stop, replace, once_only}; }
};

/// Opens what `text` names, by its ending: `.mp4` (H.264), `.mkv` (FFV1, lossless), `.avi` (Motion JPEG), `.y4m`,
/// `.png` and `.jpg` (one image, or many as `img%04d.png`), `.bgr`, `.gray` (raw bytes), `.m3u8` (HLS), `-` (y4m on
/// standard output) or a URL FFmpeg writes (`rtsp://`, `udp://`, `srt://`, `rtmp://`). Files appear under their name
/// when finish() returns, HLS as it goes.
/// H.264 is 4:2:0, but 4:4:4 where a side is odd, for 4:2:0 knows even sizes only and framewire neither pads nor cuts.
/// `frame` is of one frame: 1 (gray) or 3 (BGR) channels. A gray frame into a colour format keeps its value in all
/// three. Throws Error{usage} on an ending it does not know or a frame the format cannot take, Error{config} when this
/// build cannot write it, Error{io} when the place cannot be written to.
std::unique_ptr<Sink> open_sink(const std::string& text, const Shape& frame, Rational rate,
                                const SinkOptions& options = {});

}  // namespace framewire
