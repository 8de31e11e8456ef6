#include "framewire/media/ffmpeg/input/source.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/conversion/colour.hpp"
#include "framewire/media/ffmpeg/input/input.hpp"
#include "framewire/media/ffmpeg/picture.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace framewire {
namespace {

using namespace std::chrono_literals;
using Progress = FfmpegInput::Progress;

constexpr std::chrono::milliseconds longest_pause = 8s;
// Thirty years. Broken files claim times that no container could hold.
constexpr double longest_seconds = 1e9;

class FfmpegSource final : public Source {
public:
    FfmpegSource(FfmpegAddress address, const SourceOptions& options)
        : address_(std::move(address)), options_(options), interrupt_(options.stop) {
        input_ = std::make_unique<FfmpegInput>(address_, options_, interrupt_);
        open_first_frame();
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        if (interrupt_.stopped()) return false;
        if (!std::exchange(have_frame_, false) && !next_frame()) return false;
        const double seconds = frame_seconds();
        time = {index_, seconds, last_time_};
        convert(image);
        keep_own(image.shape());
        ++index_;
        av_frame_unref(frame_.get());
        return true;
    }

    std::shared_ptr<const OwnPicture> own_picture() const override { return own_; }

private:
    void open_first_frame() {
        switch (input_->next(*frame_)) {
            case Progress::frame: break;
            case Progress::stopped: fail(ErrorCode::no_input, "{}: stopped before its first frame", address_.name);
            case Progress::lost:
                fail(ErrorCode::source_lost, "{}: no frame could be read: {}", address_.name, input_->why_lost());
            case Progress::end:
                fail(ErrorCode::source_lost, "{}: it holds no frame that can be decoded{}{}", address_.name,
                     input_->damaged() ? ": " : "", input_->first_damage());
        }
        have_frame_ = true;
        refuse_hdr();
        take_overrides();
        const int channels = is_gray(static_cast<AVPixelFormat>(frame_->format)) ? 1 : 3;
        info_.name = address_.name;
        info_.shape = input_->orientation(*frame_).turned({1, frame_->height, frame_->width, channels});
        info_.rate = input_->rate();
        info_.live = input_->live();
        info_.frames = input_->frames();

        std::string assumed;
        const auto coding = coding_of(*frame_, assumed);
        info_.facts = facts(coding);
        if (address_.kind == FfmpegAddress::Kind::file && address_.contents != FfmpegAddress::Contents::image)
            info_.medium = {address_.name, input_->start_seconds() + input_->seconds(*frame_).value_or(0)};
        if (!assumed.empty())
            log_info("{}: its tags leave open what its colours mean; taken as {} (assumed: {})", address_.name,
                     to_string(coding), assumed);
    }

    // False at the end.
    bool next_frame() {
        if (!input_) return false;  // given up before
        switch (input_->next(*frame_)) {
            case Progress::frame: take_overrides(); return true;
            case Progress::stopped: return false;
            case Progress::end:
                if (input_->live()) return reconnect("the stream ended");
                if (input_->damaged())
                    fail(ErrorCode::source_lost, "{}: {} of its packets or pictures are broken, the first {}",
                         address_.name, input_->damaged(), input_->first_damage());
                return false;
            case Progress::lost: break;
        }
        if (input_->live()) return reconnect(input_->why_lost());
        fail(ErrorCode::source_lost, "{}: lost after {} frames: {}", address_.name, index_, input_->why_lost());
    }

    bool reconnect(std::string reason) {
        auto pause = std::min(options_.retry_pause, longest_pause);
        for (int attempt = 1; attempt <= options_.retries; ++attempt) {
            log_warning("{}: {}; attempt {} of {} to get it back in {:.2f} s", address_.name, reason, attempt,
                        options_.retries, std::chrono::duration<double>(pause).count());
            input_.reset();
            if (!wait(pause)) return false;
            pause = std::min(2 * pause, longest_pause);
            try {
                input_ = std::make_unique<FfmpegInput>(address_, options_, interrupt_);
                const auto progress = input_->next(*frame_);
                if (progress == Progress::stopped) return false;
                if (progress == Progress::frame) {
                    take_overrides();
                    rejoining_ = true;
                    log_info("{}: back again", address_.name);
                    return true;
                }
                reason = progress == Progress::lost ? input_->why_lost() : "the stream ended";
            } catch (const Error& error) {
                if (interrupt_.stopped()) return false;
                reason = error.what();
            }
        }
        fail(ErrorCode::source_lost, "{}: lost after {} frames, and {} attempts did not bring it back: {}",
             address_.name, index_, options_.retries, reason);
    }

    // False when told to stop.
    bool wait(std::chrono::milliseconds pause) {
        std::mutex mutex;
        std::condition_variable_any stopping;
        std::unique_lock lock(mutex);
        return !stopping.wait_for(lock, options_.stop, pause, [&] { return options_.stop.stop_requested(); });
    }

    // Never goes back nor beyond all reason, and after a gap goes on by as much as the gap was long.
    double frame_seconds() {
        const double step = 1 / info_.rate.value();
        const auto now = Clock::now();
        const auto own = input_->seconds(*frame_);
        double seconds = own ? *own + offset_seconds_ : last_seconds_ + step;
        if (index_ == 0) {
            offset_seconds_ = own ? -*own : 0;
            seconds = 0;
        } else if (std::exchange(rejoining_, false)) {
            seconds = last_seconds_ + std::max(step, milliseconds(last_time_, now) / 1000);
            offset_seconds_ = own ? seconds - *own : 0;
        } else if (!(seconds > last_seconds_ && seconds < longest_seconds)) {
            seconds = last_seconds_ + step;
        }
        last_seconds_ = seconds;
        last_time_ = now;
        return seconds;
    }

    void convert(HostView<std::uint8_t> image) {
        const auto orientation = input_->orientation(*frame_);
        const auto shape = orientation.turned({1, frame_->height, frame_->width, info_.shape.channels});
        if (shape != info_.shape && !std::exchange(warned_of_size_, true))
            log_warning("{}: its pictures change to {}x{} at frame {}; they are scaled to {}x{}, the first size",
                        address_.name, shape.width, shape.height, index_, info_.shape.width, info_.shape.height);
        std::string assumed;
        const auto coding = coding_of(*frame_, assumed);
        if (orientation.upright()) {
            converter_.to_image(*frame_, coding, image);
            return;
        }
        if (const auto stored = orientation.turned(info_.shape); stored_.shape() != stored) stored_ = HostImage(stored);
        converter_.to_image(*frame_, coding, stored_.view());
        turn(std::as_const(stored_).view(), orientation, image);
    }

    // Bright pictures of a wide range would come out dull and mislabelled: they are not what 8 bits of BGR can hold.
    void refuse_hdr() const {
        const bool pq = frame_->color_trc == AVCOL_TRC_SMPTE2084;
        if (!pq && frame_->color_trc != AVCOL_TRC_ARIB_STD_B67) return;
        fail(ErrorCode::config,
             "{}: it is of high dynamic range ({}), and framewire works on standard range; make it that first: ffmpeg "
             "-i "
             "{} -vf zscale=t=linear:npl=100,tonemap=hable,zscale=p=bt709:t=bt709:m=bt709:r=tv,format=yuv420p ...",
             address_.name, pq ? "PQ" : "HLG", address_.name);
    }

    // What the user says of the colours stands for what the medium says.
    void take_overrides() {
        if (is_rgb_picture()) return;
        if (options_.full_range) frame_->color_range = *options_.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
        if (!options_.matrix) return;
        std::string assumed;
        auto coding = coding_of(*frame_, assumed);
        coding.matrix = *options_.matrix;
        const auto range = frame_->color_range;
        tag(*frame_, coding);
        frame_->color_range = range;
    }

    bool is_rgb_picture() const {
        const auto* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame_->format));
        return !descriptor || (descriptor->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL));
    }

    // As it is decoded, where it is not turned, scaled or laid on black.
    void keep_own(const Shape& shape) {
        own_.reset();
        if (frame_->width != shape.width || frame_->height != shape.height || shape.channels != 3) return;
        if (!input_->orientation(*frame_).upright()) return;
        FramePointer kept(av_frame_clone(frame_.get()));
        if (kept) own_ = std::make_shared<const FfmpegPicture>(std::move(kept));
    }

    // What the first picture says of all.
    PictureFacts facts(const YuvCoding& coding) {
        PictureFacts facts;
        if (!is_rgb_picture() && info_.shape.channels == 3) facts.coding = coding;
        const auto* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame_->format));
        if (const int bits = descriptor ? descriptor->comp[0].depth : 8; bits > 8)
            log_info("{}: its pictures have {} bits a sample; 8 of them are worked with", address_.name, bits);
        if (frame_->color_primaries != AVCOL_PRI_UNSPECIFIED) facts.primaries = frame_->color_primaries;
        if (frame_->color_trc != AVCOL_TRC_UNSPECIFIED) facts.transfer = frame_->color_trc;
        facts.pixel_aspect = input_->pixel_aspect(*frame_);
        if (input_->orientation(*frame_).transposed)
            std::swap(facts.pixel_aspect.numerator, facts.pixel_aspect.denominator);
        return facts;
    }

    FfmpegAddress address_;
    SourceOptions options_;
    Interrupt interrupt_;
    std::unique_ptr<FfmpegInput> input_;
    SourceInfo info_;
    FramePointer frame_ = make_frame();
    bool have_frame_ = false;  // frame_ waits to be read
    std::shared_ptr<const FfmpegPicture> own_;
    HostImage stored_;  // a picture before it is turned, where one has to be
    PictureConverter converter_;
    bool warned_of_size_ = false;
    std::int64_t index_ = 0;
    double offset_seconds_ = 0;
    double last_seconds_ = 0;
    Clock::time_point last_time_{};
    bool rejoining_ = false;
};

}  // namespace

std::unique_ptr<Source> open_ffmpeg_source(FfmpegAddress address, const SourceOptions& options) {
    initialise_ffmpeg();
    return std::make_unique<FfmpegSource>(std::move(address), options);
}

}  // namespace framewire
