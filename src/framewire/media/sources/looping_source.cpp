// Endless repetition of a source that ends.
//
//    pass      1        2        3
//    index     0 1 2    3 4 5    6 7 8      first_index_ + index within the pass
//    seconds   0 ...    follows one frame period after the last frame of the previous pass

#include "framewire/media/sources/looping_source.hpp"

#include "framewire/core/error.hpp"

#include <optional>
#include <utility>

namespace framewire {
namespace {

// The source loops by reopening: not every source can seek, and a reopened one starts in a known state.
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

    // A live source never loops, so the source that controls the camera stays the same.
    Adjustment set_adjustment(const Adjustment& wanted) override {
        return info_.live ? source_->set_adjustment(wanted) : wanted;
    }

    // Seeks within the current pass; index and time then count from that pass.
    bool seek(double seconds) override {
        if (!source_ || !source_->seek(seconds)) return false;
        first_index_ = 0;
        first_seconds_ = 0;
        return true;
    }

    // Total over all passes.
    std::int64_t damaged() const override { return damaged_before_ + (source_ ? source_->damaged() : 0); }
    // Damage of an earlier pass counts, even if the current one is intact.
    void require_whole() const override {
        if (damage_before_) throw *damage_before_;
        if (source_) source_->require_whole();
    }

    std::shared_ptr<const OwnPicture> own_picture() const override {
        return source_ ? source_->own_picture() : nullptr;
    }

private:
    // Reads a frame with read_one(); at the end, reopens the source and shifts the next pass to follow the last frame.
    template <class ReadOne>
    bool next(FrameTime& time, ReadOne&& read_one) {
        if (!source_) return false;
        if (!read_one()) {
            if (info_.live || !frames_in_pass_ || stop_.stop_requested()) return false;
            keep_damage();
            source_.reset();  // release its files before they are opened again
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

    // Adds up the damage of the pass that ends.
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
