#pragma once

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/time/frame_time.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/pipeline/statistics/progress.hpp"
#include "framewire/session/input/input_frame.hpp"
#include "framewire/session/job/failure.hpp"
#include "framewire/session/job/job.hpp"
#include "framewire/session/job/job_files.hpp"
#include "framewire/session/job/pixel_aspect.hpp"
#include "framewire/session/job/result.hpp"
#include "framewire/session/options.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace framewire::session {

/// Stages that a job adds to the frame ring.
///
/// `Found` holds the results for one frame; its wait() returns when they are available. Each slot of the ring has one
/// InputFrame and one `Found`, which are reused. A slot belongs to one stage at a time, and each stage runs on one
/// thread, except work on the worker pool:
///
///     begin                   once, before the first frame
///     capture of the input    capture thread, in frame order
///     filter, then start      processing thread, in frame order
///     work or Found::wait()   worker pool, several frames in parallel; the sending thread if `waiters` is 0
///     send                    thread that called run(), in frame order
///     finish, describe        once, after the last frame
template <class Found>
struct FrameStages {
    /// Which results of the filters are used.
    Wanted wanted{};
    /// Number of frames in flight. Default: as many as suit the backend.
    std::optional<int> under_way{};
    /// Number of workers, see CircleOptions.
    int waiters = 0;
    /// See CircleOptions.
    bool at_source_rate = false;
    /// Optional. Called before the first frame; return false to process no frame.
    std::function<bool()> begin{};
    /// Makes the results object of one slot. Called once per slot.
    std::function<Found()> make;
    /// Optional. Starts the work on the filtered frame.
    std::function<void(InputFrame& frame, const FrameTime& time, Found& found)> start{};
    /// Optional. Called after `start` instead of Found::wait(), on the worker pool, for several frames in parallel.
    std::function<void(InputFrame& frame, Found& found)> work{};
    /// Called with the frame and its results, in frame order.
    std::function<void(InputFrame& frame, const FrameTime& time, Found& found)> send;
    /// Completes the outputs, with one FirstFailure::attempt() per output.
    std::function<void(FirstFailure& failure, Ending ending)> finish;
    /// Optional. Adds totals to the description of the run.
    std::function<void(RunDescription& run)> describe{};
};

/// A job that sends the frames of an input through a frame ring. `Input` is FilteredInput or FolderInput.
template <class Input>
class FrameJob : public Job {
public:
    /// Opens the statistics file, then the input. Throws as the constructors of Job and Input do.
    FrameJob(const JobOptions& options, const InputOptions& input, const JobFiles& files)
        : Job(options, files),
          input_(input, options, stop()),
          pixel_aspect_(pixel_aspect()),
          patience_seconds_(input.may_skip ? 0 : longest_wait_seconds) {
        if (!options.time_steps) return;
        statistics().time_steps();
        input_.executor().time_steps([this](std::string_view name, double ms) { statistics().record_step(name, ms); });
    }

    /// Source and filters of the job.
    Input& input() { return input_; }
    const Input& input() const { return input_; }
    /// Returns Job::sink_options() for frames of the input, with the pixel aspect after the filters and the begin of
    /// the time range.
    SinkOptions sink_options() const {
        auto options = Job::sink_options(input_.info());
        options.facts.pixel_aspect = pixel_aspect_;
        if (input_.stretch_begin_seconds()) options.begin_seconds = input_.stretch_begin_seconds();
        return options;
    }

    /// Returns the same for a video that replaces the input's own one: other contents of the input's file are copied
    /// too, and its sound if `audio`.
    SinkOptions film_options(const InputOptions& input, bool audio) const {
        auto film = sink_options();
        // Retimed frames no longer match the sound's times, and parts made of time ranges get their sound when joined.
        if (input.fps <= 0 && !input.stretch) film.medium = input_.info().medium;
        film.source_threshold = input_.info().threshold;
        film.audio = audio;
        film.start_seconds = input.start_seconds;
        film.to_the_end = !options().frames && !input.duration_seconds;
        return film;
    }

    /// Sends all frames through the stages. The outputs are completed even if a stage fails; then `result` is filled
    /// and the first failure is thrown. Throws Error{no_input} if the source had no frames. May be called once.
    template <class Found>
    void run(const FrameStages<Found>& stages, JobResult& result) {
        begin_run();
        FirstFailure failure;
        failure.attempt([&] {
            if (!stages.begin || stages.begin()) pump(stages);
        });
        failure.attempt([&] { input_.require_whole(); });
        result.ending = ending_of(failure, stopped(), input_.info().live);
        stages.finish(failure, result.ending);
        result.figures = statistics().snapshot();
        failure.attempt([&] {
            result.description = input_.description();
            if (stages.describe) stages.describe(result.description);
            statistics_file().write(result.figures, result.description);
        });
        failure.rethrow();
        if (result.figures.frames == 0 && !stopped()) fail(ErrorCode::no_input, "{} has no frames", input_.info().name);
    }

private:
    // Pixel aspect of the filtered frames.
    Rational pixel_aspect() const {
        const auto& own = input_.info().facts.pixel_aspect;
        const auto after = aspect_after(input_.placement(), own);
        if (!after)
            log_warning("{}: its pixels are {}:{}; those of pictures that lie askew are written as square",
                        input_.info().name, own.numerator, own.denominator);
        return after.value_or(Rational{1, 1});
    }

    // One slot of the frame ring.
    template <class Found>
    struct Slot {
        InputFrame frame;
        Found found;
    };

    // Runs the frame ring. A frame that is not sent (before a time range, or skipped by a change of the rate) passes
    // every stage but `send`; a frame that is not looked at is only filtered.
    template <class Found>
    void pump(const FrameStages<Found>& stages) {
        const Progress progress(options().progress, statistics(), input_.expected_frames(options().frames));
        auto circle = circle_options(input_.info(), input_.shape(), input_.executor().backend());
        circle.patience_seconds = patience_seconds_;
        circle.at_source_rate = stages.at_source_rate || (options().own_rate && !input_.info().live);
        if (stages.under_way) circle.let_wait(*stages.under_way);
        circle.waiters = stages.waiters;
        circle.let_wait(circle.waiting + circle.waiters);
        std::vector<Slot<Found>> slots;
        for (int slot = 0; slot < circle.slots; ++slot) slots.push_back({input_.make_frame(), stages.make()});
        const auto at = [&](int slot) -> Slot<Found>& { return slots[static_cast<std::size_t>(slot)]; };
        run_circle({.capture = [&](int slot, FrameTime& time) { return input_.capture(at(slot).frame, time); },
                    .sends = [&](int slot) { return at(slot).frame.sent; },
                    .failed = [&](int slot) { return !at(slot).frame.sent; },
                    .process = [&](int slot, const FrameTime& time) { process(stages, at(slot), time); },
                    .wait =
                        [&](int slot) {
                            auto& [frame, found] = at(slot);
                            if (frame.looked_at) stages.work ? stages.work(frame, found) : found.wait();
                            frame.wait();
                        },
                    .send =
                        [&](int slot, const FrameTime& time) {
                            stages.send(at(slot).frame, time, at(slot).found);
                            input_.count_sent(at(slot).frame, statistics());
                        }},
                   circle, statistics());
    }

    // Filters the frame and starts the job's own work on it, on the processing thread.
    template <class Found>
    void process(const FrameStages<Found>& stages, Slot<Found>& slot, const FrameTime& time) {
        input_.naming_errors(slot.frame, time, [&] {
            input_.filter(slot.frame, time, statistics(), stages.wanted);
            if (stages.start && slot.frame.looked_at) stages.start(slot.frame, time, slot.found);
        });
    }

    // If all live frames are wanted, they wait this long for processing, as packets of the source, before any is
    // dropped.
    static constexpr double longest_wait_seconds = 10;

    Input input_;
    Rational pixel_aspect_;
    double patience_seconds_;
};

}  // namespace framewire::session
