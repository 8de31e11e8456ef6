// The subcommand detect: writes moving objects as records, annotated videos, masks or labels, for one source or a
// batch.

#include "commands/batch.hpp"
#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"
#include "options/detector_options.hpp"
#include "options/recording_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/jobs/detect.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

namespace framewire::app {
namespace {

// Flags of the subcommand detect.
struct DetectFlags {
    CommonOptions common;
    BatchFlags many;
    jobs::InputOptions input;
    jobs::DetectorSettings detector;
    std::string output = "-", format = "jsonl", annotate, mask, labels;
    bool no_audio = false;
    EntryFlags entry;
    jobs::DetectStepsOptions steps;
    double trails = 0;
    std::string zones;  // path
    std::string clips;  // folder with parameters

    // Returns the job's options.
    jobs::DetectOptions options(const std::stop_token& stop) const {
        return {common.job(stop),
                input,
                detector_of(detector, "--"),
                output,
                parse_record_format(format),
                annotate,
                !no_audio,
                mask,
                labels,
                steps,
                trails,
                zones.empty() ? ZoneSet() : ZoneSet::read(zones),
                clips};
    }
};

// Returns the extension of a records file.
std::string_view records_ending(RecordFormat format) {
    switch (format) {
        case RecordFormat::coco: return ".json";
        case RecordFormat::mot: return ".txt";
        default: return ".jsonl";
    }
}

// Runs the detector on many files.
void detect_many(const Command& command, DetectFlags& flags, const std::stop_token& stop) {
    if (!flags.steps.folder.empty())
        fail(ErrorCode::usage, "--steps works on a single file; it cannot be used with several inputs");
    if (flags.many.cutting.seconds > 0 && (flags.detector.track || !flags.zones.empty()))
        fail(ErrorCode::usage, "{} cannot be used with --segment; identities do not continue across segments",
             flags.detector.track ? "--track" : "--zones");
    if (flags.many.cutting.seconds > 0 && !flags.clips.empty())
        fail(ErrorCode::usage, "--clips cannot be used with --segment; events may continue in the next segment");
    const auto item = [&](const ItemRequest& request) {
        auto options = flags.options(stop);
        const auto name = request.input.name + std::string(records_ending(options.format));
        options.job = request.job;
        request.take(options.input);
        options.output = request.in_folder("-o", flags.output, name);
        options.annotate = request.sink_in_folder("--annotate", flags.annotate, flags.many.video_name(request.input));
        options.mask = request.sink_in_folder("--mask", flags.mask, flags.many.video_name(request.input));
        options.labels = request.in_folder("--labels", flags.labels, request.input.name + ".npy");
        return request.item<jobs::DetectJob>(name, options, "--annotate");
    };
    const auto background = detector_of(flags.detector, "--").parameters.background;
    make_many(command, flags.many, flags.common, flags.output,
              {.input = flags.input, .background = &background, .audio = !flags.no_audio, .item = item}, stop);
}

// Runs the detector on one source and prints a summary.
void detect(const Command& command, DetectFlags& flags, const std::stop_token& stop) {
    if (flags.no_audio && flags.annotate.empty() && flags.clips.empty())
        fail(ErrorCode::usage, "--no-audio requires --annotate or --clips");
    if (is_of_many(flags.many, flags.output, flags.input)) return detect_many(command, flags, stop);
    flags.entry.apply(flags.input);
    if (!may_write(files_of(flags.options(stop)), flags.common, stop)) return;
    auto options = flags.options(stop);
    options.job.gpus = flags.common.fleet();
    const auto result = jobs::DetectJob(options).run();
    const auto& figures = result.figures;
    log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} objects{}", figures.frames, figures.seconds,
             figures.fps, figures.drops, result.objects,
             flags.zones.empty() ? "" : fmt::format(", {} events in zones", result.events));
    if (figures.drops > 0 && has_faster_background(detector_of(flags.detector, "--")))
        log_warning("{} frames were dropped; {}", figures.drops, jobs::faster_background_text);
    for (const auto& clip : result.clips) log_info("clip {}", clip);
    show_times(flags.common, figures);
    if (result.left_out > 0) log_warning("{} more objects were dropped from frames that had too many", result.left_out);
}

}  // namespace

// Records go to standard output by default; the other outputs are optional and can be combined.
void add_detect(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("detect", "Detects moving objects: writes records, videos with boxes, or masks");
    const auto flags = std::make_shared<DetectFlags>();
    add_batch_options(command, flags->many, flags->input);
    add_entry_options(command, flags->entry, "if the source is a stream: ");
    add_rate_option(command, flags->common, flags->input);
    command
        .option("-o,--output", flags->output,
                "where to write the records: a file, - for standard output, or a folder for several inputs")
        .type_name("FILE|FOLDER/");
    command.option("--format", flags->format, "record format: JSON lines, COCO JSON or MOT challenge text")
        .one_of({"jsonl", "coco", "mot"});
    command
        .option("--clips", flags->clips,
                "write a clip around each event to this folder: motion or, with --zones, events in them; "
                "optionally followed by :before=SECONDS, :after=SECONDS, :most=SECONDS (defaults 5, 5, 120)")
        .type_name("FOLDER");
    const auto annotate = command
                              .option("--annotate", flags->annotate,
                                      "write the frames with boxes drawn; accepts the same outputs as run's -o")
                              .type_name("DST");
    add_no_audio(command, flags->no_audio);
    command
        .option(
            "--trails", flags->trails,
            "with --track or --zones, draw where each object was during the last SECONDS into --annotate; 0: do not")
        .within(0.0, 3600.0)
        .type_name("SECONDS")
        .needs(annotate);
    command
        .option("--mask", flags->mask,
                "write the masks (moving pixels are white); accepts the same outputs as run's -o")
        .type_name("DST");
    command
        .option("--labels", flags->labels,
                "write each pixel's object number: .npy (int32) or 16-bit .png, labels%04d.png for several frames; for "
                "several inputs, a folder with one .npy each")
        .type_name("DST|FOLDER/");
    command.option("--steps", flags->steps.folder, "write a video or images of every step to this folder")
        .type_name("DIR");
    command
        .option("--steps-format", flags->steps.format,
                "file format of the steps: a video format, or png or jpg for numbered images")
        .one_of({"mkv", "mp4", "avi", "png", "jpg"});
    command
        .option(
            "--zones", flags->zones,
            "report when objects enter, leave or cross the polygons and lines in this JSON file, or stay there: in the "
            "member events of each record; implies --track")
        .type_name("FILE");
    add_detector_options(command, flags->detector, "--threshold");
    add_common_options(command, flags->common);
    add_gpus_option(command, flags->common);
    add_times_option(command, flags->common);
    set_work(command, chosen, flags->common,
             [=](const std::stop_source& stop) { detect(command, *flags, stop.get_token()); });
}

}  // namespace framewire::app
