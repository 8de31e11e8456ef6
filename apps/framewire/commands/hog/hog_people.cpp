// hog --people: applies a trained linear model to all windows of an image pyramid, and groups the detections to people.

#include "commands/hog/hog_people.hpp"

#include "commands/json.hpp"
#include "commands/work.hpp"
#include "options/parameter_options.hpp"
#include "options/recording_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/jobs/people.hpp"
#include "framewire/media/image_sequence.hpp"

#include <fmt/format.h>

namespace framewire::app {
namespace {

// Returns the shortest decimal number that rounds to this float, because numbers in JSON are doubles: 0.1 instead of
// 0.10000000149.
double as_double(float value) { return number_in<double>(fmt::format("{}", value)).value(); }

// Prints the result as JSON. Sizes and windows are included only if all frames have the same detector.
void print_summary(const HogFlags& flags, const PeopleParameters& parameters, const jobs::PeopleResult& result,
                   const WindowModel& model, const PeopleDetector* detector) {
    Json summary{{"source", result.description.source},
                 {"output", flags.output},
                 {"frames", result.figures.frames},
                 {"people", result.people},
                 {"window", Json::array({model.width_px, model.height_px})}};
    add_descriptor(summary, model.hog);
    if (detector) {
        summary.add("sizes", detector->levels());
        summary.add("windows", detector->windows());
    }
    summary.add("threshold", as_double(parameters.threshold));
    summary.add("scale_step", parameters.scale_step);
    summary.add("group", name_of(people_grouping_names, parameters.group));
    if (parameters.group == PeopleGrouping::overlap)
        summary.add("overlap", parameters.overlap);
    else
        summary.add("neighbours", parameters.neighbours);
    if (result.best_score) summary.add("best_score", as_double(*result.best_score));
    summary.add("backend", result.description.backend);
    summary.add("seconds", result.figures.seconds);
    summary.add("fps", result.figures.fps);
    fmt::print("{}\n", summary.text());
}

// Prints a summary. `detector` is null if frames differ in size.
void report(const HogFlags& flags, const PeopleParameters& parameters, const jobs::PeopleResult& result,
            const WindowModel& model, const PeopleDetector* detector) {
    const auto& figures = result.figures;
    if (flags.json && figures.frames > 0) print_summary(flags, parameters, result, model, detector);
    log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} people", figures.frames, figures.seconds, figures.fps,
             figures.drops, result.people);
    show_times(flags.common, figures);
    if (result.frames_left_out > 0)
        log_warning("too many windows scored above the threshold in {} frames; only the best were considered",
                    result.frames_left_out);
}

// Returns the job's options.
jobs::PeopleOptions options_of(const HogFlags& flags, const PeopleFlags& people, const std::stop_token& stop) {
    return {flags.common.job(stop), flags.input,  people.model,    flags.window(),  flags.given,
            people.parameters,      flags.output, people.annotate, !people.no_audio};
}

}  // namespace

void add_people_options(Command& command, PeopleFlags& flags) {
    const auto people =
        command
            .option("--people", flags.model,
                    "detect people with this model: .npy, text or OpenCV YAML; a model from --train includes its "
                    "window and descriptor; -o receives JSON lines, default: standard output")
            .type_name("MODEL");
    const auto annotate = command
                              .option("--annotate", flags.annotate,
                                      "with --people: write the frames with boxes and scores; accepts the same outputs "
                                      "as run's -o; for a folder of images, another folder for .png files")
                              .type_name("DST|DIR/")
                              .needs(people);
    add_no_audio(command, flags.no_audio).needs(annotate);
    for (const auto& parameter : people_fields().infos())
        add_parameter(command, parameter, flags.given, {.before = "with --people: ", .needs = people});
}

PeopleParameters PeopleFlags::parameters_given() const { return people_parameters(given); }

void find_people(HogFlags& flags, const PeopleFlags& people, const std::stop_token& stop) {
    // At most one of the three outputs may go to standard output.
    jobs::require_one_standard_output({flags.output, people.annotate, flags.json ? "-" : ""},
                                      "-o (- without it), --annotate and --json");
    if (!may_write(files_of(options_of(flags, people, stop)), flags.common, stop)) return;
    auto options = options_of(flags, people, stop);
    options.job.gpus = flags.common.fleet();
    if (is_folder(options.input.source)) {
        jobs::PeopleFolderJob job(options);
        report(flags, people.parameters, job.run(), job.model(), nullptr);
        return;
    }
    jobs::PeopleJob job(options);
    log_info("{} windows of {} sizes per frame", job.detector().windows(), job.detector().levels());
    report(flags, people.parameters, job.run(), job.model(), &job.detector());
}

void find_people_of_many(const Command& command, HogFlags& flags, const PeopleFlags& people,
                         const std::stop_token& stop) {
    const auto item = [&](const ItemRequest& request) {
        const auto name = request.input.name + ".jsonl";
        auto options = options_of(flags, people, stop);
        options.job = request.job;
        request.take(options.input);
        options.output = request.in_folder("-o", flags.output, name);
        options.annotate = request.sink_in_folder("--annotate", people.annotate, flags.many.video_name(request.input));
        return request.item<jobs::PeopleJob>(name, options, "--annotate");
    };
    make_many(command, flags.many, flags.common, flags.output,
              {.input = flags.input, .audio = !people.no_audio, .item = item}, stop);
}

}  // namespace framewire::app
