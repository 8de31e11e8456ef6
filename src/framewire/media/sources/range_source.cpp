// A time range of a source. seek() of the source itself is tried first; a source that cannot seek is read from its
// start, and the first frame of the range, which is then already read, waits in skipped_.

#include "framewire/media/sources/range_source.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <utility>

namespace framewire {
namespace {

// Frame times are sums of fractions: two this close are equal.
constexpr double same_time_s = 1e-6;

// Limits a source to a time range, and adds seek() by reading to sources that cannot seek.
class RangeSource final : public Source {
public:
    RangeSource(std::function<std::unique_ptr<Source>()> open, bool opens_again, const TimeRange& range,
                std::stop_token stop)
        : open_(std::move(open)),
          opens_again_(opens_again),
          range_(range),
          stop_(std::move(stop)),
          source_(open_()),
          info_(source_->info()) {
        if (info_.live && range_.start_seconds > 0)
            fail(ErrorCode::usage, "{} is live: there is no {} s to start at; a duration it can have", info_.name,
                 range_.start_seconds);
        if (info_.frames != 1 && (range_.start_seconds > 0 || range_.duration_seconds)) info_.frames.reset();
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        return next(
            time, [&] { return source_->read(image, time); }, [&] { return image; });
    }
    bool read_own(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        return next(
            time, [&] { return source_->read_own(image, time); }, [&] { return image; });
    }
    // A frame that was read while skipping is on the host, and is copied there.
    bool capture(Frame& frame, FrameTime& time) override {
        return next(
            time, [&] { return source_->capture(frame, time); }, [&] { return frame.fill_on_host(); });
    }

    std::shared_ptr<const OwnPicture> own_picture() const override { return source_->own_picture(); }

    bool seek(double seconds) override {
        if (info_.live) return false;
        began_ = true;
        seconds = std::max(seconds, range_.start_seconds);
        has_skipped_ = false;
        return source_->seek(seconds) || read_up_to(seconds);
    }

    std::int64_t damaged() const override { return source_->damaged(); }
    void require_whole() const override { source_->require_whole(); }

    Adjustment set_adjustment(const Adjustment& wanted) override { return source_->set_adjustment(wanted); }

private:
    // The next frame of the range, by read_one(); a frame that was read while skipping is copied to image() instead.
    template <class ReadOne, class Image>
    bool next(FrameTime& time, ReadOne&& read_one, Image&& image) {
        const bool starts = !std::exchange(began_, true) && range_.start_seconds > 0;
        if (starts && !seek(range_.start_seconds))
            fail(ErrorCode::no_input, "{} cannot be read up to {} s", info_.name, range_.start_seconds);
        if (std::exchange(has_skipped_, false)) {
            copy(std::as_const(skipped_).view(), image());
            time = skipped_time_;
        } else if (!read_one()) {
            if (!starts || stop_.stop_requested()) return false;
            fail(ErrorCode::no_input, "{} ends before {} s, where it shall start", info_.name, range_.start_seconds);
        }
        position_s_ = time.seconds;
        if (range_.duration_seconds)
            time.duration_seconds =
                std::min(time.duration_seconds, range_.start_seconds + *range_.duration_seconds - time.seconds);
        return !range_.duration_seconds || time.seconds < range_.start_seconds + *range_.duration_seconds - same_time_s;
    }

    // Reads up to a time; reopens the source if the time has passed. Returns false if it cannot be reopened.
    bool read_up_to(double seconds) {
        if (seconds <= position_s_ + same_time_s && !open_again()) return false;
        if (skipped_.shape() != info_.shape) skipped_ = HostImage(info_.shape);
        while (!has_skipped_ && source_->read(skipped_.view(), skipped_time_)) {
            position_s_ = skipped_time_.seconds;
            has_skipped_ = position_s_ >= seconds - same_time_s;
        }
        return true;
    }

    // Opens the source again for reading up to an earlier time.
    bool open_again() {
        if (!opens_again_) return false;
        source_.reset();  // release its files before they are opened again
        source_ = open_();
        position_s_ = -1;
        if (source_->info().shape != info_.shape)
            fail(ErrorCode::source_lost, "{} was {} and begins again as {}", info_.name, to_string(info_.shape),
                 to_string(source_->info().shape));
        return true;
    }

    std::function<std::unique_ptr<Source>()> open_;
    bool opens_again_;
    TimeRange range_;
    std::stop_token stop_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    HostImage skipped_;  // the last frame that was read while skipping
    FrameTime skipped_time_{};
    bool has_skipped_ = false;  // skipped_ is the next frame
    bool began_ = false;
    double position_s_ = -1;  // time of the last frame read
};

}  // namespace

std::unique_ptr<Source> make_range_source(std::function<std::unique_ptr<Source>()> open, bool opens_again,
                                          const TimeRange& range, std::stop_token stop) {
    return std::make_unique<RangeSource>(std::move(open), opens_again, range, std::move(stop));
}

}  // namespace framewire
