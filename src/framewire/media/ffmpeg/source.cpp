#include "framewire/media/ffmpeg/source.hpp"
#include "framewire/core/abandonable_call.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/retry_pauses.hpp"
#include "framewire/media/conversion.hpp"
#include "framewire/media/ffmpeg/input.hpp"

// Adapts FFmpeg's inputs to framewire's sources: monotonic timestamps, exact seeking, reconnection of live sources, and
// conversion to images. An FfmpegInput represents one opening of the source; this class replaces it after a
// reconnection, and for a seek that has to read from the start.

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace framewire {
namespace {

using namespace std::chrono_literals;
using Progress = FfmpegInput::Progress;

// Thirty years: corrupt files declare times that no real recording reaches.
constexpr double longest_seconds = 1e9;
// Smallest increment of a live source's time. A network camera's time jumps back slightly when RTCP reports its clock,
// and Matroska rounds to milliseconds.
constexpr double least_live_step_s = 0.001;

// Source that reads through FFmpeg. input_ is null while loss_ is set (a live source is away) and after giving up.
class FfmpegSource final : public Source {
public:
    FfmpegSource(FfmpegAddress address, const SourceOptions& options)
        : address_(std::move(address)), options_(options), interrupt_(std::make_shared<Interrupt>(options.stop)) {
        input_ = open_input();
        open_first_frame();
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override { return read_frame(image, time, true); }
    bool read_own(HostView<std::uint8_t> image, FrameTime& time) override { return read_frame(image, time, false); }

    // A picture on the GPU is converted there.
    bool capture(Frame& frame, FrameTime& time) override {
        return read_frame(frame.fill_on_host(), time, true, &frame);
    }

    std::shared_ptr<const NativeFrame> native_frame() const override { return own_; }

    bool is_at_new_size() const override { return have_frame_ && input_ && is_of_new_size(); }

    bool take_new_size() override {
        if (!is_at_new_size()) return false;
        refuse_hdr();
        own_.reset();
        describe_pictures();
        return true;
    }

    bool seek(double seconds) override {
        if (input_ && input_->live()) return false;
        if (!go_by_index(seconds)) go_from_start(seconds);
        return true;
    }

    std::int64_t damaged() const override { return input_ ? input_->damaged() : 0; }

private:
    // Result of next_frame(): a frame in frame_, no frame because the source is away, or the end of the source.
    enum class Next { frame, away, none };

    // Reads a frame into `image`, or into the GPU image of `on_gpu`. Without `with_image`, the conversion is skipped if
    // the native frame is available.
    bool read_frame(HostView<std::uint8_t> image, FrameTime& time, bool with_image, Frame* on_gpu = nullptr) {
        validate(image, info_.shape, "the image to read into");
        if (interrupt_->stopped()) return false;
        if (!std::exchange(have_frame_, false)) {
            const auto next = next_frame();
            if (next == Next::away) return read_loss(image, time);
            if (next == Next::none) return false;
        }
        if (is_of_new_size()) {
            have_frame_ = true;
            return false;
        }
        if (options_.sound)
            if (const auto own = input_->seconds(*frame_)) options_.sound->mark(*own);
        const double seconds = std::exchange(has_time_, false) ? last_seconds_ : frame_seconds();
        const bool file = address_.kind == FfmpegAddress::Kind::file;
        const double duration = file ? input_->duration_seconds(*frame_).value_or(0) : 0;
        time = {index_, seconds, last_time_, duration < longest_seconds ? duration : 0};
        keep_own(image.shape());
        const bool is_there = own_ && (!with_image || (on_gpu && own_->fill_on_gpu(*on_gpu)));
        if (!is_there) convert(*frame_, input_->orientation(*frame_), image);
        ++index_;
        // Keep the frame, because losses are drawn over it.
        if (input_->live() && options_.draw_loss) {
            last_orientation_ = input_->orientation(*frame_);
            std::swap(last_, frame_);
        }
        av_frame_unref(frame_.get());
        return true;
    }

    // Returns the shape of a frame as displayed.
    Shape shape_of(const AVFrame& frame, int channels) const {
        return input_->orientation(frame).turned({1, frame.height, frame.width, channels});
    }

    bool is_of_new_size() const {
        return options_.follows_size && input_->live() && shape_of(*frame_, info_.shape.channels) != info_.shape;
    }

    // Frame times are sums of fractions: times this close are equal.
    static constexpr double same_time_s = 1e-6;

    // Seeks with the demuxer to a key frame before `seconds` and decodes from there. Returns false if the source cannot
    // seek or its frames have no times.
    bool go_by_index(double seconds) {
        if (!input_) return false;
        if (have_frame_ && !began_) offset_seconds_ = -input_->seconds(*frame_).value_or(0);
        have_frame_ = false;
        // If the demuxer lands after the requested time, seek further back: first by 1 s, then 4 times as far each
        // time.
        constexpr double first_back_s = 1, further = 4;
        for (double back_s = 0; seconds - back_s > 0; back_s = std::max(first_back_s, further * back_s)) {
            if (!input_->seek(seconds - back_s - offset_seconds_)) return false;
            const auto key = next_key_frame();
            if (interrupt_->stopped()) return true;
            if (!key || *key + offset_seconds_ > seconds + same_time_s) continue;
            entered_s_ = *key + offset_seconds_;
            return go_on_to(seconds);
        }
        return false;
    }

    // Opens the input on a thread that can be abandoned: FFmpeg decodes the first pictures of some streams, which
    // cannot be interrupted.
    std::shared_ptr<FfmpegInput> open_input() {
        const auto opened = std::make_shared<std::shared_ptr<FfmpegInput>>();
        const bool done = run_abandonable(
            [opened, address = address_, options = options_, interrupt = interrupt_] {
                *opened = std::make_shared<FfmpegInput>(address, options, interrupt);
            },
            options_.stop);
        if (!done) fail(ErrorCode::no_input, "{}: stopped while opening", address_.name);
        return std::move(*opened);
    }

    // Decodes a large picture on a thread that a stop request abandons: 16,000 x 16,000 pixels take seconds.
    Progress next_large_picture() {
        struct Result {
            FramePointer frame = make_frame();
            Progress progress = Progress::stopped;
        };
        const auto result = std::make_shared<Result>();
        const auto decode = [result, input = input_] { result->progress = input->next(*result->frame); };
        if (!run_abandonable(decode, options_.stop)) {
            input_.reset();
            return Progress::stopped;
        }
        if (result->progress == Progress::frame) {
            av_frame_unref(frame_.get());
            av_frame_move_ref(frame_.get(), result->frame.get());
        }
        return result->progress;
    }

    // Decodes the next picture and applies the user's colour overrides.
    Progress next_picture() {
        const auto progress = input_->may_take_long() ? next_large_picture() : input_->next(*frame_);
        if (progress == Progress::frame) take_overrides();
        return progress;
    }

    // Decodes up to the next key frame and returns its time. After a seek, frames before the key frame may be corrupt.
    std::optional<double> next_key_frame() {
        while (next_picture() == Progress::frame)
            if (frame_->key_frame) return input_->seconds(*frame_);
        return std::nullopt;
    }

    // Decodes forward from the current frame to the first one at or after `seconds`. Returns false if a frame has no
    // time.
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
            if (next_frame() != Next::frame) return true;
        }
    }

    // Enters the stream one group of pictures earlier. A decoder that entered an H.264 stream between two groups
    // withholds the last frames at the end of the file if no group follows; after an earlier entry it delivers them.
    // Returns false if that is not possible.
    bool reenter() {
        const auto key_s = std::exchange(entered_s_, std::nullopt);
        constexpr double before_s = 1e-3, later_s = 1e-4;  // shorter than any distance between frames
        if (!key_s || *key_s < before_s || !input_->seek(*key_s - before_s - offset_seconds_)) return false;
        for (auto own = next_key_frame(); own; own = input_->seconds(*frame_)) {
            if (*own + offset_seconds_ > last_seconds_ + later_s) return true;
            if (next_picture() != Progress::frame) return false;
        }
        return false;
    }

    // Seeks by reopening the source and decoding up to `seconds`.
    void go_from_start(double seconds) {
        input_.reset();
        input_ = open_input();
        index_ = 0;
        began_ = false;
        have_frame_ = false;
        entered_s_.reset();
        for (; next_frame() == Next::frame; ++index_) {
            const double time = frame_seconds();
            if (time >= seconds - same_time_s) return hold_frame(time);
            av_frame_unref(frame_.get());
        }
    }

    // Keeps frame_ and its time for the next read.
    void hold_frame(double seconds) {
        last_seconds_ = seconds;
        last_time_ = Clock::now();
        have_frame_ = true;
        has_time_ = true;
    }

    // State while a live source is away.
    struct Loss {
        std::string reason;  // reason of the latest attempt
        Clock::time_point give_up;
        RetryPauses pauses;
        int attempts = 0;
    };

    // Decodes the first frame, whose properties become those of the source.
    void open_first_frame() {
        switch (next_picture()) {
            case Progress::frame: break;
            case Progress::stopped: fail(ErrorCode::no_input, "{}: stopped before its first frame", address_.name);
            case Progress::lost:
                fail(ErrorCode::source_lost, "{}: no frame could be read: {}", address_.name, input_->why_lost());
            case Progress::end:
                fail(ErrorCode::source_lost, "{}: it contains no decodable frame{}{}", address_.name,
                     input_->damaged() ? ": " : "", input_->first_damage());
        }
        have_frame_ = true;
        refuse_hdr();
        info_.name = address_.name;
        info_.live = input_->live();
        info_.frames = input_->frames();
        info_.has_native_frames = true;
        describe_pictures();
        if (address_.kind == FfmpegAddress::Kind::file && address_.contents != FfmpegAddress::Contents::image)
            info_.medium = {address_.name, input_->start_seconds() + input_->seconds(*frame_).value_or(0)};
    }

    // Sets shape, rate and colour facts from the waiting frame; they apply to all following frames.
    void describe_pictures() {
        info_.shape = shape_of(*frame_, is_gray(static_cast<AVPixelFormat>(frame_->format)) ? 1 : 3);
        info_.rate = input_->rate();
        std::string assumed;
        const auto coding = coding_of(*frame_, assumed);
        info_.facts = facts(coding);
        if (!assumed.empty())
            log_debug("{}: its colour tags are incomplete; read as {} (assumed: {})", address_.name, to_string(coding),
                      assumed);
    }

    // Decodes the next frame and handles the end, damage and losses.
    Next next_frame() {
        if (loss_) return come_back();
        if (!input_) return Next::none;  // the source was abandoned earlier
        switch (next_picture()) {
            case Progress::frame:
                if (frame_->key_frame) entered_s_.reset();
                return Next::frame;
            case Progress::stopped: return Next::none;
            case Progress::end:
                if (input_->live()) return lose("the stream ended");
                if (reenter()) return Next::frame;
                if (!input_) return Next::none;  // a stop was requested meanwhile
                if (input_->damaged())
                    fail(ErrorCode::source_lost, "{}: {} of its packets or frames are damaged, the first {}",
                         address_.name, input_->damaged(), input_->first_damage());
                return Next::none;
            case Progress::lost: break;
        }
        if (input_->live()) return lose(input_->why_lost());
        fail(ErrorCode::source_lost, "{}: lost after {} frames: {}", address_.name, index_, input_->why_lost());
    }

    // Starts reconnecting after a live source was lost.
    Next lose(const std::string& reason) {
        const bool timed = options_.reconnect && *options_.reconnect != SourceOptions::for_ever;
        const auto give_up = timed ? Clock::now() + *options_.reconnect : Clock::time_point::max();
        loss_ = {
            reason, give_up,
            RetryPauses(std::min(options_.retry_pause, options_.longest_retry_pause), options_.longest_retry_pause)};
        input_.reset();
        return options_.draw_loss && !is_given_up() ? Next::away : come_back();
    }

    // Returns true once all attempts or the time for them are used up.
    bool is_given_up() const {
        return options_.reconnect ? Clock::now() >= loss_->give_up : loss_->attempts >= options_.retries;
    }

    // Tries to reconnect until an attempt succeeds or the source is given up; tries only once if losses are drawn as
    // frames.
    Next come_back() {
        while (!is_given_up()) {
            // Do not wait beyond the time limit.
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(loss_->give_up - Clock::now());
            const auto pause = std::min(loss_->pauses.take(), left);
            ++loss_->attempts;
            log_attempt(pause);
            if (!wait(pause)) return Next::none;
            const auto next = attempt();
            if (next != Next::away || options_.draw_loss) return next;
        }
        const auto loss = *std::exchange(loss_, std::nullopt);
        fail(ErrorCode::source_lost, "{}: lost after {} frames, and {} attempts to reconnect failed: {}", address_.name,
             index_, loss.attempts, loss.reason);
    }

    // Logs the first five attempts as warnings, then those whose number is a power of two: a camera may be away all
    // night.
    void log_attempt(std::chrono::milliseconds pause) const {
        const auto number = static_cast<unsigned>(loss_->attempts);
        const bool reported = number <= 5 || std::has_single_bit(number);
        const auto of = options_.reconnect ? std::string() : fmt::format(" of {}", options_.retries);
        const auto words = fmt::format("{}: {}; reconnection attempt {}{} in {:.2f} s", address_.name, loss_->reason,
                                       loss_->attempts, of, std::chrono::duration<double>(pause).count());
        reported ? log_warning("{}", words) : log_debug("{}", words);
    }

    // Reopens the source once.
    Next attempt() {
        try {
            input_ = open_input();
            const auto progress = next_picture();
            if (progress == Progress::stopped) return Next::none;
            if (progress == Progress::frame) {
                loss_.reset();
                // The next frame's time must include the gap.
                rejoining_ = true;
                warned_of_size_ = false;
                log_info("{}: reconnected", address_.name);
                return Next::frame;
            }
            loss_->reason = progress == Progress::lost ? input_->why_lost() : "the stream ended";
        } catch (const Error& error) {
            if (interrupt_->stopped()) return Next::none;
            loss_->reason = error.what();
        }
        input_.reset();
        return Next::away;
    }

    // Delivers a generated frame while the source is away; its time advances with the clock.
    bool read_loss(HostView<std::uint8_t> image, FrameTime& time) {
        const auto now = Clock::now();
        last_seconds_ += std::max(1 / info_.rate.value(), milliseconds(last_time_, now) / 1000);
        last_time_ = now;
        time = {index_++, last_seconds_, now};
        if (last_->width > 0) convert(*last_, last_orientation_, image);
        options_.draw_loss(image);
        own_.reset();
        return true;
    }

    // Waits for `pause`; returns false on a stop request.
    bool wait(std::chrono::milliseconds pause) {
        std::mutex mutex;
        std::condition_variable_any stopping;
        std::unique_lock lock(mutex);
        return !stopping.wait_for(lock, options_.stop, pause, [&] { return options_.stop.stop_requested(); });
    }

    // Returns the time of the current frame: strictly increasing, bounded, and after a gap advanced by the length of
    // the gap.
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
        } else if (!(seconds > last_seconds_ + (input_->live() ? least_live_step_s : 0) && seconds < longest_seconds)) {
            seconds = last_seconds_ + step;
        }
        last_seconds_ = seconds;
        last_time_ = now;
        return seconds;
    }

    // Converts a frame to the image's format and applies the orientation.
    void convert(const AVFrame& frame, const Orientation& orientation, HostView<std::uint8_t> image) {
        const auto shape = orientation.turned({1, frame.height, frame.width, info_.shape.channels});
        if (shape != info_.shape && !std::exchange(warned_of_size_, true))
            log_warning("{}: its frame size changes to {}x{} at frame {}; frames are scaled to the first size, {}x{}",
                        address_.name, shape.width, shape.height, index_, info_.shape.width, info_.shape.height);
        std::string assumed;
        const auto coding = coding_of(frame, assumed);
        const auto downloaded = gpu_picture(frame) ? download(frame) : nullptr;
        const auto& picture = downloaded ? *downloaded : frame;
        if (orientation.upright()) {
            converter_.to_image(picture, coding, image);
            return;
        }
        if (const auto stored = orientation.turned(info_.shape); stored_.shape() != stored) stored_ = HostImage(stored);
        converter_.to_image(picture, coding, stored_.view());
        turn(std::as_const(stored_).view(), orientation, image);
    }

    // Rejects HDR pictures: 8-bit BGR cannot represent them, so they would become dull and mislabelled.
    void refuse_hdr() const {
        const bool pq = frame_->color_trc == AVCOL_TRC_SMPTE2084;
        if (!pq && frame_->color_trc != AVCOL_TRC_ARIB_STD_B67) return;
        fail(ErrorCode::config,
             "{}: it has high dynamic range ({}), but framewire only supports standard range; convert it first: ffmpeg "
             "-i {} -vf zscale=t=linear:npl=100,tonemap=hable,zscale=p=bt709:t=bt709:m=bt709:r=tv,format=yuv420p ...",
             address_.name, pq ? "PQ" : "HLG", address_.name);
    }

    // Replaces the frame's colour tags with the user's overrides.
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

    // Keeps the native frame if it needs no rotation, scaling or compositing.
    void keep_own(const Shape& shape) {
        own_.reset();
        if (frame_->width != shape.width || frame_->height != shape.height || shape.channels != 3) return;
        if (!input_->orientation(*frame_).upright()) return;
        std::string assumed;
        const auto coding = coding_of(*frame_, assumed);
        FramePointer kept(yuv_info(*frame_, coding) ? av_frame_clone(frame_.get()) : nullptr);
        if (kept) own_ = std::make_shared<const DecodedPicture>(std::move(kept), coding);
    }

    // Returns the facts of all pictures, taken from the first one.
    PictureFacts facts(const YuvCoding& coding) {
        PictureFacts facts;
        if (!is_rgb_picture() && info_.shape.channels == 3) {
            facts.coding = coding;
            if (const auto info = yuv_info(*frame_, coding)) {
                facts.format = info->format;
                facts.siting = info->siting;
            }
        }
        const auto* descriptor = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame_->format));
        // Deeper pictures are reduced to 8 bits when they are converted.
        if (const int bits = descriptor ? descriptor->comp[0].depth : 8; bits > 8)
            log_info("{}: its frames have {} bits per sample; reduced to 8", address_.name, bits);
        if (frame_->color_primaries != AVCOL_PRI_UNSPECIFIED) facts.primaries = frame_->color_primaries;
        if (frame_->color_trc != AVCOL_TRC_UNSPECIFIED) facts.transfer = frame_->color_trc;
        facts.pixel_aspect = input_->pixel_aspect(*frame_);
        // The pixel aspect ratio applies to the picture as displayed.
        if (input_->orientation(*frame_).transposed)
            std::swap(facts.pixel_aspect.numerator, facts.pixel_aspect.denominator);
        return facts;
    }

    FfmpegAddress address_;
    SourceOptions options_;
    std::shared_ptr<Interrupt> interrupt_;
    std::shared_ptr<FfmpegInput> input_;  // shared with calls that may be abandoned
    SourceInfo info_;
    FramePointer frame_ = make_frame();
    FramePointer last_ = make_frame();  // last frame read, for live sources with drawn losses
    Orientation last_orientation_{};
    bool have_frame_ = false;          // frame_ waits to be read
    bool has_time_ = false;            // last_seconds_ is the time of frame_
    std::optional<double> entered_s_;  // time of the key frame at which a seek arrived, until another key frame follows
    bool began_ = false;               // offset_seconds_ is known
    std::shared_ptr<const DecodedPicture> own_;
    HostImage stored_;  // buffer for pictures that need rotation
    PictureConverter converter_;
    bool warned_of_size_ = false;
    std::int64_t index_ = 0;
    double offset_seconds_ = 0;
    double last_seconds_ = 0;
    Clock::time_point last_time_{};
    bool rejoining_ = false;
    std::optional<Loss> loss_;
};

}  // namespace

std::unique_ptr<Source> open_ffmpeg_source(FfmpegAddress address, const SourceOptions& options) {
    initialise_ffmpeg();
    return std::make_unique<FfmpegSource>(std::move(address), options);
}

}  // namespace framewire
