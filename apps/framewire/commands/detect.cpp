#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/common.hpp"
#include "options/detector_options.hpp"

#include "framewire/core/log.hpp"
#include "framewire/session/detect.hpp"

#include <memory>
#include <string>

namespace framewire::app {
namespace {

struct DetectFlags {
    CommonOptions common;
    session::InputOptions input;
    DetectorFlags detector;
    std::string output = "-", format = "jsonl", annotate, mask, labels;
    session::DetectStepsOptions steps;

    session::DetectOptions options(const std::stop_token& stop) const {
        return {common.job(stop), input, detector.options(), output, parse_record_format(format), annotate, mask,
                labels,           steps};
    }
};

void detect(DetectFlags& flags, const std::stop_token& stop) {
    if (!may_write(files_of(flags.options(stop)), flags.common, stop)) return;
    const auto result = session::DetectJob(flags.options(stop)).run();
    const auto& figures = result.figures;
    log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} objects", figures.frames, figures.seconds, figures.fps,
             figures.drops, result.objects);
    show_times(flags.common, figures);
    if (result.left_out > 0) log_warning("{} objects more were found in frames that had too many", result.left_out);
}

}  // namespace

void add_detect(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("detect", "Moving objects as records, boxes drawn into a video, or masks");
    const auto flags = std::make_shared<DetectFlags>();
    add_input_options(command, flags->input);
    command.option("-o,--output", flags->output, "where the records go: a file, or - for standard output")
        .type_name("FILE");
    command.option("--format", flags->format, "of the records: JSON lines, COCO's JSON, the MOT challenge's text")
        .one_of({"jsonl", "coco", "mot"});
    command.option("--annotate", flags->annotate, "the frames with boxes, as run's -o").type_name("DST");
    command.option("--mask", flags->mask, "the masks, white where something moves, as run's -o").type_name("DST");
    command
        .option("--labels", flags->labels,
                "the objects' numbers at their pixels: .npy (int32), or .png of 16 bits, of many frames labels%04d.png")
        .type_name("DST");
    command.option("--steps", flags->steps.folder, "a video, or pictures, of every step into this folder")
        .type_name("DIR");
    command.option("--steps-format", flags->steps.format, "of the steps: videos by their ending, or numbered pictures")
        .one_of({"mkv", "mp4", "avi", "png", "jpg"});
    add_detector_options(command, flags->detector, "--threshold");
    add_common_options(command, flags->common);
    add_times_option(command, flags->common);
    set_work(command, chosen, flags->common,
             [flags](const std::stop_source& stop) { detect(*flags, stop.get_token()); });
}

}  // namespace framewire::app
