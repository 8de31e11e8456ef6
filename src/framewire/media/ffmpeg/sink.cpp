#include "framewire/media/ffmpeg/sink.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/media/conversion.hpp"
#include "framewire/media/ffmpeg/companions.hpp"
#include "framewire/media/ffmpeg/encoder.hpp"
#include "framewire/media/ffmpeg/output.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/media/sinks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

// Video sink: encoder, muxer and the streams copied from the medium. A recording must remain playable if the process is
// killed, so the muxer's buffers are written to the file at regular intervals (put_out()), and MP4 is written in
// fragments that are merged at the end.

namespace framewire {
namespace {

constexpr AVRational fine_clock{1, 90'000};  // whole ticks for every common frame rate
// Longest distance between two frames. A frame's decoding time may precede its presentation time by several frames, and
// FFmpeg's MP4 reader accepts at most 28 bits of the clock (49 minutes) for that difference. Nine frames of this
// distance fit; longer gaps are filled with repeated frames.
constexpr std::int64_t longest_frame_ticks = std::int64_t{300} * fine_clock.den;
// A larger jump in the source's timestamps is treated as an error, and the recording continues one frame later.
constexpr std::int64_t longest_gap_ticks = std::int64_t{30 * 24 * 3600} * fine_clock.den;

// Muxer and default codec of a target.
struct Plan {
    std::string url;
    const char* muxer;
    const char* codec;  // default codec
    bool live = false;
    bool file = false;           // true: one file that this class opens; false: FFmpeg opens what it needs
    bool constant_rate = false;  // the format has no timestamps
};

// Chooses muxer and codec by URL scheme and extension.
Plan plan_for(const SinkCall& call, bool live) {
    const auto path = call.kind->is_file ? call.path : network_address(call.path);
    const auto begins = [&](std::string_view beginning) { return path.starts_with(beginning); };
    const auto* h264 = "h264";
    if (lower_case(path).ends_with(".m3u8")) return {path, "hls", h264, true};
    if (begins("rtsp://") || begins("rtsps://")) return {path, "rtsp", h264, true};
    if (begins("rtmp://") || begins("rtmps://")) return {path, "flv", h264, true};
    // Seven TS packets per datagram are the most that fits into an Ethernet frame.
    if (begins("udp://") && path.find('?') == std::string::npos) return {path + "?pkt_size=1316", "mpegts", h264, true};
    if (!call.kind->is_file) return {path, "mpegts", h264, true};
    if (call.ending == ".mp4" || call.ending == ".m4v") return {path, "mp4", h264, live, true};
    if (call.ending == ".mov") return {path, "mov", h264, live, true};
    if (call.ending == ".ts") return {path, "mpegts", h264, live, true};
    if (call.ending == ".mkv") return {path, "matroska", "ffv1", live, true};
    if (call.ending == ".webm") return {path, "webm", "libvpx-vp9", live, true};
    if (call.ending == ".gif") return {path, "gif", "gif", live, true};
    return {path, "avi", "mjpeg", live, true, true};
}

// Returns true for the muxers whose files are rewritten at the end.
bool is_mp4(std::string_view muxer) { return muxer == "mp4" || muxer == "mov"; }

// Returns the time base of a target: one frame for formats without timestamps, 1/100 s for GIF.
AVRational clock_of(const Plan& plan, Rational rate) {
    if (plan.constant_rate) return {static_cast<int>(rate.denominator), static_cast<int>(rate.numerator)};
    return std::string_view(plan.muxer) == "gif" ? AVRational{1, 100} : fine_clock;
}

// A frame passes through these stages:
//
//    begin_frame()  timestamp, gap filling
//    encoder_       encode, with delay; delivers packets in decoding order
//    mux()          companion packets that are due, then the video packet
//    put_out()      at intervals: the muxer's buffers to the file
//
// finish() flushes the encoder, adds the remaining companion packets and chapters, writes the trailer, and for MP4
// rewrites the file.
class FfmpegSink final : public Sink {
public:
    FfmpegSink(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options)
        : name_(address_without_credentials(call.path)),
          shape_(frame),
          timeout_(options.timeout),
          interrupt_(options.stop) {
        const auto plan = plan_for(call, options.live);
        constant_rate_ = plan.constant_rate;
        AVFormatContext* format = nullptr;
        if (avformat_alloc_output_context2(&format, nullptr, plan.muxer, plan.url.c_str()) < 0)
            fail(ErrorCode::config, "{}: this FFmpeg cannot write {}", name_, plan.muxer);
        format_.reset(format);
        if (plan.file)
            format->flags |= AVFMT_FLAG_BITEXACT;  // without this flag, Matroska files contain random
                                                   // numbers
        format->interrupt_callback = interrupt_.callback();

        clock_ = clock_of(plan, rate);
        auto choice = EncoderChoice::from(call.values, plan.codec, plan.live);
        choice.hurry = options.hurry;
        const auto& encoder = find_encoder(choice);
        if (avformat_query_codec(format->oformat, encoder.id, FF_COMPLIANCE_NORMAL) == 0)
            fail(ErrorCode::usage, "{}: the format {} does not accept the encoder {}", name_, plan.muxer, encoder.name);
        encoder_.emplace(choice, VideoEncoder::Frames{frame, rate, clock_, options.facts}, options.encoder_threads,
                         (format->oformat->flags & AVFMT_GLOBALHEADER) != 0);
        stream_ = avformat_new_stream(format, nullptr);
        if (!stream_ || avcodec_parameters_from_context(stream_->codecpar, &encoder_->context()) < 0)
            fail(ErrorCode::config, "not enough memory to write {}", name_);
        stream_->time_base = clock_;
        stream_->avg_frame_rate = encoder_->context().framerate;
        stream_->sample_aspect_ratio = encoder_->context().sample_aspect_ratio;
        // Apple's players require this tag.
        if (is_mp4(plan.muxer) && encoder.id == AV_CODEC_ID_HEVC)
            stream_->codecpar->codec_tag = MKTAG('h', 'v', 'c', '1');

        first_seconds_ = options.begin_seconds;
        by_clock_ = options.once_only || is_mp4(plan.muxer);
        longest_held_back_ = options.longest_held_back;
        if (options.medium) bring_along(*options.medium, options);
        to_the_end_ = options.to_the_end;

        interrupt_.allow(timeout_);
        Dictionary dictionary;
        const std::string_view muxer = plan.muxer;
        if (plan.file) {
            file_.emplace(call.path, options.file_options(), failure_);
            format->pb = file_->context();
            format->flags |= AVFMT_FLAG_CUSTOM_IO;
        } else if (muxer == "hls" && call.kind->is_file) {
            hls_.emplace(call.path, options.file_options(), options.live, failure_);
            hls_->serve(*format);
            av_freep(&format->url);
            format->url = av_strdup(hls_->playlist().c_str());
            dictionary.set("hls_segment_filename", hls_->segment_pattern());
        } else if (!(format->oformat->flags & AVFMT_NOFILE)) {
            open_url(plan.url);
            format->pb = url_.get();
        }
        if (is_mp4(muxer)) {
            rewritten_muxer_ = plan.muxer;
            // Write fragments that can be played on their own, so that a recording survives a crash at any time.
            dictionary.set("movflags", "frag_custom+delay_moov+default_base_moof");
            dictionary.set("use_editlist", 1);
            // In milliseconds, all frames of a joined part would be shifted.
            if (options.begin_seconds) movie_ticks_ = fine_clock.den;
            dictionary.set("movie_timescale", movie_ticks_);
        }
        if (muxer == "hls") {
            dictionary.set("hls_time", 2);
            dictionary.set("hls_list_size", 0);  // keep all segments in the playlist
            dictionary.set("hls_playlist_type", "event");
        }
        if (muxer == "rtsp") dictionary.set("rtsp_transport", "tcp");
        check(avformat_write_header(format, dictionary.address()), "begin");
        begun_ = true;
    }

    ~FfmpegSink() override {
        // The trailer ends network sessions and closes what the muxer opened itself, including the memory in which the
        // HLS muxer buffers a segment. Files are left as they are.
        if (hls_) hls_->give_up();
        if (begun_ && !file_) av_write_trailer(format_.get());
    }

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        validate(image, shape_, "the frame to write");
        const auto pts = begin_frame(time);
        encoder_->encode(image, pts, [this](AVPacket& packet) { mux(packet); });
    }

    bool write_own(const NativeFrame& own, const FrameTime& time) override {
        const auto* picture = dynamic_cast<const DecodedPicture*>(&own);
        if (!picture || !encoder_->takes(picture->frame())) return false;
        const auto pts = begin_frame(time);
        encoder_->encode_own(picture->frame(), pts, [this](AVPacket& packet) { mux(packet); });
        return true;
    }

    std::optional<YuvInfo> planes() const override { return encoder_->planes(); }
    void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) override {
        const auto pts = begin_frame(time);
        encoder_->encode_planes(picture, pts, [this](AVPacket& packet) { mux(packet); });
    }

    void finish(Ending ending) override {
        if (!begun_) return;
        flush_encoder();
        give_rest_of_companions(ending);
        interrupt_.allow(timeout_);
        begun_ = false;
        if (hls_) hls_->end();
        if (rewritten_muxer_.empty()) add_chapters(*format_, ending);
        check(av_write_trailer(format_.get()), "complete");
        if (file_) {
            file_->flush();
            check(file_->context()->error, "complete");
            format_->pb = nullptr;
            if (!rewritten_muxer_.empty())
                put_moov_in_front(file_->file(), *format_, rewritten_muxer_, packets_, {pictures_, last_ticks_, clock_},
                                  movie_ticks_, [&](AVFormatContext& to) { add_chapters(to, ending); });
            file_->file().finish(ending);
        } else if (hls_) {
            hls_->finish(ending);
        } else if (url_) {
            avio_flush(url_.get());
            check(url_->error, "complete");
            url_.reset();
            format_->pb = nullptr;
        }
    }

    std::int64_t bytes() const override { return file_ ? file_->file().bytes() : hls_ ? hls_->bytes() : packet_bytes_; }

private:
    // Opens a network target.
    void open_url(const std::string& url) {
        AVIOContext* io = nullptr;
        check(avio_open2(&io, url.c_str(), AVIO_FLAG_WRITE, &format_->interrupt_callback, nullptr), "open");
        url_ = {io, [](AVIOContext* open) { avio_close(open); }};
    }

    // Rethrows an error of a write callback, or reports FFmpeg's own error; a timeout is reported as such.
    void check(int result, const char* doing) {
        failure_.rethrow();
        if (result >= 0) return;
        const auto text = ffmpeg_error(result);
        if (interrupt_.late())
            fail(ErrorCode::io, "cannot {} {}: it accepted no data for {:.1f} s", doing, name_,
                 std::chrono::duration<double>(timeout_).count());
        fail(ErrorCode::io, "cannot {} {}: {}", doing, name_, text);
    }

    // Encodes the remaining frames. The last packet gets the display duration of the last frame, even if it belongs to
    // another frame, because MP4 stores durations in decoding order.
    void flush_encoder() {
        const auto give = [this](AVPacket& packet) { mux(packet); };
        for (; last_ticks_ > longest_frame_ticks; last_ticks_ -= longest_frame_ticks)
            encoder_->repeat(last_pts_ += longest_frame_ticks, give);
        PacketPointer last;
        encoder_->flush([&](AVPacket& packet) {
            auto next = make_packet();
            av_packet_move_ref(next.get(), &packet);
            if (last) mux(*last);
            last = std::move(next);
        });
        if (!last) return;
        if (last_ticks_ > 0) last->duration = last_ticks_;
        mux(*last);
    }

    // Returns the display duration of a frame in ticks if it clearly exceeds the frame period, otherwise 0.
    std::int64_t long_ticks(const FrameTime& time) const {
        const double ticks = time.duration_seconds / av_q2d(clock_);
        const double frame_ticks = 1 / (av_q2d(clock_) * av_q2d(encoder_->context().framerate));
        const bool reported =
            !constant_rate_ && ticks > 1.5 * frame_ticks && ticks < static_cast<double>(longest_gap_ticks);
        return reported ? std::llround(ticks) : 0;
    }

    // Prepares for a frame and returns its timestamp.
    std::int64_t begin_frame(const FrameTime& time) {
        const auto pts = next_pts(time);
        // MP4 cannot represent a long gap in one frame: repeat the previous frame.
        while (!constant_rate_ && frames_ > 0 && pts - last_pts_ > longest_frame_ticks)
            encoder_->repeat(last_pts_ += longest_frame_ticks, [this](AVPacket& packet) { mux(packet); });
        last_pts_ = pts;
        last_ticks_ = long_ticks(time);
        ++frames_;
        if (companions_ && frames_ == 1) companions_->begin(time.seconds);
        return pts;
    }

    // Returns the timestamp of a frame, which is later than the previous one whatever the source's clock says.
    std::int64_t next_pts(const FrameTime& time) {
        if (constant_rate_) {
            uneven_.look_at(time, av_q2d(encoder_->context().framerate), name_);
            return frames_;
        }
        if (!first_seconds_) first_seconds_ = time.seconds;
        const double ticks = (time.seconds - *first_seconds_) / av_q2d(clock_) + static_cast<double>(shifted_ticks_);
        const auto frame_ticks =
            std::max(1LL, std::llround(1 / (av_q2d(clock_) * av_q2d(encoder_->context().framerate))));
        if (!(ticks <= static_cast<double>(last_pts_ + longest_gap_ticks))) {
            if (!std::exchange(warned_, true))
                log_warning("{}: the time jumps from {:.0f} s to {:.0f} s; the recording continues without the gap",
                            name_, static_cast<double>(last_pts_) * av_q2d(clock_), ticks * av_q2d(clock_));
            if (ticks < 9e18) shifted_ticks_ += last_pts_ + frame_ticks - std::llround(ticks);
            return last_pts_ + frame_ticks;
        }
        return std::max<std::int64_t>(std::llround(ticks), last_pts_ + 1);
    }

    // Opens the medium again for audio, subtitles and metadata. If that fails, the output is written without them.
    void bring_along(const MediumFile& medium, const SinkOptions& options) {
        try {
            const auto rate = encoder_->context().framerate;
            companions_.emplace(medium, Rational{rate.num, rate.den}, options);
        } catch (const Error& error) {
            log_warning("{}: written without the audio and subtitles of {}: {}", name_, medium.path, error.what());
            return;
        }
        companions_->join(*format_, name_);
        chapters_ = options.segments.seconds == 0;
    }

    // Copies the companion packets that follow the last video packet: up to the end of the last frame, or all of them.
    void give_rest_of_companions(Ending ending) {
        if (!companions_ || frames_ == 0) return;
        const auto put = [this](AVPacket& packet) { return put_companion(packet); };
        if (to_the_end_ && ending == Ending::complete) return companions_->give_all(*format_, put);
        companions_->give_until(end_seconds(), *format_, put);
    }

    // Adds the chapters, which need the final duration: MP4 stores them as a track in the rewritten header, Matroska
    // accepts them with the trailer.
    void add_chapters(AVFormatContext& to, Ending ending) const {
        if (!companions_ || !chapters_ || frames_ == 0) return;
        const bool whole = to_the_end_ && ending == Ending::complete;
        companions_->add_chapters(to, whole ? std::numeric_limits<double>::infinity() : end_seconds());
    }

    // Returns the end of the last frame in the output's time.
    double end_seconds() const {
        return static_cast<double>(last_pts_) * av_q2d(clock_) +
               std::max(static_cast<double>(last_ticks_) * av_q2d(clock_), 1 / av_q2d(encoder_->context().framerate));
    }

    // Writes a packet of a copied stream; returns false if the muxer rejects it.
    bool put_companion(AVPacket& packet) {
        interrupt_.allow(timeout_);
        packet_bytes_ += packet.size;
        ++packets_;
        const int result = av_write_frame(format_.get(), &packet);
        if (failure_.any() || (format_->pb && format_->pb->error < 0)) check(result, "write");
        return result >= 0;
    }

    // Writes a video packet, after the companion packets that precede it.
    void mux(AVPacket& packet) {
        const auto& encoder = encoder_->context();
        if (last_ticks_ > 0 && packet.pts == last_pts_) packet.duration = last_ticks_;
        if (packet.duration == 0) packet.duration = av_rescale_q(1, av_inv_q(encoder.framerate), encoder.time_base);
        if (companions_)
            companions_->give_until(static_cast<double>(packet.dts) * av_q2d(encoder.time_base), *format_,
                                    [this](AVPacket& other) { return put_companion(other); });
        av_packet_rescale_ts(&packet, encoder.time_base, stream_->time_base);
        packet.stream_index = stream_->index;
        packet_bytes_ += packet.size;
        ++packets_;
        ++pictures_;
        const double seconds = static_cast<double>(packet.dts) * av_q2d(stream_->time_base);
        if (!put_out_seconds_) put_out_seconds_ = seconds;
        interrupt_.allow(timeout_);
        // With companion streams, packets already arrive in order; FFmpeg's interleaving would wait for packets of
        // sparse subtitle streams.
        check(companions_ ? av_write_frame(format_.get(), &packet) : av_interleaved_write_frame(format_.get(), &packet),
              "write");
        const auto held_back_ms = by_clock_ ? milliseconds_since(put_out_) : 1000 * (seconds - *put_out_seconds_);
        if (!file_ || held_back_ms < static_cast<double>(longest_held_back_.count())) return;
        put_out();
        put_out_seconds_ = seconds;
    }

    // Writes everything that the muxer has buffered to the file, in a playable form.
    void put_out() {
        const bool mp4 = !rewritten_muxer_.empty();
        if (mp4 && companions_ && !companions_->described()) return;
        if (format_->oformat->flags & AVFMT_ALLOW_FLUSH) check(av_write_frame(format_.get(), nullptr), "write");
        if (mp4) begin_late_streams(*format_);
        file_->flush();
        file_->file().mark_whole();
        put_out_ = Clock::now();
    }

    std::string name_;
    Shape shape_;
    std::chrono::milliseconds timeout_;
    Interrupt interrupt_;
    CallbackFailure failure_;
    // Exactly one of these is set, except for protocols that open what they need themselves.
    std::optional<OutputIo> file_;
    std::optional<HlsFiles> hls_;
    std::unique_ptr<AVIOContext, void (*)(AVIOContext*)> url_{nullptr, nullptr};
    std::optional<VideoEncoder> encoder_;
    OutputPointer format_;
    AVStream* stream_ = nullptr;
    std::optional<Companions> companions_;
    bool chapters_ = false;    // copy chapters
    bool to_the_end_ = false;  // copy companion packets beyond the last frame
    AVRational clock_ = fine_clock;
    std::string rewritten_muxer_;  // MP4 muxer whose file is rewritten at the end; otherwise empty
    int movie_ticks_ = mp4_movie_ticks;
    bool constant_rate_ = false;
    bool begun_ = false;   // true from the header to the trailer
    bool warned_ = false;  // a warning about timestamps was logged
    UnevenTimes uneven_;
    std::optional<double> first_seconds_;
    std::int64_t shifted_ticks_ = 0;  // correction for invalid timestamps
    std::int64_t last_pts_ = -1;
    std::int64_t last_ticks_ = 0;  // display duration of the last frame if it is long, else 0
    std::int64_t frames_ = 0;
    std::int64_t packet_bytes_ = 0;
    std::int64_t packets_ = 0;
    std::int64_t pictures_ = 0;  // number of video packets
    // True if longest_held_back_ is measured with the clock, false if in the recording's time. A muxer writes different
    // bytes depending on when it is flushed, so reproducible files need the recording's time. The clock is used if runs
    // differ anyway (live input), and for MP4, which is rewritten at the end.
    bool by_clock_ = false;
    std::chrono::milliseconds longest_held_back_{};
    Clock::time_point put_out_ = Clock::now();
    std::optional<double> put_out_seconds_;  // packet time of the last put_out()
};

}  // namespace

std::unique_ptr<Sink> open_ffmpeg_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                       const SinkOptions& options) {
    initialise_ffmpeg();
    return std::make_unique<FfmpegSink>(call, frame, rate, options);
}

}  // namespace framewire

// WebP files. Still images and animations use different encoders, so the choice is made when a second frame arrives or
// the file ends.

namespace framewire {
namespace {

constexpr AVRational webp_clock{1, 1000};
constexpr std::int64_t longest_webp_frame_ms = (1 << 24) - 1;  // the format has 24 bits for a frame's duration

// Sink that keeps the first frame until it is known whether a second one follows.
class WebpSink final : public Sink {
public:
    WebpSink(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options)
        : shape_(frame),
          rate_(rate),
          encode_still_(still_encoder(call)),
          choice_(EncoderChoice::from(call.values, "libwebp_anim", false)),
          first_(frame),
          file_(call.path, options.file_options()) {}

    // Encodes a frame. Its duration is the distance to the next timestamp, at least 1 ms and at most what 24 bits hold.
    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        validate(image, shape_, "the frame to write");
        if (frames_++ == 0) {
            first_seconds_ = time.seconds;
            return copy(image, first_.view());
        }
        if (!encoder_) begin();
        const auto ms = std::llround((time.seconds - first_seconds_) * 1000);
        last_ms_ = std::clamp<std::int64_t>(ms, last_ms_ + 1, last_ms_ + longest_webp_frame_ms);
        encoder_->encode(image, last_ms_, [this](AVPacket& packet) { take(packet); });
    }

    // Writes the file: a still image if there was one frame, otherwise the animation.
    void finish(Ending ending) override {
        if (frames_ == 0) return log_warning("{}: no frame arrived, so no image was written", file_.name());
        if (encoder_)
            encoder_->flush([this](AVPacket& packet) { take(packet); });
        else
            bytes_ = encode_still_(std::as_const(first_).view());
        file_.write(bytes_.data(), bytes_.size());
        file_.finish(ending);
    }

    std::int64_t bytes() const override { return std::ssize(bytes_); }

private:
    // Starts an animation with the stored first frame.
    void begin() {
        encoder_.emplace(choice_, VideoEncoder::Frames{.shape = shape_, .rate = rate_, .time_base = webp_clock}, 1,
                         false);
        encoder_->encode(std::as_const(first_).view(), 0, [this](AVPacket& packet) { take(packet); });
    }
    // Collects the encoder's output; the encoder returns the whole file as one packet.
    void take(const AVPacket& packet) { bytes_.insert(bytes_.end(), packet.data, packet.data + packet.size); }

    Shape shape_;
    Rational rate_;
    EncodeImage encode_still_;
    EncoderChoice choice_;
    HostImage first_;
    std::optional<VideoEncoder> encoder_;  // created with the second frame
    std::vector<std::uint8_t> bytes_;
    OutputFile file_;
    std::int64_t frames_ = 0;
    double first_seconds_ = 0;
    std::int64_t last_ms_ = 0;
};

}  // namespace

std::unique_ptr<Sink> open_webp_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                     const SinkOptions& options) {
    return std::make_unique<WebpSink>(call, frame, rate, options);
}

}  // namespace framewire
