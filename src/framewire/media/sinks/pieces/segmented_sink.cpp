// A recording in segments. When a segment is full, the next one is opened at once, and the old one is finished in the
// background, because flushing the encoder and writing the index of a long MP4 file take longer than a frame period.

#include "framewire/media/sinks/pieces/segmented_sink.hpp"

#include "framewire/core/log.hpp"
#include "framewire/media/sinks/pieces/piece_names.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <future>
#include <utility>

namespace framewire {
namespace {

using WallClock = std::chrono::system_clock;

// A duration on the wall clock.
WallClock::duration wall_time(double seconds) {
    return std::chrono::duration_cast<WallClock::duration>(std::chrono::duration<double>(seconds));
}

// Sink that distributes frames over segments.
class SegmentedSink final : public Sink {
public:
    SegmentedSink(SinkCall call, const Shape& frame, Rational rate, const SinkOptions& options)
        : call_(std::move(call)), shape_(frame), rate_(rate), options_(options), names_(PieceNames::parse(call_.path)) {
        options_.to_the_end = false;
        options_.replace = false;  // names are chosen to be unused
        // Fails early if the destination cannot be written.
        piece_ = open(WallClock::now(), options_.start_seconds);
    }

    void write(HostView<const std::uint8_t> image, const FrameTime& time) override {
        go_on_to(time);
        piece_->write(image, time);
    }

    bool write_own(const OwnPicture& own, const FrameTime& time) override {
        go_on_to(time);
        return piece_->write_own(own, time);
    }

    std::optional<YuvInfo> planes() const override { return piece_->planes(); }
    void write_planes(const std::shared_ptr<const YuvPicture>& picture, const FrameTime& time) override {
        go_on_to(time);
        piece_->write_planes(picture, time);
    }

    void finish(Ending ending) override {
        wait_for_finished();
        piece_->finish(ending);
        finished_bytes_ += piece_->bytes();
        piece_.reset();
        keep_within_limits(names_, options_.segments);
    }

    std::int64_t bytes() const override { return finished_bytes_ + (piece_ ? piece_->bytes() : 0); }

private:
    // Opens a segment that starts at a time of day.
    std::unique_ptr<Sink> open(WallClock::time_point at, double start_seconds) const {
        auto call = call_;
        call.path = names_.free_path(at);
        auto options = options_;
        options.start_seconds = start_seconds;
        return call.kind->open(call, shape_, rate_, options);
    }

    // Time of day of a frame: its capture time for live sources, otherwise the start of the run plus the video's time.
    WallClock::time_point time_of_day(const FrameTime& time) const {
        if (!options_.live || time.captured == Clock::time_point{}) return began_ + wall_time(time.seconds);
        return WallClock::now() - wall_time(milliseconds_since(time.captured) / 1000);
    }

    // Starts a new segment if the frame's time requires it. Idempotent for one frame.
    void go_on_to(const FrameTime& time) {
        if (!std::exchange(began_writing_, true))
            cut_seconds_ = time.seconds + options_.segments.seconds;
        else if (time.seconds >= cut_seconds_)
            begin_piece(time);
    }

    void begin_piece(const FrameTime& time) {
        wait_for_finished();
        auto next = open(time_of_day(time), time.seconds);
        // Timestamps may jump; segment boundaries stay on their grid.
        const auto pieces = std::floor((time.seconds - cut_seconds_) / options_.segments.seconds) + 1;
        cut_seconds_ += pieces * options_.segments.seconds;
        // Flushing the encoder and writing the index of a long segment take time, during which frames arrive.
        finishing_ =
            std::async(std::launch::async, [this, piece = std::shared_ptr(std::exchange(piece_, std::move(next)))] {
                piece->finish(Ending::complete);
                finished_bytes_ += piece->bytes();
                keep_within_limits(names_, options_.segments);
            });
    }

    // Waits for the previous segment. Throws its error.
    void wait_for_finished() {
        if (finishing_.valid()) finishing_.get();
    }

    // Removes the oldest segments until the limits hold, but never the newest.
    static void keep_within_limits(const PieceNames& names, const SegmentOptions& limits) {
        if (!limits.keep_seconds && !limits.keep_bytes) return;
        const auto pieces = names.existing();
        double bytes = 0;
        for (const auto& piece : pieces) bytes += static_cast<double>(piece.bytes);
        for (std::size_t oldest = 0; oldest + 1 < pieces.size(); ++oldest) {
            const auto& piece = pieces[oldest];
            const bool late = limits.keep_seconds && WallClock::now() - piece.changed > wall_time(*limits.keep_seconds);
            const bool large = limits.keep_bytes && bytes > *limits.keep_bytes;
            if (!late && !large) return;
            if (::unlink(piece.path.c_str()) == 0)
                log_info("{}: removed, for more than is to be kept is there", piece.path);
            else
                log_warning("cannot remove {}: {}", piece.path, std::strerror(errno));
            bytes -= static_cast<double>(piece.bytes);
        }
    }

    SinkCall call_;
    Shape shape_;
    Rational rate_;
    SinkOptions options_;
    PieceNames names_;
    WallClock::time_point began_ = WallClock::now();
    std::unique_ptr<Sink> piece_;  // the segment being written
    double cut_seconds_ = 0;       // start of the next segment
    bool began_writing_ = false;
    std::atomic<std::int64_t> finished_bytes_ = 0;
    std::future<void> finishing_;  // last member: its destructor waits before the others are destroyed
};

}  // namespace

std::unique_ptr<Sink> open_segmented_sink(const SinkCall& call, const Shape& frame, Rational rate,
                                          const SinkOptions& options) {
    return std::make_unique<SegmentedSink>(call, frame, rate, options);
}

}  // namespace framewire
