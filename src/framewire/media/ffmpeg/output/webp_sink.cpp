// WebP files. Still images and animations use different encoders, and the choice depends on whether a second frame
// comes.

#include "framewire/media/ffmpeg/output/webp_sink.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/ffmpeg/encoding/encoder.hpp"
#include "framewire/media/ffmpeg/encoding/still_encoder.hpp"
#include "framewire/media/files/output_file.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace framewire {
namespace {

constexpr AVRational webp_clock{1, 1000};
constexpr std::int64_t longest_webp_frame_ms = (1 << 24) - 1;  // the format has 24 bits for a frame's duration

// Keeps the first frame until it is known whether a second one follows.
class WebpSink final : public Sink {
public:
    WebpSink(const SinkCall& call, const Shape& frame, Rational rate, const SinkOptions& options)
        : shape_(frame),
          rate_(rate),
          encode_still_(still_encoder(call)),
          choice_(EncoderChoice::from(call.values, "libwebp_anim", false)),
          first_(frame),
          file_(call.path, options.file_options()) {}

    // A frame's duration is the distance to the next timestamp, at least 1 ms and at most what 24 bits hold.
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

    // One frame becomes a still image, several an animation.
    void finish(Ending ending) override {
        if (frames_ == 0) return log_warning("{}: no frame came, so no image was written", file_.name());
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
    // The encoder returns the whole file as one packet.
    void take(const AVPacket& packet) { bytes_.insert(bytes_.end(), packet.data, packet.data + packet.size); }

    Shape shape_;
    Rational rate_;
    EncodeImage encode_still_;
    EncoderChoice choice_;
    HostImage first_;
    std::optional<VideoEncoder> encoder_;  // from the second frame on
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
