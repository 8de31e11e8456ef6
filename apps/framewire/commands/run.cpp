// The subcommand run: passes sources through filters to files, pipes or network addresses, for one source or a batch.

#include "commands/batch.hpp"
#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"
#include "options/recording_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/run.hpp"

#include <memory>
#include <string>

namespace framewire::app {
namespace {

// Flags of the subcommand run.
struct RunFlags {
    CommonOptions common;
    BatchFlags many;
    jobs::InputOptions input;
    std::string output, rate = "auto";
    SegmentOptions segments;
    bool no_audio = false;
    EntryFlags entry;

    jobs::RunOptions options(const std::stop_token& stop) const;
};

// Returns the job's options. --rate also sets the rate of the source.
jobs::RunOptions RunFlags::options(const std::stop_token& stop) const {
    jobs::RunOptions options{common.job(stop), input, output, segments, !no_audio};
    switch (take_rate(rate, "auto, own, max", options.input)) {
        case jobs::PlayRate::by_output: break;
        case jobs::PlayRate::own: options.pace = jobs::Pace::own; break;
        case jobs::PlayRate::max: options.pace = jobs::Pace::hurried; break;
    }
    return options;
}

// Processes many files.
void run_many(const Command& command, RunFlags& flags, const std::stop_token& stop) {
    if (flags.many.cutting.seconds > 0 && flags.segments.seconds > 0)
        fail(ErrorCode::usage, "--segment and --segment-time cannot be combined");
    if (flags.segments.seconds > 0)
        fail(ErrorCode::usage,
             "--segment-time names outputs by time, but the outputs of several inputs are named after the inputs; use "
             "a single input");
    const auto item = [&](const ItemRequest& request) {
        auto options = flags.options(stop);
        const auto name = flags.many.video_name(request.input);
        options.job = request.job;
        request.take(options.input);
        options.output = request.sink_in_folder("-o", flags.output, name);
        return request.item<jobs::RunJob>(name, options, "-o");
    };
    const auto input = flags.options(stop).input;
    make_many(command, flags.many, flags.common, flags.output, {.input = input, .audio = !flags.no_audio, .item = item},
              stop);
}

// Processes one source and prints a summary.
void run(const Command& command, RunFlags& flags, const std::stop_token& stop) {
    if (is_of_many(flags.many, flags.output, flags.input)) return run_many(command, flags, stop);
    flags.entry.apply(flags.input);
    if (!may_write(files_of(flags.options(stop)), flags.common, stop)) return;
    auto options = flags.options(stop);
    options.job.gpus = flags.common.fleet();
    const auto figures = jobs::RunJob(options).run().figures;
    log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped", figures.frames, figures.seconds, figures.fps,
             figures.drops);
    show_times(flags.common, figures);
}

}  // namespace

void add_run(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("run", "Source -> filters -> file, pipe or network address");
    const auto flags = std::make_shared<RunFlags>();
    add_batch_options(command, flags->many, flags->input);
    add_entry_options(command, flags->entry, "if the source is a stream: ");
    command
        .option("-o,--output", flags->output,
                "output: a file whose extension selects the format, -, or a URL, optionally with parameters such as "
                ":codec=libx265:crf=24; a folder for several inputs")
        .required()
        .type_name("DST|FOLDER/");
    add_no_audio(command, flags->no_audio);
    add_recording_options(command, flags->segments);
    command
        .option("--rate", flags->rate,
                "playback rate of a file: own, max or frames per second; auto is own for URLs and max otherwise")
        .type_name("auto|own|max|FPS");
    add_common_options(command, flags->common);
    add_gpus_option(command, flags->common);
    add_times_option(command, flags->common);
    set_work(command, chosen, flags->common,
             [=](const std::stop_source& stop) { run(command, *flags, stop.get_token()); });
}

}  // namespace framewire::app
