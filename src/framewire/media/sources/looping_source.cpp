#include "framewire/media/sources/looping_source.hpp"

#include "framewire/core/error.hpp"

#include <optional>
#include <utility>

namespace framewire {
namespace {

class LoopingSource final : public Source {
public:
    LoopingSource(std::function<std::unique_ptr<Source>()> open, std::stop_token stop)
        : open_(std::move(open)), stop_(std::move(stop)), source_(open_()), info_(source_->info()) {
        info_.frames.reset();
        info_.medium.reset();
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        return next(time, [&] { return source_->read(image, time); });
    }
    bool read_own(HostView<std::uint8_t> image, FrameTime& time) override {
        return next(time, [&] { return source_->read_own(image, time); });
    }
    bool capture(Frame& frame, FrameTime& time) override {
        return next(time, [&] { return source_->capture(frame, time); });
    }

    // A live source is never opened again: this one stays as long as the object.
    Adjustment set_adjustment(const Adjustment& wanted) override {
        return info_.live ? source_->set_adjustment(wanted) : wanted;
    }

    // In the pass that is under way, which is the first from then on.
    bool seek(double seconds) override {
        if (!source_ || !source_->seek(seconds)) return false;
        first_index_ = 0;
        first_seconds_ = 0;
        return true;
    }

    // Of all passes.
    std::int64_t damaged() const override { return damaged_before_ + (source_ ? source_->damaged() : 0); }
    void require_whole() const override {
        if (damage_before_) throw *damage_before_;
        if (source_) source_->require_whole();
    }

    std::shared_ptr<const OwnPicture> own_picture() const override {
        return source_ ? source_->own_picture() : nullptr;
    }

private:
    // The next frame by read_one(), of the source opened again at its end.
    template <class ReadOne>
    bool next(FrameTime& time, ReadOne&& read_one) {
        if (!source_) return false;
        if (!read_one()) {
            if (info_.live || !frames_in_pass_ || stop_.stop_requested()) return false;
            keep_damage();
            source_.reset();  // before it is opened again: its files may be the same
            source_ = open_();
            if (source_->info().shape != info_.shape)
                fail(ErrorCode::source_lost, "{} was {} and begins again as {}", info_.name, to_string(info_.shape),
                     to_string(source_->info().shape));
            frames_in_pass_ = false;
            if (!read_one()) return false;
            first_index_ = last_.index + 1 - time.index;
            first_seconds_ = last_.seconds + 1 / info_.rate.value() - time.seconds;
        }
        frames_in_pass_ = true;
        time.index += first_index_;
        time.seconds += first_seconds_;
        last_ = time;
        return true;
    }

    void keep_damage() {
        damaged_before_ += source_->damaged();
        try {
            if (!damage_before_) source_->require_whole();
        } catch (const Error& error) {
            damage_before_ = error;
        }
    }

    std::function<std::unique_ptr<Source>()> open_;
    std::stop_token stop_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    FrameTime last_{};
    std::int64_t first_index_ = 0;
    double first_seconds_ = 0;
    bool frames_in_pass_ = false;
    std::int64_t damaged_before_ = 0;
    std::optional<Error> damage_before_;
};

}  // namespace

std::unique_ptr<Source> make_looping_source(std::function<std::unique_ptr<Source>()> open, std::stop_token stop) {
    return std::make_unique<LoopingSource>(std::move(open), std::move(stop));
}

}  // namespace framewire
