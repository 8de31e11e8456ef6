// The subcommand run: sources through filters to files, pipes or network addresses; one source, or a batch.

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
    session::InputOptions input;
    std::string output, rate = "auto";
    SegmentOptions segments;
    bool no_audio = false;
    EntryFlags entry;

    session::RunOptions options(const std::stop_token& stop) const;
};

// The job's options; --rate also sets the rate of the source.
session::RunOptions RunFlags::options(const std::stop_token& stop) const {
    session::RunOptions options{common.job(stop), input, output, segments, !no_audio};
    switch (take_rate(rate, "auto, own, max", options.input)) {
        case session::PlayRate::by_output: break;
        case session::PlayRate::own: options.pace = session::Pace::own; break;
        case session::PlayRate::max: options.pace = session::Pace::hurried; break;
    }
    return options;
}

// Processes many files.
void run_many(const Command& command, RunFlags& flags, const std::stop_token& stop) {
    if (flags.many.cutting.seconds > 0 && flags.segments.seconds > 0)
        fail(ErrorCode::usage, "--segment joins its segments, and --segment-time does not; one of them can");
    if (flags.segments.seconds > 0)
        fail(ErrorCode::usage,
             "--segment-time names its segments by their time, and outputs of many files are named by their inputs");
    const auto piece = [&](const PieceRequest& request) {
        auto options = flags.options(stop);
        const auto name = flags.many.video_name(request.input);
        options.job = request.job;
        request.take(options.input);
        options.output = request.sink_in_folder("-o", flags.output, name);
        return request.piece<session::RunJob>(name, options, "-o");
    };
    const auto input = flags.options(stop).input;
    make_many(command, flags.many, flags.common, flags.output,
              {.input = input, .audio = !flags.no_audio, .piece = piece}, stop);
}

// Processes one source and prints a summary.
void run(const Command& command, RunFlags& flags, const std::stop_token& stop) {
    if (is_of_many(flags.many, flags.output, flags.input)) return run_many(command, flags, stop);
    flags.entry.apply(flags.input);
    if (!may_write(files_of(flags.options(stop)), flags.common, stop)) return;
    const auto figures = session::RunJob(flags.options(stop)).run().figures;
    log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped", figures.frames, figures.seconds, figures.fps,
             figures.drops);
    show_times(flags.common, figures);
}

}  // namespace

void add_run(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("run", "Source -> filters -> file, pipe or network address");
    const auto flags = std::make_shared<RunFlags>();
    add_batch_options(command, flags->many, flags->input);
    add_entry_options(command, flags->entry, "for a source that is a stream: ");
    command
        .option("-o,--output", flags->output,
                "where frames go: a file by its ending, -, a URL; :codec=libx265:crf=24 and the like may follow; a "
                "folder of many files")
        .required()
        .type_name("DST|FOLDER/");
    add_no_audio(command, flags->no_audio);
    add_recording_options(command, flags->segments);
    command
        .option("--rate", flags->rate,
                "how a file is played: own rate, max, or frames timed at so many a second; auto is own into URLs and "
                "max elsewhere")
        .type_name("auto|own|max|FPS");
    add_common_options(command, flags->common);
    add_times_option(command, flags->common);
    set_work(command, chosen, flags->common,
             [=](const std::stop_source& stop) { run(command, *flags, stop.get_token()); });
}

}  // namespace framewire::app
