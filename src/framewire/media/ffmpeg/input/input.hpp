#pragma once

#include "framewire/media/ffmpeg/input/address.hpp"
#include "framewire/media/ffmpeg/input/demuxer.hpp"
#include "framewire/media/ffmpeg/input/packet_reader.hpp"
#include "framewire/media/ffmpeg/input/splices.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/orientation/orientation.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framewire {

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
