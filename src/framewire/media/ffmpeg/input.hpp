#pragma once

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

/// Address that FFmpeg opens, with its options.
struct FfmpegAddress {
    enum class Kind { file, network, camera, generator };
    /// Kind of content that a file name allows.
    enum class Contents { video, image, playlist };

    std::string name;    ///< for messages, without credentials
    std::string url;     ///< in FFmpeg's syntax
    std::string format;  ///< FFmpeg's name of the demuxer; empty: detected
    Kind kind = Kind::file;
    Contents contents = Contents::video;  ///< contents of a file
    std::vector<std::pair<std::string, std::string>> options{};
};

/// Demuxer of a source, restricted in what a file may refer to (see limits.hpp).
class FfmpegDemuxer {
public:
    /// Opens the source within the time that `interrupt` allows; `interrupt` must outlive this object. Messages quote
    /// `patience` as that time. Throws Error{no_input}.
    FfmpegDemuxer(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
                  std::chrono::milliseconds patience);
    FfmpegDemuxer(const FfmpegDemuxer&) = delete;
    FfmpegDemuxer& operator=(const FfmpegDemuxer&) = delete;

    /// The open demuxer.
    AVFormatContext& format() const { return *format_; }

private:
    // Opens the source; retries unlabelled MJPEG streams with another demuxer.
    void open(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
              std::chrono::milliseconds patience);
    // Replacement for FFmpeg's io_open that opens no other file.
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

/// Last pause of FFmpeg's HTTP client before it resumes a lost transfer, if the server supports it: it pauses for 0,
/// 1, 3, 7 ... seconds, about twice the last pause in total.
std::int64_t last_http_pause_s(const SourceOptions& options);

/// True if `text` starts with one of `beginnings`.
bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings);

/// Reads packets of a live stream on its own thread as they arrive, so that neither network nor driver buffers
/// overflow while frames are decoded, filtered and written. Buffers up to 64 MiB.
class PacketReader {
public:
    /// Starts the thread. `format` and `interrupt` must outlive this object and may not be used by others meanwhile.
    /// The reader gives up after `patience` without data.
    PacketReader(AVFormatContext& format, const AVStream& stream, Interrupt& interrupt,
                 std::chrono::milliseconds patience, std::string name);
    ~PacketReader();
    PacketReader(const PacketReader&) = delete;
    PacketReader& operator=(const PacketReader&) = delete;

    /// Waits for the next packet of the stream. Returns the result of av_read_frame().
    int read(AVPacket& packet);
    /// AVStream::start_time when the first packet arrived.
    std::int64_t start_time() const { return start_time_; }
    /// True if the reader gave up because no data arrived. Valid after read() failed.
    bool timed_out() const { return timed_out_; }

private:
    /// A buffered packet, and the stream's start time when it arrived.
    struct Held {
        PacketPointer packet;
        std::int64_t start_time;
    };

    // The thread.
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
    bool drops_;  // drops packets when full; otherwise the sender waits
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

    /// True for formats whose timestamps may restart.
    static bool may_occur(const AVFormatContext& format);

    /// Processes the next packet of the stream as read. Returns true if it starts a new segment.
    bool take(const AVPacket& packet);
    /// Shifts the timestamps of the packet that was passed to take() last to the position of its segment.
    void place(AVPacket& packet) const { move(packet, offsets_.back()); }

    /// Number of segments that have started.
    std::size_t segments() const { return offsets_.size(); }
    /// Shift of a segment, in ticks of time_base().
    std::int64_t offset(std::size_t segment) const { return offsets_[segment]; }
    /// Time base of the stream.
    AVRational time_base() const { return time_base_; }

    /// Adds `ticks` to the timestamps of a packet.
    static void move(AVPacket& packet, std::int64_t ticks);

private:
    AVRational time_base_{1, 90'000};
    bool forward_ = true;
    std::int64_t frame_ticks_ = 0;  // duration of packets that have none
    bool begun_ = false;
    std::int64_t last_dts_ = 0;  // as read
    std::int64_t end_ = 0;       // end of all packets so far, after placing
    std::vector<std::int64_t> offsets_{0};
};

/// One opening of a source by FFmpeg: the demuxer and the decoder of its best video stream. Use an object from one
/// thread.
class FfmpegInput {
public:
    /// Result of a read.
    enum class Progress { frame, end, stopped, lost };

    /// Opens the source, waiting at most options.timeout. Shares ownership of everything it uses, so that a blocked
    /// call can be abandoned. Throws Error{no_input} if the source does not exist, has no video, is too large, or a
    /// stop was requested.
    FfmpegInput(const FfmpegAddress& address, const SourceOptions& options, std::shared_ptr<Interrupt> interrupt);

    /// Decodes the next frame. Corrupt data is skipped or concealed and counted as damage; `lost` means that no more
    /// can be read although the source has not ended. The same file gives the same frames, errors and counts each
    /// time: at the first damage, a file is decoded again on one thread from the position where reading began.
    Progress next(AVFrame& frame);

    /// Seeks to a key frame before `seconds`, in the time of seconds(), or near it; next() shows where it arrived.
    /// Returns false if the source cannot seek.
    bool seek(double seconds);

    /// Nominal frame rate.
    Rational rate() const { return rate_; }
    /// Number of frames, if the file declares it.
    std::optional<std::int64_t> frames() const;
    /// Orientation for displaying a frame: from the frame's display matrix or EXIF data, otherwise from the stream's
    /// matrix.
    Orientation orientation(const AVFrame& frame);
    /// Presentation time of a frame from the start of the stream, if it has one.
    std::optional<double> seconds(const AVFrame& frame) const;
    /// Display duration of a frame, if the file declares it.
    std::optional<double> duration_seconds(const AVFrame& frame) const;
    /// Pixel aspect ratio (width / height) of a frame as stored.
    Rational pixel_aspect(AVFrame& frame) const;
    /// Start of the stream in the file's own time.
    double start_seconds() const;
    /// True if next() may spend seconds on one picture: still images and pictures of more than 16 megapixels.
    bool may_take_long() const;
    /// True for a camera or broadcast, which has no start to return to.
    bool live() const { return live_; }

    /// Number of corrupt packets and frames so far.
    std::int64_t damaged() const { return damaged_; }
    /// Description of the first damage.
    const std::string& first_damage() const { return first_damage_; }
    /// Reason for `lost`.
    const std::string& why_lost() const { return why_lost_; }

private:
    // Opens demuxer and decoder; also used to open them again.
    void open();
    // Opens a decoder for the best video stream.
    void open_decoder();
    // Resets splice detection, after opening and seeking.
    void begin_splices();
    // Decodes one frame; at the first damage starts again on one thread.
    Progress next_now(AVFrame& frame);
    // Decodes one frame and counts damage that the decoder reports.
    Progress next_decoded(AVFrame& frame);
    // Also counts damage that only the log reveals.
    Progress next_counted(AVFrame& frame);
    // Seeks without resetting the state of next().
    bool go_to(double seconds);
    bool has_frame_threads() const;
    bool is_unmarked() const;       // the decoder does not flag corrupt pictures
    bool checks_sums() const;       // the decoder drops pictures with a wrong checksum
    bool has_padded_alpha() const;  // the alpha channel is padding without meaning
    // True if decoding on one thread could give other frames.
    bool may_begin_again() const;
    // Reopens the file at the position where reading began.
    bool begin_again();
    // Sends one packet to the decoder.
    std::optional<Progress> feed();
    // Moves a packet to the continuous clock.
    void take_splice(AVPacket& packet);
    // A packet is marked as corrupt; it may be an effect of a splice.
    void suspect();
    // Counts the suspected packet as damage.
    void settle_suspicion();
    // `end`, or `lost` if the file is truncated.
    Progress ended();
    // Counts one piece of damage and keeps the first text.
    void note_damage(const std::string& text);
    // Duration that the file declares, if a shorter one means truncation.
    std::optional<double> promised_seconds() const;
    // Duration of the video stream, if the format declares it.
    std::optional<double> length_seconds() const;
    std::int64_t start_time() const;
    // Frame rate by FFmpeg's guess, the average, or the default.
    Rational guess_rate() const;
    // Extends the last frame to the end of the stream.
    void show_to_the_end(AVFrame& frame) const;

    SourceOptions options_;
    std::shared_ptr<Interrupt> held_interrupt_;
    Interrupt& interrupt_;  // *held_interrupt_
    FfmpegAddress address_;
    FfmpegAddress::Kind kind_;
    std::string name_;
    std::unique_ptr<FfmpegDemuxer> demuxer_;
    AVFormatContext* format_ = nullptr;  // owned by demuxer_
    const AVStream* stream_ = nullptr;
    DamageAlarm alarm_;
    CodecPointer decoder_;
    bool alone_ = false;                 // decoders use one thread from now on
    std::optional<double> sought_;       // target of the last seek
    std::int64_t given_since_seek_ = 0;  // frames since the last seek or the opening
    std::int64_t read_before_seek_ = 0;
    PacketPointer packet_ = make_packet();
    std::optional<StreamSplices> splices_;  // only for formats that have splices
    std::optional<PacketReader> reader_;    // only if every frame of a live source is kept
    FramePointer ahead_ = make_frame();     // for files: the frame after the one returned, if `ahead_progress_`
    std::optional<Progress> ahead_progress_;
    // Number of packets after which a suspected corruption is counted; a splice before that explains it.
    int suspected_for_ = 0;
    std::chrono::milliseconds patience_{};  // per frame
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

// Limits on what FFmpeg may open. FFmpeg detects formats by content, not by name: without limits, a playlist named
// photo.jpg could expose other files of this machine or make it contact servers.

namespace framewire {

/// Content that the extension of a file allows: `.m3u8`, `.m3u`, `.mpd` and `.ffconcat` are playlists, and
/// is_image_name() decides for images.
FfmpegAddress::Contents contents_of(const std::string& path);

/// Value for FFmpeg's option format_whitelist. Files may use media demuxers, images may use image demuxers. Demuxers
/// that refer to other files (HLS, DASH, concat scripts ...) are allowed only for files with a playlist extension, and
/// HLS and DASH also from HTTP servers. Empty for cameras and generators, which are not files.
std::string allowed_formats(const FfmpegAddress& address);

/// Value for FFmpeg's option protocol_whitelist: files may refer to files only, network sources to the network only.
/// Empty for cameras and generators.
std::string allowed_protocols(const FfmpegAddress& address);

/// Format of a file that allowed_formats() excludes.
struct RefusedFormat {
    std::string name;  ///< FFmpeg's name of the format
    bool is_playlist;  ///< it would be read if the file had a playlist extension
};

/// Probes a file that could not be opened. Returns nullopt if its format is allowed or unknown.
std::optional<RefusedFormat> refused_format(const FfmpegAddress& file);

}  // namespace framewire
