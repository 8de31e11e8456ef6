#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/common.hpp"
#include "options/recording_options.hpp"

#include "framewire/core/log.hpp"
#include "framewire/session/run.hpp"

#include <memory>
#include <string>

namespace framewire::app {
namespace {

struct RunFlags {
    CommonOptions common;
    session::InputOptions input;
    std::string output;
    SegmentOptions segments;
    bool no_audio = false;

    session::RunOptions options(const std::stop_token& stop) const {
        return {common.job(stop), input, output, segments, !no_audio};
    }
};

void run(RunFlags& flags, const std::stop_token& stop) {
    if (!may_write(files_of(flags.options(stop)), flags.common, stop)) return;
    const auto figures = session::RunJob(flags.options(stop)).run().figures;
    log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped", figures.frames, figures.seconds, figures.fps,
             figures.drops);
}

}  // namespace

void add_run(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("run", "Source -> filters -> file, pipe or network address");
    const auto flags = std::make_shared<RunFlags>();
    add_input_options(command, flags->input);
    command
        .option("-o,--output", flags->output,
                "where frames go: a file by its ending, -, a URL; :codec=libx265:crf=24 and the like may follow")
        .required()
        .type_name("DST");
    command.flag("--no-audio", flags->no_audio, "leave out the source's sound, which else goes along as it is");
    add_recording_options(command, flags->segments);
    add_common_options(command, flags->common);
    set_work(command, chosen, flags->common, [flags](const std::stop_source& stop) { run(*flags, stop.get_token()); });
}

}  // namespace framewire::app
