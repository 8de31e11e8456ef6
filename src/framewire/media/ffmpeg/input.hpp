#pragma once

#include "framewire/media/ffmpeg/gpu_decoder.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/orientation.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace framewire {

/// Address that FFmpeg opens, and the options for opening it.
struct FfmpegAddress {
    enum class Kind { file, network, camera, generator };
    /// Kind of content that a file's extension allows.
    enum class Contents { video, image, playlist };

    std::string name;    ///< name in messages, without credentials
    std::string url;     ///< address in FFmpeg's syntax
    std::string format;  ///< FFmpeg's name of the demuxer; empty: detected
    Kind kind = Kind::file;
    Contents contents = Contents::video;  ///< kind of content, if the address is a file
    std::vector<std::pair<std::string, std::string>> options{};
};

/// Demuxer of a source. It restricts which other files the source may refer to; see allowed_formats().
class FfmpegDemuxer {
public:
    /// Opens the source within the time that `interrupt` allows; `interrupt` must outlive this object. Messages quote
    /// `patience` as that time. Throws Error{no_input}.
    FfmpegDemuxer(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
                  std::chrono::milliseconds patience);
    FfmpegDemuxer(const FfmpegDemuxer&) = delete;
    FfmpegDemuxer& operator=(const FfmpegDemuxer&) = delete;

    /// Returns the open demuxer.
    AVFormatContext& format() const { return *format_; }

private:
    // Opens the source; retries unlabelled MJPEG streams with another demuxer.
    void open(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
              std::chrono::milliseconds patience);
    // Replaces FFmpeg's io_open and opens no file except the source itself.
    static int open_own_file(AVFormatContext* format, AVIOContext** io, const char* url, int flags,
                             AVDictionary** options);
    // Throws Error{no_input} with the most specific reason.
    [[noreturn]] void fail_open(const FfmpegAddress& address, int error, const Interrupt& interrupt,
                                std::chrono::milliseconds patience) const;

    std::string name_;
    std::string url_;
    decltype(AVFormatContext::io_open) open_any_ = nullptr;  // FFmpeg's default function for opening files
    InputPointer format_;
};

/// Returns the last pause, in seconds, of FFmpeg's HTTP client before it stops trying to resume a lost transfer. The
/// pauses are 0, 1, 3, 7 ... seconds, in total about twice the last one. The client can resume only if the server
/// supports it.
std::int64_t last_http_pause_s(const SourceOptions& options);

/// Returns true if `text` starts with one of `beginnings`.
bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings);

/// Reads packets of a live stream on its own thread as they arrive, so that neither network nor driver buffers
/// overflow while frames are decoded, filtered and written. Buffers up to 64 MiB.
class PacketReader {
public:
    /// Starts the thread. `format` and `interrupt` must outlive this object and must not be used by others meanwhile.
    /// The reader gives up after `patience` without data.
    PacketReader(AVFormatContext& format, const AVStream& stream, Interrupt& interrupt,
                 std::chrono::milliseconds patience, std::string name);
    ~PacketReader();
    PacketReader(const PacketReader&) = delete;
    PacketReader& operator=(const PacketReader&) = delete;

    /// Waits for the next packet of the stream. Returns the result of av_read_frame().
    int read(AVPacket& packet);
    /// Returns AVStream::start_time at the arrival of the first packet.
    std::int64_t start_time() const { return start_time_; }
    /// Returns true if the reader gave up because no data arrived. Valid after read() failed.
    bool timed_out() const { return timed_out_; }

private:
    /// Buffered packet with the stream's start time at its arrival.
    struct Held {
        PacketPointer packet;
        std::int64_t start_time;
    };

    // Body of the thread.
    void run();
    // Reads one packet, waiting for data.
    int read_packet(AVPacket& packet);
    // Appends a packet to the buffer.
    bool add(Held held);
    // Marks the end of the stream.
    void end(int result);

    AVFormatContext& format_;
    const AVStream& stream_;
    Interrupt& interrupt_;
    std::chrono::milliseconds patience_;
    std::string name_;
    bool drops_;  // true: drops packets when full; false: the sender waits
    std::int64_t start_time_ = AV_NOPTS_VALUE;
    bool began_ = false;  // a packet has been read

    std::mutex mutex_;
    std::condition_variable arrived_, taken_;
    // Guarded by mutex_.
    std::deque<Held> held_;
    std::int64_t held_bytes_ = 0, dropped_ = 0;
    bool warned_ = false, cancelled_ = false;
    bool ended_ = false, timed_out_ = false;
    int result_ = 0;
    std::jthread thread_;  // last member: joined before the others are destroyed
};

/// Continuous clock for formats whose timestamps may restart: concatenated transport streams, HLS discontinuities. At
/// a jump in the timestamps a new segment starts and follows the previous one without a gap.
class StreamSplices {
public:
    StreamSplices() = default;
    /// If `forward` is true, a jump ahead also starts a segment. In a live stream such a jump can be a reception gap.
    StreamSplices(const AVStream& stream, bool forward);

    /// Returns true for formats whose timestamps may restart.
    static bool may_occur(const AVFormatContext& format);

    /// Processes the next packet of the stream, with its original timestamps. Returns true if it starts a new segment.
    bool take(const AVPacket& packet);
    /// Shifts the timestamps of the packet that was last passed to take() to the position of its segment.
    void place(AVPacket& packet) const { move(packet, offsets_.back()); }

    /// Returns the number of segments that have started.
    std::size_t segments() const { return offsets_.size(); }
    /// Returns the shift of a segment, in ticks of time_base().
    std::int64_t offset(std::size_t segment) const { return offsets_[segment]; }
    /// Returns the time base of the stream.
    AVRational time_base() const { return time_base_; }

    /// Adds `ticks` to the timestamps of a packet.
    static void move(AVPacket& packet, std::int64_t ticks);

private:
    AVRational time_base_{1, 90'000};
    bool forward_ = true;
    std::int64_t frame_ticks_ = 0;  // duration of packets that declare none
    bool begun_ = false;
    std::int64_t last_dts_ = 0;  // decoding time of the last packet, before placing
    std::int64_t end_ = 0;       // end of all packets so far, after placing
    std::vector<std::int64_t> offsets_{0};
};

class SoundStream;

/// Demuxer of a source and the decoder of its best video stream, from one opening of the source. Use an object from one
/// thread.
class FfmpegInput {
public:
    /// Result of a read.
    enum class Progress { frame, end, stopped, lost };

    /// Opens the source, waiting at most options.timeout. The object owns or shares everything it uses, so that a
    /// blocked call can be abandoned. Throws Error{no_input} if the source does not exist, has no video, is too large,
    /// or a stop was requested.
    FfmpegInput(const FfmpegAddress& address, const SourceOptions& options, std::shared_ptr<Interrupt> interrupt);
    ~FfmpegInput();

    /// Decodes the next frame. Corrupt data is skipped or concealed and counted as damage; `lost` means that reading
    /// failed before the end of the source. Reading the same file always gives the same frames, errors and counts: at
    /// the first damage, a file is decoded again on one thread from the position where reading began.
    Progress next(AVFrame& frame);

    /// Seeks to a key frame before or near `seconds`, on the clock of seconds(); next() shows where it arrived. Returns
    /// false if the source cannot seek.
    bool seek(double seconds);

    /// Returns the nominal frame rate.
    Rational rate() const { return rate_; }
    /// Returns the number of frames, if the file declares it.
    std::optional<std::int64_t> frames() const;
    /// Returns the orientation for displaying a frame: from the frame's display matrix or EXIF data, otherwise from the
    /// stream's matrix.
    Orientation orientation(const AVFrame& frame);
    /// Returns the presentation time of a frame from the start of the stream, if it has one.
    std::optional<double> seconds(const AVFrame& frame) const;
    /// Returns the display duration of a frame, if the file declares it.
    std::optional<double> duration_seconds(const AVFrame& frame) const;
    /// Returns the pixel aspect ratio (width / height) of a frame as stored.
    Rational pixel_aspect(AVFrame& frame) const;
    /// Returns the start of the stream on the file's own clock.
    double start_seconds() const;
    /// Returns true if next() may spend seconds on one picture: still images and pictures of more than 16 megapixels.
    bool may_take_long() const;
    /// Returns true for a camera or broadcast, which has no start to return to.
    bool live() const { return live_; }

    /// Returns the number of corrupt packets and frames so far.
    std::int64_t damaged() const { return damaged_; }
    /// Returns the description of the first damage.
    const std::string& first_damage() const { return first_damage_; }
    /// Returns the reason for `lost`.
    const std::string& why_lost() const { return why_lost_; }

private:
    // Opens demuxer and decoder; also used to open them again.
    void open();
    // Opens a decoder for the best video stream.
    void open_decoder();
    // Returns the decoder for the GPU and prepares gpu_; null if the CPU is to decode. Throws if that is not allowed.
    const AVCodec* codec_for_gpu(const AVCodec& codec);
    // Decodes on the CPU from now on. Throws if that is not allowed.
    void leave_gpu(const std::string& why);
    // Resets splice detection; called after opening and seeking.
    void begin_splices();
    // Decodes one frame; at the first damage starts again on one thread.
    Progress next_now(AVFrame& frame);
    // Decodes one frame and counts damage that the decoder reports. Returns at once if is_refused().
    Progress next_decoded(AVFrame& frame);
    // Decodes one frame after the GPU has refused the stream.
    Progress next_without_gpu(AVFrame& frame);
    // Opens the file again and decodes the same frame. Empty if the file has changed.
    std::optional<Progress> next_again(AVFrame& frame);
    // Reports where a frame was decoded, if that has changed.
    void report_decoder(const AVFrame& frame);
    // Moves a frame out of the decoder's memory, or refuses the GPU.
    void take_from_gpu(AVFrame& frame);
    // Decodes one frame and also counts damage that only the log reveals.
    Progress next_counted(AVFrame& frame);
    // Seeks without changing the state of next().
    bool go_to(double seconds);
    bool has_frame_threads() const;
    bool is_refused() const;        // by the GPU, and not yet taken note of
    bool is_unmarked() const;       // the decoder does not flag corrupt pictures
    bool checks_sums() const;       // the decoder drops pictures with a wrong checksum
    bool has_padded_alpha() const;  // the alpha channel is padding without meaning
    // Returns true if decoding on one thread of the CPU could give other frames, and is possible.
    bool may_begin_again() const;
    bool may_open_again() const;
    // Reopens the file at the position where reading began.
    bool begin_again();
    // Sends one packet to the decoder.
    std::optional<Progress> feed();
    // Shifts a packet's timestamps to the continuous clock.
    void take_splice(AVPacket& packet);
    // Handles a packet that is marked as corrupt, which may be an effect of a splice.
    void suspect();
    // Counts the suspected packet, if any, as damage.
    void settle_suspicion();
    // Returns `end`, or `lost` if the file is truncated.
    Progress ended();
    // Counts one piece of damage; keeps the description of the first.
    void note_damage(const std::string& text);
    // Returns the duration that the file declares, if a shorter one means truncation.
    std::optional<double> promised_seconds() const;
    // Returns the duration of the video stream, if the format declares it.
    std::optional<double> length_seconds() const;
    std::int64_t start_time() const;
    // Returns FFmpeg's guess of the frame rate, the average, or the default.
    Rational guess_rate() const;
    // Extends the last frame to the end of the stream.
    void show_to_the_end(AVFrame& frame) const;

    SourceOptions options_;
    std::shared_ptr<Interrupt> held_interrupt_;
    Interrupt& interrupt_;  // the object that held_interrupt_ owns
    FfmpegAddress address_;
    FfmpegAddress::Kind kind_;
    std::string name_;
    std::unique_ptr<FfmpegDemuxer> demuxer_;
    AVFormatContext* format_ = nullptr;  // owned by demuxer_
    const AVStream* stream_ = nullptr;
    DamageAlarm alarm_;
    std::unique_ptr<GpuDecoder> gpu_;  // set if the GPU decodes; outlives the decoder
    CodecPointer decoder_;
    bool alone_ = false;                 // decoders use one thread of the CPU from now on
    bool gpu_is_left_ = false;           // the GPU cannot decode the source
    std::string why_gpu_is_left_;        // also if damage was found
    std::optional<bool> reported_gpu_;   // what report_decoder() reported last
    std::optional<double> sought_;       // target of the last seek
    std::int64_t given_since_seek_ = 0;  // frames since the last seek, or since opening
    std::int64_t read_before_seek_ = 0;
    PacketPointer packet_ = make_packet();
    std::optional<StreamSplices> splices_;  // set only for formats that have splices
    std::unique_ptr<SoundStream> sound_;    // null unless the sound is wanted
    std::optional<PacketReader> reader_;    // set only if every frame of a live source is kept
    FramePointer ahead_ = make_frame();  // frame after the returned one, for files; valid if `ahead_progress_` is set
    std::optional<Progress> ahead_progress_;
    // Number of further packets after which a suspected packet counts as damage; a splice before that explains the
    // mark.
    int suspected_for_ = 0;
    std::chrono::milliseconds patience_{};  // maximum time to wait for one frame
    bool live_ = false;
    bool late_ = false;  // the reader timed out
    Rational rate_{30, 1};
    bool warned_of_orientation_ = false;
    int tiff_orientation_ = 0;  // the orientation tag of a TIFF file
    bool draining_ = false;
    bool seen_key_ = false;
    int errors_in_a_row_ = 0;
    std::int64_t frames_read_ = 0;
    double end_seconds_ = 0;
    std::int64_t damaged_ = 0;
    std::string first_damage_;
    std::string why_lost_;
};

}  // namespace framewire

// Limits what FFmpeg may open. FFmpeg detects formats by content, not by name: without limits, a playlist named
// photo.jpg could expose other files of this machine or make it contact servers.

namespace framewire {

/// Returns the kind of content that the extension of a file allows: `.m3u8`, `.m3u`, `.mpd` and `.ffconcat` are
/// playlists, and is_image_name() decides for images.
FfmpegAddress::Contents contents_of(const std::string& path);

/// Returns the value for FFmpeg's option format_whitelist. Files may use media demuxers, images may use image demuxers.
/// Demuxers that refer to other files (HLS, DASH, concat scripts ...) are allowed only for files with a playlist
/// extension, and HLS and DASH also from HTTP servers. Empty for cameras and generators, which are not files.
std::string allowed_formats(const FfmpegAddress& address);

/// Returns the value for FFmpeg's option protocol_whitelist: files may refer only to files, network sources only to the
/// network. Empty for cameras and generators.
std::string allowed_protocols(const FfmpegAddress& address);

/// Format of a file that allowed_formats() excludes.
struct RefusedFormat {
    std::string name;  ///< FFmpeg's name of the format
    bool is_playlist;  ///< true if the file would be read with a playlist extension
};

/// Probes a file that could not be opened and returns its format; nullopt if the format is allowed or unknown.
std::optional<RefusedFormat> refused_format(const FfmpegAddress& file);

}  // namespace framewire
