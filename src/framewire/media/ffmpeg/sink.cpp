#include "framewire/media/ffmpeg/sink.hpp"

#include "framewire/core/credentials.hpp"
#include "framewire/media/ffmpeg/encoder.hpp"
#include "framewire/media/files.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <string_view>

namespace framewire {
namespace {

constexpr int io_buffer_bytes = 1 << 16;
constexpr AVRational fine_clock{1, 90'000};  // whole ticks for every common frame rate

// How a target is written.
struct Plan {
    std::string url;
    const char* muxer;
    VideoCodec codec;
    bool file = false;           // one file of ours; else FFmpeg opens what it needs
    bool constant_rate = false;  // the format knows no time stamps
};

Plan plan_for(const std::string& text, bool live) {
    const auto ends = [&](std::string_view ending) { return text.ends_with(ending); };
    const auto begins = [&](std::string_view beginning) { return text.starts_with(beginning); };
    const auto h264 = live ? VideoCodec::h264_live : VideoCodec::h264;
    if (ends(".m3u8")) return {text, "hls", VideoCodec::h264_live};
    if (begins("rtsp://") || begins("rtsps://")) return {text, "rtsp", VideoCodec::h264_live};
    if (begins("rtmp://") || begins("rtmps://")) return {text, "flv", VideoCodec::h264_live};
    // Packets of seven TS packets each, the most that fits one Ethernet frame.
    if (begins("udp://") && text.find('?') == std::string::npos)
        return {text + "?pkt_size=1316", "mpegts", VideoCodec::h264_live};
    if (text.find("://") != std::string::npos) return {text, "mpegts", VideoCodec::h264_live};
    if (ends(".mp4")) return {text, "mp4", h264, true};
    if (ends(".mkv")) return {text, "matroska", VideoCodec::ffv1, true};
    return {text, "avi", VideoCodec::mjpeg, true, true};
}

class FfmpegSink final : public Sink {
public:
    FfmpegSink(const std::string& text, const Shape& frame, Rational rate, const SinkOptions& options)
        : name_(without_credentials(text)), shape_(frame), timeout_(options.timeout), interrupt_(options.stop) {
        const auto plan = plan_for(text, options.live);
        constant_rate_ = plan.constant_rate;
        AVFormatContext* format = nullptr;
        if (avformat_alloc_output_context2(&format, nullptr, plan.muxer, plan.url.c_str()) < 0)
            fail(ErrorCode::config, "{}: this FFmpeg cannot write {}", name_, plan.muxer);
        format_.reset(format);
        format->interrupt_callback = interrupt_.callback();

        const AVRational time_base =
            constant_rate_ ? AVRational{static_cast<int>(rate.denominator), static_cast<int>(rate.numerator)}
                           : fine_clock;
        encoder_.emplace(plan.codec, frame, rate, time_base, options.encoder_threads,
                         (format->oformat->flags & AVFMT_GLOBALHEADER) != 0);
        stream_ = avformat_new_stream(format, nullptr);
        if (!stream_ || avcodec_parameters_from_context(stream_->codecpar, &encoder_->context()) < 0)
            fail(ErrorCode::config, "no memory to write {}", name_);
        stream_->time_base = time_base;
        stream_->avg_frame_rate = encoder_->context().framerate;

        interrupt_.allow(timeout_);
        if (plan.file)
            open_file(text, options);
        else if (std::string_view(plan.muxer) == "hls" && text.find("://") == std::string::npos)
            OutputFile probe(text);  // FFmpeg would only notice with the first part that is complete
        else if (!(format->oformat->flags & AVFMT_NOFILE))
            open_url(plan.url);
        format->pb = io_.get();
        Dictionary dictionary;
        if (std::string_view(plan.muxer) == "hls") {
            dictionary.set("hls_time", 2);
            dictionary.set("hls_list_size", 0);  // all of it stays: nothing that was written is taken away again
        }
        if (std::string_view(plan.muxer) == "rtsp") dictionary.set("rtsp_transport", "tcp");
        check(avformat_write_header(format, dictionary.address()), "begin");
        begun_ = true;
    }

    ~FfmpegSink() override {
        // Says goodbye to the other side, and closes what the muxer opened itself.
        if (begun_ && !file_) av_write_trailer(format_.get());
    }

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        validate(image, shape_, "the frame to write");
        if (!first_seconds_) first_seconds_ = time.seconds;
        std::int64_t pts = frames_;
        if (!constant_rate_) pts = std::llround((time.seconds - *first_seconds_) / av_q2d(fine_clock));
        pts = std::max(pts, last_pts_ + 1);
        last_pts_ = pts;
        ++frames_;
        encoder_->encode(image, pts, [this](AVPacket& packet) { mux(packet); });
    }

    void finish() override {
        if (!begun_) return;
        encoder_->flush([this](AVPacket& packet) { mux(packet); });
        interrupt_.allow(timeout_);
        begun_ = false;
        check(av_write_trailer(format_.get()), "complete");
        if (io_) {
            avio_flush(io_.get());
            check(io_->error, "complete");
            io_.reset();
            format_->pb = nullptr;
        }
        if (file_) file_->finish();
    }

    std::int64_t bytes() const override { return file_ ? file_->bytes() : packet_bytes_; }

private:
    void open_file(const std::string& path, const SinkOptions& options) {
        file_.emplace(path, options.stop);
        auto* buffer = static_cast<unsigned char*>(av_malloc(io_buffer_bytes));
        if (!buffer) fail(ErrorCode::config, "no memory to write {}", name_);
        const auto write_file = [](void* self, std::uint8_t* data, int bytes) {
            return static_cast<FfmpegSink*>(self)->guarded([&](OutputFile& file) {
                file.write(data, static_cast<std::size_t>(bytes));
                return std::int64_t{bytes};
            });
        };
        const auto seek_file = [](void* self, std::int64_t offset, int whence) -> std::int64_t {
            if (whence != SEEK_SET) return AVERROR(ENOSYS);
            return static_cast<FfmpegSink*>(self)->guarded64([&](OutputFile& file) {
                file.seek(offset);
                return offset;
            });
        };
        io_ = {avio_alloc_context(buffer, io_buffer_bytes, 1, this, nullptr, write_file,
                                  file_->seekable() ? +seek_file : nullptr),
               [](AVIOContext* io) {
                   av_freep(&io->buffer);
                   avio_context_free(&io);
               }};
        if (!io_) {
            av_free(buffer);
            fail(ErrorCode::config, "no memory to write {}", name_);
        }
        format_->flags |= AVFMT_FLAG_CUSTOM_IO;
    }

    void open_url(const std::string& url) {
        AVIOContext* io = nullptr;
        check(avio_open2(&io, url.c_str(), AVIO_FLAG_WRITE, &format_->interrupt_callback, nullptr), "open");
        io_ = {io, [](AVIOContext* open) { avio_close(open); }};
    }

    // C++ exceptions must not pass through FFmpeg: kept, and thrown once it has returned.
    template <class Body>
    std::int64_t guarded64(Body&& body) noexcept {
        try {
            return body(*file_);
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
            return AVERROR(EIO);
        }
    }
    template <class Body>
    int guarded(Body&& body) noexcept {
        return static_cast<int>(guarded64(body));
    }

    void rethrow() {
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

    void check(int result, const char* doing) {
        rethrow();
        if (result >= 0) return;
        const auto text = ffmpeg_error(result);
        if (interrupt_.late())
            fail(ErrorCode::io, "cannot {} {}: it took nothing for {:.1f} s", doing, name_,
                 std::chrono::duration<double>(timeout_).count());
        fail(ErrorCode::io, "cannot {} {}: {}", doing, name_, text);
    }

    void mux(AVPacket& packet) {
        const auto& encoder = encoder_->context();
        if (packet.duration == 0) packet.duration = av_rescale_q(1, av_inv_q(encoder.framerate), encoder.time_base);
        av_packet_rescale_ts(&packet, encoder.time_base, stream_->time_base);
        packet.stream_index = stream_->index;
        packet_bytes_ += packet.size;
        interrupt_.allow(timeout_);
        check(av_interleaved_write_frame(format_.get(), &packet), "write");
    }

    std::string name_;
    Shape shape_;
    std::chrono::milliseconds timeout_;
    Interrupt interrupt_;
    std::optional<OutputFile> file_;
    std::unique_ptr<AVIOContext, void (*)(AVIOContext*)> io_{nullptr, nullptr};
    std::optional<VideoEncoder> encoder_;
    OutputPointer format_;
    AVStream* stream_ = nullptr;
    std::exception_ptr failure_;
    bool constant_rate_ = false;
    bool begun_ = false;  // header written, trailer not
    std::optional<double> first_seconds_;
    std::int64_t last_pts_ = -1;
    std::int64_t frames_ = 0;
    std::int64_t packet_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Sink> open_ffmpeg_sink(const std::string& text, const Shape& frame, Rational rate,
                                       const SinkOptions& options) {
    initialise_ffmpeg();
    return std::make_unique<FfmpegSink>(text, frame, rate, options);
}

std::vector<std::uint8_t> encode_jpeg(HostView<const std::uint8_t> image) {
    initialise_ffmpeg();
    VideoEncoder encoder(VideoCodec::jpeg, image.shape(), {1, 1}, {1, 1}, 1, false);
    std::vector<std::uint8_t> bytes;
    const auto append = [&](AVPacket& packet) { bytes.insert(bytes.end(), packet.data, packet.data + packet.size); };
    encoder.encode(image, 0, append);
    encoder.flush(append);
    return bytes;
}

}  // namespace framewire
