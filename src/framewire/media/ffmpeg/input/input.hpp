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

/// One opening of a source by FFmpeg: demuxer and decoder of its best video stream.
class FfmpegInput {
public:
    enum class Progress { frame, end, stopped, lost };

    /// Opens within options.timeout where it has to wait. Owns all it uses, for calls that may be abandoned.
    /// Throws Error{no_input}: nothing there, no video, too large, or stopped.
    FfmpegInput(const FfmpegAddress& address, const SourceOptions& options, std::shared_ptr<Interrupt> interrupt);

    /// Decodes the next frame. Broken data is skipped or concealed and counted as damage; `lost` says that no more
    /// can be read though the source has not ended. The same file gives the same frames, errors and counts each time:
    /// with the first damage a file is decoded anew from where reading began, on one thread.
    Progress next(AVFrame& frame);

    /// Goes to a key frame before `seconds`, as seconds() counts them, or near there: next() says what came. False
    /// where there is no going.
    bool seek(double seconds);

    Rational rate() const { return rate_; }
    std::optional<std::int64_t> frames() const;
    /// How a frame is to be turned to be seen: by its own display matrix or EXIF data, else by the stream's matrix.
    Orientation orientation(const AVFrame& frame);
    /// Presentation time of a frame of this input from the stream's start, where it has one.
    std::optional<double> seconds(const AVFrame& frame) const;
    /// How long a frame is shown, where the file tells.
    std::optional<double> duration_seconds(const AVFrame& frame) const;
    /// A pixel's width over its height in a frame, as it is stored.
    Rational pixel_aspect(AVFrame& frame) const;
    /// When the stream begins, by its file's own times.
    double start_seconds() const;
    /// Whether next() may work on one picture for seconds: still images and pictures of more than 16 megapixels.
    bool may_take_long() const;
    /// A camera or a broadcast: no beginning to go back to.
    bool live() const { return live_; }

    /// Broken packets and frames so far, and what the first was; why next() gave `lost`.
    std::int64_t damaged() const { return damaged_; }
    const std::string& first_damage() const { return first_damage_; }
    const std::string& why_lost() const { return why_lost_; }

private:
    void open();
    void open_decoder();
    void begin_splices();
    Progress next_now(AVFrame& frame);
    Progress next_decoded(AVFrame& frame);
    Progress next_counted(AVFrame& frame);
    bool go_to(double seconds);
    bool has_frame_threads() const;
    bool is_unmarked() const;       // pictures do not say that they are broken
    bool checks_sums() const;       // pictures whose checksum is wrong are left out
    bool has_padded_alpha() const;  // what the pictures have in place of alpha is nothing
    bool may_begin_again() const;
    bool begin_again();
    std::optional<Progress> feed();
    void take_splice(AVPacket& packet);
    void suspect();
    void settle_suspicion();
    Progress ended();
    void note_damage(const std::string& text);
    std::optional<double> promised_seconds() const;
    std::optional<double> length_seconds() const;
    std::int64_t start_time() const;
    Rational guess_rate() const;
    void show_to_the_end(AVFrame& frame) const;

    SourceOptions options_;
    std::shared_ptr<Interrupt> held_interrupt_;
    Interrupt& interrupt_;  // that one
    FfmpegAddress address_;
    FfmpegAddress::Kind kind_;
    std::string name_;
    std::unique_ptr<FfmpegDemuxer> demuxer_;
    AVFormatContext* format_ = nullptr;  // the demuxer's
    const AVStream* stream_ = nullptr;
    DamageAlarm alarm_;
    CodecPointer decoder_;
    bool alone_ = false;                 // decoders have one thread from now on
    std::optional<double> sought_;       // where the last seek went
    std::int64_t given_since_seek_ = 0;  // frames since then, or since the opening
    std::int64_t read_before_seek_ = 0;
    PacketPointer packet_ = make_packet();
    std::optional<StreamSplices> splices_;  // in formats that have any
    std::optional<PacketReader> reader_;    // where every frame of a live source is wanted
    FramePointer ahead_ = make_frame();     // of a file: the frame after the one that was given, if `ahead_progress_`
    std::optional<Progress> ahead_progress_;
    // Packets after which one that was called broken counts as such; a splice before that explains it.
    int suspected_for_ = 0;
    std::chrono::milliseconds patience_{};  // for one frame
    bool live_ = false;
    bool late_ = false;  // the reader gave up
    Rational rate_{30, 1};
    bool warned_of_orientation_ = false;
    int tiff_orientation_ = 0;  // the number that the file has for it
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
