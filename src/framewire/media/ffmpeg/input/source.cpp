#include "framewire/media/ffmpeg/input/source.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/conversion/colour.hpp"
#include "framewire/media/ffmpeg/input/input.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
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
        const double seconds = std::exchange(has_time_, false) ? last_seconds_ : frame_seconds();
        time = {index_, seconds, last_time_};
        convert(image);
        ++index_;
        av_frame_unref(frame_.get());
        return true;
    }

    bool seek(double seconds) override {
        if (input_ && input_->live()) return false;
        if (!go_by_index(seconds)) go_from_start(seconds);
        return true;
    }

private:
    // Times of frames are sums of fractions: so much apart they are the same.
    static constexpr double same_time_s = 1e-6;

    // By the key frame before. False where there is none to be had, or no times.
    bool go_by_index(double seconds) {
        if (!input_) return false;
        if (have_frame_ && !began_) offset_seconds_ = -input_->seconds(*frame_).value_or(0);
        have_frame_ = false;
        // Where the demuxer comes out behind the time, it is sent further back.
        constexpr double first_back_s = 1, further = 4;
        for (double back_s = 0; seconds - back_s > 0; back_s = std::max(first_back_s, further * back_s)) {
            if (!input_->seek(seconds - back_s - offset_seconds_)) return false;
            const auto key = next_key_frame();
            if (interrupt_.stopped()) return true;
            if (!key || *key + offset_seconds_ > seconds + same_time_s) continue;
            entered_s_ = *key + offset_seconds_;
            return go_on_to(seconds);
        }
        return false;
    }

    // What can be decoded without what is before it, and its time. Frames before it may be broken after a seek.
    std::optional<double> next_key_frame() {
        while (input_->next(*frame_) == Progress::frame)
            if (frame_->key_frame) return input_->seconds(*frame_);
        return std::nullopt;
    }

    // From a frame that is there on. False where one has no time.
    bool go_on_to(double seconds) {
        for (;;) {
            const auto own = input_->seconds(*frame_);
            if (!own) return false;
            const double time = *own + offset_seconds_;
            if (time >= seconds - same_time_s) {
                index_ = std::llround(time * info_.rate.value());
                began_ = true;
                hold_frame(time);
                return true;
            }
            last_seconds_ = time;
            av_frame_unref(frame_.get());
            if (!next_frame()) return true;
        }
    }

    // At the end: a decoder that came into a stream of H.264 between its groups keeps back the last frames where no
    // other group follows. From a group earlier it gives them. False where there is none.
    bool reenter() {
        const auto key_s = std::exchange(entered_s_, std::nullopt);
        constexpr double before_s = 1e-3, later_s = 1e-4;  // frames are further apart
        if (!key_s || *key_s < before_s || !input_->seek(*key_s - before_s - offset_seconds_)) return false;
        for (auto own = next_key_frame(); own; own = input_->seconds(*frame_)) {
            if (*own + offset_seconds_ > last_seconds_ + later_s) return true;
            if (input_->next(*frame_) != Progress::frame) return false;
        }
        return false;
    }

    void go_from_start(double seconds) {
        input_.reset();
        input_ = std::make_unique<FfmpegInput>(address_, options_, interrupt_);
        index_ = 0;
        began_ = false;
        have_frame_ = false;
        entered_s_.reset();
        for (; next_frame(); ++index_) {
            const double time = frame_seconds();
            if (time >= seconds - same_time_s) return hold_frame(time);
            av_frame_unref(frame_.get());
        }
    }

    void hold_frame(double seconds) {
        last_seconds_ = seconds;
        last_time_ = Clock::now();
        have_frame_ = true;
        has_time_ = true;
    }

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
        const int channels = is_gray(static_cast<AVPixelFormat>(frame_->format)) ? 1 : 3;
        info_.name = address_.name;
        info_.shape = input_->orientation(*frame_).turned({1, frame_->height, frame_->width, channels});
        info_.rate = input_->rate();
        info_.live = input_->live();
        info_.frames = input_->frames();

        std::string assumed;
        const auto coding = coding_of(*frame_, assumed);
        if (!assumed.empty())
            log_info("{}: its tags leave open what its colours mean; taken as {} (assumed: {})", address_.name,
                     to_string(coding), assumed);
    }

    // False at the end.
    bool next_frame() {
        if (!input_) return false;  // given up before
        switch (input_->next(*frame_)) {
            case Progress::frame:
                if (frame_->key_frame) entered_s_.reset();
                return true;
            case Progress::stopped: return false;
            case Progress::end:
                if (input_->live()) return reconnect("the stream ended");
                if (reenter()) return true;
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
        if (!std::exchange(began_, true)) {
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

    FfmpegAddress address_;
    SourceOptions options_;
    Interrupt interrupt_;
    std::unique_ptr<FfmpegInput> input_;
    SourceInfo info_;
    FramePointer frame_ = make_frame();
    bool have_frame_ = false;          // frame_ waits to be read
    bool has_time_ = false;            // which last_seconds_ is the time of
    std::optional<double> entered_s_;  // the key frame that a seek came to, where none followed since
    bool began_ = false;               // offset_seconds_ is known
    HostImage stored_;                 // a picture before it is turned, where one has to be
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
