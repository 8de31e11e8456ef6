#include "commands/commands.hpp"
#include "jobs/filtered_input.hpp"
#include "jobs/video_output.hpp"
#include "options/common.hpp"
#include "options/output_check.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/media.hpp"
#include "framewire/pipeline/circle/circle.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <vector>

namespace framewire::app {
namespace {

struct RunOptions {
    CommonOptions common;
    InputOptions input;
    std::string output;
};

// From source to sink. What fails on the way is thrown after what was sent before it was completed.
class Run {
public:
    Run(const RunOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          statistics_file_(options.common),
          input_(options.input, options.common, stop.get_token()),
          video_(options.output, input_.shape(), input_.info().rate,
                 sink_options(options.common, input_.info(), stop)) {}

    void operator()() {
        FirstFailure failure;
        failure.attempt([&] { pump(); });
        const auto ending = ending_of(failure, stop_, input_.info().live);
        failure.attempt([&] { video_.finish(ending); });
        statistics_.set_sent_bytes(video_.bytes());
        const auto figures = statistics_.snapshot();
        failure.attempt([&] { statistics_file_.write(figures, input_.description()); });
        failure.rethrow();
        if (sent_frames_ == 0 && !stop_.stop_requested())
            fail(ErrorCode::no_input, "{} has no frames", input_.info().name);
        log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped", figures.frames, figures.seconds, figures.fps,
                 figures.drops);
    }

private:
    void pump() {
        const Progress progress(options_.common.progress_mode(), statistics_,
                                expected_frames(input_.info(), options_.common.frames));
        const auto circle = circle_options(options_.common, input_.info(), input_.shape(), stop_, input_.backend());
        std::vector<InputFrame> slots;
        for (int slot = 0; slot < circle.slots; ++slot) slots.push_back(input_.make_frame());
        const auto at = [&](int slot) -> InputFrame& { return slots[static_cast<std::size_t>(slot)]; };
        run_circle(
            {.capture = [&](int slot, FrameTime& time) { return input_.capture(at(slot), time); },
             .process = [&](int slot,
                            const FrameTime& time) { input_.filter(at(slot), time, statistics_, {.on_host = true}); },
             .wait = [&](int slot) { at(slot).wait(); },
             .send = [&](int slot, const FrameTime& time) { send(at(slot).result().host(), time); }},
            circle, statistics_);
    }

    void send(HostView<const std::uint8_t> image, const FrameTime& time) {
        video_.write(image, time);
        ++sent_frames_;
        statistics_.set_sent_bytes(video_.bytes());
    }

    const RunOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first and the output is touched last.
    StatisticsFile statistics_file_;
    FilteredInput input_;
    VideoOutput video_;

    Statistics statistics_;
    std::int64_t sent_frames_ = 0;
};

}  // namespace

void add_run(CLI::App& program, Action& chosen) {
    auto* command = program.add_subcommand("run", "Source -> filters -> file, pipe or network address");
    const auto options = std::make_shared<RunOptions>();
    add_input_options(*command, options->input);
    command->add_option("-o,--output", options->output, "where frames go: a file by its ending, -, a URL")
        ->required()
        ->type_name("DST");
    add_common_options(*command, options->common);
    set_work(*command, chosen, options->common, [options](const std::stop_source& stop) {
        RunFiles files;
        files.source(options->input.source)
            .sink("-o", options->output)
            .output("--stats", options->common.statistics_path);
        if (files.may_write(options->common, stop.get_token())) Run(*options, stop)();
    });
}

}  // namespace framewire::app
