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

/// What a job does with its frames, beside what all jobs do. `Found` is what one frame comes to; its wait() returns
/// when that is there. A frame and its `Found` belong to one stage at a time, a stage to one thread, but for
/// waiters.
template <class Found>
struct FrameStages {
    Wanted wanted{};                 ///< what comes of the filters
    std::optional<int> under_way{};  ///< frames at once; none: as many as suit the backend
    int waiters = 0;                 ///< see CircleOptions
    bool at_source_rate = false;     ///< see CircleOptions
    std::function<bool()> begin{};   ///< before the first frame; false where there is to be none
    std::function<Found()> make;     ///< room for what one frame comes to
    /// Begins to look at the filtered frame. None: nothing to do.
    std::function<void(InputFrame& frame, const FrameTime& time, Found& found)> start{};
    /// After start, in place of found.wait(): what can be done of several frames at once, on the waiters. None:
    /// nothing.
    std::function<void(InputFrame& frame, Found& found)> work{};
    /// With the frame and what was found, in order.
    std::function<void(InputFrame& frame, const FrameTime& time, Found& found)> send;
    /// Completes the outputs, each an attempt of its own.
    std::function<void(FirstFailure& failure, Ending ending)> finish;
    std::function<void(RunDescription& run)> describe{};  ///< adds what was found in all
};

/// What jobs are that send frames through the circle: a job with an Input, a FilteredInput or a FolderInput.
template <class Input>
class FrameJob : public Job {
public:
    /// Throws as Job and Input do, in this order.
    FrameJob(const JobOptions& options, const InputOptions& input, const JobFiles& files)
        : Job(options, files),
          input_(input, options, stop()),
          pixel_aspect_(pixel_aspect()),
          patience_seconds_(input.may_skip ? 0 : longest_wait_seconds) {
        if (!options.time_steps) return;
        statistics().time_steps();
        input_.executor().time_steps([this](std::string_view name, double ms) { statistics().record_step(name, ms); });
    }

    Input& input() { return input_; }
    const Input& input() const { return input_; }
    /// As Job's, for frames of the input.
    SinkOptions sink_options() const {
        auto options = Job::sink_options(input_.info());
        options.facts.pixel_aspect = pixel_aspect_;
        if (input_.stretch_begin_seconds()) options.begin_seconds = input_.stretch_begin_seconds();
        return options;
    }

    /// The same for a video that stands for the input's own: what else is in its file goes along, sound where `audio`.
    SinkOptions film_options(const InputOptions& input, bool audio) const {
        auto film = sink_options();
        // Frames that are timed anew have lost their sound's times, and what is made of stretches gets it when joined.
        if (input.fps <= 0 && !input.stretch) film.medium = input_.info().medium;
        film.source_threshold = input_.info().threshold;
        film.audio = audio;
        film.start_seconds = input.start_seconds;
        film.to_the_end = !options().frames && !input.duration_seconds;
        return film;
    }

    /// Sends all frames through the stages and completes the outputs, whatever fails; what came of it is in `result`
    /// then, and the first failure is thrown. Throws Error{no_input} where there was no frame.
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
    // Of frames as filtered.
    Rational pixel_aspect() const {
        const auto& own = input_.info().facts.pixel_aspect;
        const auto after = aspect_after(input_.placement(), own);
        if (!after)
            log_warning("{}: its pixels are {}:{}; those of pictures that lie askew are written as square",
                        input_.info().name, own.numerator, own.denominator);
        return after.value_or(Rational{1, 1});
    }

    template <class Found>
    struct Slot {
        InputFrame frame;
        Found found;
    };

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

    template <class Found>
    void process(const FrameStages<Found>& stages, Slot<Found>& slot, const FrameTime& time) {
        input_.naming_errors(slot.frame, time, [&] {
            input_.filter(slot.frame, time, statistics(), stages.wanted);
            if (stages.start && slot.frame.looked_at) stages.start(slot.frame, time, slot.found);
        });
    }

    // Live frames that are all wanted wait so long to be processed, as packets of the source, before any is dropped.
    static constexpr double longest_wait_seconds = 10;

    Input input_;
    Rational pixel_aspect_;
    double patience_seconds_;
};

}  // namespace framewire::session
