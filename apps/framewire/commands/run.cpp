#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/common.hpp"

#include "framewire/core/log.hpp"
#include "framewire/session/run.hpp"

#include <memory>
#include <string>

namespace framewire::app {
namespace {

struct RunFlags {
    CommonOptions common;
    session::InputOptions input;
    std::string output, rate = "auto";

    session::RunOptions options(const std::stop_token& stop) const;
};

session::RunOptions RunFlags::options(const std::stop_token& stop) const {
    session::RunOptions options{common.job(stop), input, output};
    switch (take_rate(rate, "auto, own, max", options.input)) {
        case PlayRate::by_output: break;
        case PlayRate::own: options.pace = session::Pace::own; break;
        case PlayRate::max: options.pace = session::Pace::hurried; break;
    }
    return options;
}

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
    command.option("-o,--output", flags->output, "where frames go: a file by its ending, -, a URL")
        .required()
        .type_name("DST");
    command
        .option("--rate", flags->rate,
                "how a file is played: own rate, max, or frames timed at so many a second; auto is own into URLs and "
                "max elsewhere")
        .type_name("auto|own|max|FPS");
    add_common_options(command, flags->common);
    set_work(command, chosen, flags->common, [flags](const std::stop_source& stop) { run(*flags, stop.get_token()); });
}

}  // namespace framewire::app
