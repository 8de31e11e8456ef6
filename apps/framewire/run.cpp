#include "commands.hpp"
#include "common.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/media.hpp"
#include "framewire/pipeline/chain.hpp"
#include "framewire/pipeline/circle.hpp"
#include "framewire/pipeline/frame_processor.hpp"
#include "framewire/pipeline/run_values.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <vector>

namespace framewire::app {
namespace {

struct RunOptions {
    CommonOptions common;
    std::string input, filters, output;
};

// One place of the circle: a frame as captured and as processed.
struct Slot {
    HostImage captured, processed;
};

std::optional<std::int64_t> expected_frames(const SourceInfo& source, std::optional<std::int64_t> limit) {
    if (!source.frames) return limit;
    return limit ? std::min(*limit, *source.frames) : *source.frames;
}

// From source to sink. What fails on the way is thrown after what was sent before it was completed.
class Run {
public:
    Run(const RunOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          chain_(parse_chain(options.filters)),
          statistics_file_(options.common.statistics_path),
          source_(open_source(options.input, {.stop = stop.get_token()})),
          info_(source_->info()),
          executor_(options.common.backend_choice(), options.common.threads),
          processor_(chain_, info_.shape, executor_),
          sink_(open_sink(options.output, processor_.output_shape(), info_.rate,
                          {.stop = stop.get_token(), .live = info_.live})) {}

    void operator()() {
        std::exception_ptr failure;  // the first; what can still be completed after it is
        const auto attempt = [&](auto&& step) {
            try {
                step();
            } catch (...) {
                if (!failure) failure = std::current_exception();
            }
        };
        attempt([&] { pump(); });
        // A sink that failed has no whole output, and one without frames none that plays.
        if (sent_frames_ > 0 && !sink_failed_) attempt([&] { sink_->finish(); });
        statistics_.set_sent_bytes(sink_->bytes());
        const auto figures = statistics_.snapshot();
        attempt([&] {
            statistics_file_.write(figures, {info_.name, std::string(to_string(executor_.backend())),
                                             processor_.output_shape(), processor_.figures()});
        });
        if (failure) std::rethrow_exception(failure);
        if (sent_frames_ == 0 && !stop_.stop_requested()) fail(ErrorCode::no_input, "{} has no frames", info_.name);
        spdlog::info("{} frames in {:.2f} s, {:.1f} fps, {} dropped", figures.frames, figures.seconds, figures.fps,
                     figures.drops);
    }

private:
    void pump() {
        const Progress progress(options_.common.progress_mode(), statistics_,
                                expected_frames(info_, options_.common.frames));
        CircleOptions circle;
        circle.raw_frame_bytes = processor_.output_shape().frame_bytes();
        circle.drop_when_late = info_.live;
        circle.max_frames = options_.common.frames;
        circle.stop = stop_;
        std::vector<Slot> slots(static_cast<std::size_t>(circle.slots));
        for (auto& slot : slots) {
            slot.captured = HostImage(info_.shape, executor_.frame_memory());
            if (!processor_.empty()) slot.processed = HostImage(processor_.output_shape(), executor_.frame_memory());
        }
        const auto at = [&](int slot) -> Slot& { return slots[static_cast<std::size_t>(slot)]; };
        run_circle(
            {.capture = [&](int slot, FrameTime& time) { return source_->read(at(slot).captured.view(), time); },
             .process =
                 [&](int slot, const FrameTime& time) {
                     if (processor_.empty()) return;
                     if (processor_.shows_frame_values())
                         processor_.set_frame_values(run_values(statistics_.snapshot(), time, info_.name));
                     processor_.process(at(slot).captured.view(), at(slot).processed.view());
                 },
             .send =
                 [&](int slot, const FrameTime& time) {
                     send(processor_.empty() ? at(slot).captured.view() : at(slot).processed.view(), time);
                 }},
            circle, statistics_);
    }

    void send(HostView<const std::uint8_t> image, const FrameTime& time) {
        sink_failed_ = true;  // until it has not
        sink_->write(image, time);
        sink_failed_ = false;
        ++sent_frames_;
        statistics_.set_sent_bytes(sink_->bytes());
    }

    const RunOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first and the output is touched last.
    Chain chain_;
    StatisticsFile statistics_file_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    Executor executor_;
    FrameProcessor processor_;
    std::unique_ptr<Sink> sink_;

    Statistics statistics_;
    std::int64_t sent_frames_ = 0;
    bool sink_failed_ = false;
};

}  // namespace

void add_run(CLI::App& program, Action& chosen) {
    auto* command = program.add_subcommand("run", "Source -> filters -> file, pipe or network address");
    const auto options = std::make_shared<RunOptions>();
    command
        ->add_option("-i,--input", options->input, "where frames come from: a file, -, a URL, a camera, lavfi:, synth:")
        ->required()
        ->type_name("SRC");
    command
        ->add_option("-f,--filters", options->filters, "name=value:key=value,name=...; 'framewire filters' lists them")
        ->type_name("FILTERS");
    command->add_option("-o,--output", options->output, "where frames go: a file by its ending, -, a URL")
        ->required()
        ->type_name("DST");
    add_common_options(*command, options->common);
    command->callback([&chosen, options] {
        chosen = [options] {
            start_logging(options->common.log_level);
            return run_stoppable([&](const std::stop_source& stop) { Run(*options, stop)(); });
        };
    });
}

}  // namespace framewire::app
